// The door: one call in, one string of JSON out.

// pickedText is what is selected. Where nothing can be, it is not spelled out:
// that lays the page out again.
function pickedText() {
  const s = document.getSelection();
  return s.type === 'None' ? '' : clean(s.toString().slice(0, 200));
}

const deeds = {
  snapshot(a) { anySnapshot = true; const picked = pickedText(); const e = scroller(); const v = snapshot(a); return Object.assign(v, { picked: picked ? quote(picked, 80) : '', suspects: walkState.suspects.length, elements: document.getElementsByTagName('*').length, age: Math.round(performance.now()), title: clean(document.title), url: location.href, above: Math.round(scrollY), below: Math.max(0, Math.round(e.scrollHeight - scrollY - innerHeight)) }); },
  aim, moving, lift, frameBox, settle, changes, prepare, reading, readBack, copied, pasted, choose, optionNow, optionAfter, grasp: graspAt, dragging: draggingNow, grasped, pick, repick, pickedNow, scroll, scrolledNow, waitSlice, find, facts, content, extract,
  async title() {
    // The focus a page asks for comes with its first frame.
    if (document.querySelector('[autofocus]') && document.activeElement === document.body) await Promise.race([new Promise(d => requestAnimationFrame(() => d())), new Promise(d => setTimeout(d, 100))]);
    return { title: document.title, print: fingerprint() };
  },
  count(a) { return { n: byText(a).length }; },
  sender(a) {
    const el = resolve(a.ref), form = el.form || el.control && el.control.form || el.closest('form');
    const button = form && [...form.elements, ...form.querySelectorAll('input[type=image]')].find(b => (b.type === 'submit' || b.type === 'image') && !disabledNow(b) && seen(b));
    return { ref: button ? refFor(button)[0] : '' };
  },
  refOfText(a) { return { ref: refFor(target(a))[0] }; },
  hasFocus() { const f = focusNow(); return { focus: document.hasFocus() && !!f && f !== document.body && !/^I?FRAME$/.test(f.tagName) }; },
  shown(a) { const el = nodeOf(a.ref); if (!el) throw fail('detached', 'it is gone'); return { value: el.type === 'password' ? '' : cut(safe(clean(shownBy(el))), 300) }; },
  kind(a) {
    let el = resolve(a.ref);
    if (el.tagName === 'LABEL' && el.control) el = el.control;
    const [, role] = refFor(el);
    const typed = el.tagName === 'INPUT' || el.tagName === 'TEXTAREA' || el.isContentEditable;
    const kind = el.type === 'file' ? 'file' : /^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(role) ? 'choice' : el.tagName === 'SELECT' || role === 'listbox' || role === 'combobox' && !typed ? 'list' : role === 'combobox' && !el.list && !searches(el) ? 'combo' : 'text';
    return { kind, own: el === nodeOf(a.ref), folder: !!el.webkitdirectory, role, name: cut(safe(nameOf(el, role)), 80), on: el.checked === true || el.getAttribute('aria-checked') === 'true' };
  },
  sign() {
    let h = 0, n = 0, left = 400000;
    const add = s => { for (let i = 0; i < s.length && left > 0; i++, left--) h = Math.imul(h, 31) + s.charCodeAt(i) | 0; };
    for (const el of deepAll('*', 20000)) {
      n++;
      for (const a of el.attributes) add(a.name + '=' + a.value);
      if (el.value !== undefined && typeof el.value === 'string') add(el.value + !!el.checked);
      for (let k = el.firstChild; k; k = k.nextSibling) if (k.nodeType === 3) add(k.data);
    }
    return { sign: n + ':' + h + ':' + Math.round(scrollX) + ',' + Math.round(scrollY) };
  },
  hello() { return { url: location.href, title: document.title, ready: document.readyState, w: innerWidth, h: innerHeight, dpr: devicePixelRatio, k: pictureScale(innerWidth, innerHeight), sx: scrollX, sy: scrollY, print: fingerprint(), above: Math.round(scrollY), below: Math.max(0, Math.round((scroller()?.scrollHeight || 0) - scrollY - innerHeight)) }; },
  arm(a) { arm(a.ref ? resolve(a.ref) : a.focused ? focusNow() : null); const f = focusNow(); return { focus: f && f !== document.body ? describe(f) : '', frame: !!f && /^I?FRAME$/.test(f.tagName) }; },
  at(a) { const h = hitAt(a.x, a.y); let el = h; for (let n = h; n && n !== document.body; n = parentOf(n)) if (acting.has(roleOf(n)) || n.tagName === 'CANVAS') { el = n; break; } arm(el); return { what: el ? describe(el) : 'nothing' }; },
  middle(a) {
    const el = a.ref ? resolve(a.ref) : sayer(a.text);
    let r = el.getBoundingClientRect();
    if (r.left < 0 || r.top < 0 || r.right > innerWidth || r.bottom > innerHeight) { el.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' }); r = el.getBoundingClientRect(); }
    const c = clip(r);
    if (!c) throw fail('not_interactable', describe(el) + ' has no visible box');
    const [ref, role] = refFor(el);
    const at = { x: (c.x0 + c.x1) / 2, y: (c.y0 + c.y1) / 2, ref, role: role || el.tagName.toLowerCase(), name: cut(safe(nameOf(el, role) || clean(el.textContent)), 80) };
    const mate = a.start && nodeOf(a.start);
    if (mate && mate !== el && mate.parentElement === el.parentElement) { // to take its place one goes past its middle
      const m = mate.getBoundingClientRect();
      if (Math.abs(m.top - r.top) > Math.abs(m.left - r.left)) at.y += r.height * (m.top < r.top ? 0.2 : -0.2); else at.x += r.width * (m.left < r.left ? 0.2 : -0.2);
    }
    if (a.dx !== undefined) {
      at.x = Math.min(Math.max(r.left + (a.px ? r.width * a.dx / 100 : a.dx), r.left + 1), r.right - 2);
      at.y = Math.min(Math.max(r.top + (a.py ? r.height * a.dy / 100 : a.dy), r.top + 1), r.bottom - 2);
    }
    return at;
  },
  files(a) { const el = nodeOf(a.ref); return { names: el && el.files ? [...el.files].map(f => f.webkitRelativePath || f.name).slice(0, 20) : [], n: el && el.files ? el.files.length : 0 }; },
  dropped() { const d = lastDrop; lastDrop = false; return { dropped: d }; },
  watch(a) { const before = appeared(); arm(resolve(a.ref)); fresh = before; return {}; },
  rearm(a) { const el = resolve(a.ref); arm(el).lent = stand(el); return {}; },
  box(a) { const el = resolve(a.ref); el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' }); const r = el.getBoundingClientRect(); return { x: r.left, y: r.top, w: r.width, h: r.height, sx: scrollX, sy: scrollY }; },
  focus(a) { const el = resolve(a.ref); const f = el.matches('input,textarea,select,button,a[href],[tabindex],[contenteditable]') ? el : el.querySelector('input,textarea,select,button,a[href],[tabindex]') || el; f.focus(); arm(focusNow()); if (focusNow() !== f) throw fail('not_interactable', describe(el) + ' does not take the focus'); return { focus: describe(f) }; },
};

// bare are the deeds that work on a document without any element, as it is
// before the first bytes of a page come.
const bare = new Set(['settle', 'changes', 'waitSlice', 'hasFocus', 'arm', 'at', 'hello']);

function run(op, a) {
  prefix = a.prefix || '';
  if (a.base > nextId) nextId = a.base;
  const done = v => { const trail = trailNow(); return JSON.stringify(Object.assign(v, { next: nextId }, trail && { trail })).toWellFormed(); };
  const lost = e => JSON.stringify({ code: e.code || 'internal', error: e.code ? e.message : String(e && e.stack || e), next: nextId }).toWellFormed();
  try {
    if (!document.documentElement && !bare.has(op)) {
      if (op === 'snapshot') anySnapshot = true;
      else throw fail('not_found', 'the page is still empty');
      return done({ text: '', title: '', url: location.href, above: 0, below: 0, suspects: 0, elements: 0, age: 0, picked: '' });
    }
    const v = deeds[op](a);
    return v instanceof Promise ? v.then(done, lost) : done(v);
  } catch (e) { return lost(e); }
}

Object.defineProperty(globalThis, '__gofer', { value: { run, listens, number(el, n) { frameNumbers.set(el, n); }, root(host, r) { rootOf.set(host, r); }, node(id) { return resolve(id); },
  roots() { const r = [document]; for (const h of deepHosts()) { if (r.length > 40) break; r.push(shadowOf(h)); } return r; },
  suspects() { const list = walkState.suspects; for (const el of list) asked.add(el); return list; } } });
