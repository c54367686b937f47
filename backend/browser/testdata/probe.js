// The page's own witness: it notes real events with the elements they reached,
// in the page's own world and before any listener of the page hears of them.
(() => {
  if (window.__probe) return;
  const kinds = ['mousedown', 'mouseup', 'click', 'auxclick', 'contextmenu', 'dblclick', 'keydown', 'input', 'change', 'drop', 'dragend', 'mousemove', 'mouseover'];
  let changed = 0;
  const now = () => performance.timeOrigin + performance.now();
  const ids = new WeakMap(), elements = new Map();
  const mark = Math.random().toString(36).slice(2, 8);
  let memory = '', n = 0;
  const kept = () => { try { return sessionStorage.getItem('probe') || ''; } catch { return memory; } };
  const keep = s => { try { sessionStorage.setItem('probe', s); } catch { memory = s; } };
  const idOf = el => { if (!ids.has(el)) { const id = mark + n++; ids.set(el, id); elements.set(id, el); } return ids.get(el); };
  const note = entry => keep(kept() + JSON.stringify(entry) + '\n');
  const word = n => n.nodeType === 1 ? n.tagName.toLowerCase() + (n.id ? '#' + n.id : '') : '';
  for (const kind of kinds) window.addEventListener(kind, e => {
    const path = e.composedPath();
    note({ kind, at: now(), trusted: e.isTrusted, path: path.filter(x => ids.has(x)).map(x => ids.get(x)), on: word(path[0]), key: e.key || '', x: e.clientX || 0, y: e.clientY || 0, count: e.detail || 0 });
  }, { capture: true, passive: true });
  for (const name of ['alert', 'confirm', 'prompt']) {
    const real = window[name];
    window[name] = (...a) => { const v = real.apply(window, a); note({ kind: name, trusted: true, path: [], answer: String(v) }); return v; };
  }
  const squeeze = s => (s || '').replace(/\s+/g, ' ').trim();
  const field = el => el.matches('input,textarea,select') || el.isContentEditable ? el : el.control || el.querySelector('input,textarea,select,[contenteditable]') || el;
  // Of what happens inside a closed root the window hears as of its host.
  const hosts = el => { const r = el.getRootNode(); return r.mode === 'closed' ? [r.host, ...hosts(r.host)] : []; };
  const state = el => {
    const f = field(el), r = el.getBoundingClientRect();
    const words = [el.innerText, el.textContent, el.ariaLabel, el.title, el.value, el.alt, el.placeholder, ...[...(el.labels || [])].map(l => l.textContent), ...(el.getAttribute('aria-labelledby') || '').split(' ').map(i => document.getElementById(i)?.textContent), ...[...el.querySelectorAll('img,svg,[aria-label]')].map(k => k.alt || k.ariaLabel || k.textContent)];
    return {
      id: idOf(el), kin: [...(el.labels || []), ...(el.control ? [el.control] : []), ...hosts(el)].map(idOf), tag: el.tagName, type: f.type || '', editable: f.isContentEditable, words: words.map(squeeze).filter(Boolean),
      value: f.tagName === 'SELECT' ? [...f.selectedOptions].map(o => squeeze(o.label)).join(', ') : f.isContentEditable ? f.innerText : f.value === undefined ? squeeze(el.textContent) : String(f.value),
      checked: !!el.checked || el.ariaChecked === 'true', disabled: el.matches(':disabled') || !!el.closest('[aria-disabled=true]'), connected: el.isConnected,
      inView: r.bottom > 0 && r.right > 0 && r.top < innerHeight && r.left < innerWidth, x: r.left + r.width / 2, y: r.top + r.height / 2,
    };
  };
  const windows = (w = window, out = []) => { try { if (w.__probe) out.push(w); for (let i = 0; i < w.length; i++) windows(w[i], out); } catch { /* another origin */ } return out; };
  const face = w => squeeze(w.document.body ? w.document.body.innerText : '') + [...w.document.querySelectorAll('input,textarea,select')].map(f => '|' + f.value + f.checked).join('');
  new MutationObserver(() => { changed = now(); }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  addEventListener('input', () => { changed = now(); }, true);
  window.__probe = {
    state,
    changed: () => changed,
    take() { const s = kept(); keep(''); return s; },
    find(id) { for (const w of windows()) { const el = w.__probe.element(id); if (el) return state(el); } return null; },
    element: id => elements.get(id),
    face: () => ({ text: windows().map(face).join('\n'), at: Math.max(...windows().map(w => w.__probe.changed())) }),
    place: () => ({ url: location.href, x: scrollX, y: scrollY, w: innerWidth, h: innerHeight }),
  };
})();
