// Filling: focus, typing, choices, scrolling.

const scriptTypes = /^(date|time|month|week|datetime-local|color|range)$/;

// field finds what takes text for el: itself, or the one field it holds.
function field(el) {
  const takes = n => (n.tagName === 'INPUT' && !/^(checkbox|radio|button|submit|reset|image|file|hidden)$/.test(n.type)) || n.tagName === 'TEXTAREA' || n.isContentEditable;
  if (takes(el)) return el;
  if (el.control && takes(el.control)) return el.control;
  const inside = [...el.querySelectorAll('input,textarea,[contenteditable]')].filter(n => takes(n) && n.checkVisibility());
  if (inside.length === 1) return inside[0];
  throw fail('not_interactable', describe(el) + ' takes no text' + (el.tagName === 'SELECT' ? '; use browser_select' : ''));
}

// prepare focuses a field and selects what is in it, or puts the caret at its end.
function prepare(a) {
  const el = field(target(a));
  if (disabledNow(el)) throw fail('not_interactable', describe(el) + ' is disabled');
  if (el.readOnly) throw fail('not_interactable', describe(el) + ' is read-only');
  if (!el.checkVisibility()) throw fail('not_interactable', describe(el) + ' is hidden');
  el.scrollIntoViewIfNeeded ? el.scrollIntoViewIfNeeded() : 0;
  const [ref, role] = refFor(el);
  const out = { ref, role, name: cut(safe(nameOf(el, role)), 80), type: el.type || '', keys: false, secret: el.type === 'password', kind: 'text' };
  arm(el);
  if (el.tagName === 'INPUT' && scriptTypes.test(el.type)) {
    out.kind = 'script';
    if (a.text !== undefined) setValue(el, a.text);
    if (el.value !== a.text && a.text !== undefined && !(el.type === 'color' && el.value === a.text.toLowerCase()) && !(el.type === 'range' && +el.value === +a.text))
      throw fail('invalid_request', describe(el) + ' does not take ' + quote(a.text) + ': a ' + el.type + ' field wants ' + ({ date: '2026-01-31', time: '13:45', month: '2026-01', week: '2026-W05', 'datetime-local': '2026-01-31T13:45', color: '#aabbcc', range: 'a number from ' + (el.min || 0) + ' to ' + (el.max || 100) })[el.type] + '; the value is now ' + quote(el.value));
    return out;
  }
  if (el !== focusNow()) el.focus({ preventScroll: true });
  const got = focusNow();
  if (got !== el && !el.contains(got)) out.lost = got && got !== document.body ? describe(got) : 'nothing';
  if (el.isContentEditable) {
    out.kind = 'rich';
    const s = el.ownerDocument.getSelection();
    s.selectAllChildren(el);
    if (a.append) s.collapseToEnd();
  } else if (a.append) { try { el.setSelectionRange(el.value.length, el.value.length); } catch { /* number fields keep no range */ } } else el.select();
  out.empty = !valueOf(el);
  return out;
}

function setValue(el, v) {
  const proto = el.tagName === 'TEXTAREA' ? HTMLTextAreaElement : HTMLInputElement;
  el.focus({ preventScroll: true });
  Object.getOwnPropertyDescriptor(proto.prototype, 'value').set.call(el, v);
  el.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  el.dispatchEvent(new Event('change', { bubbles: true }));
}

function readBack(a) {
  const el = watching && watching.el || resolve(a.ref);
  return { value: el.type === 'password' ? '•'.repeat(el.value.length) : cut(safe(valueOf(el)), 300), length: valueOf(el).length, raw: el.type === 'password' ? '' : valueOf(el).slice(0, 20000) };
}

// selectAllIn selects the content of the focused editor again, for a second try.
function reselect() { const f = focusNow(); if (f && f.select) f.select(); else if (f) document.getSelection().selectAllChildren(f); return {}; }

// choose sets a native list by label or value; other roles are answered with their kind.
function choose(a) {
  let el = target(a);
  if (el.tagName === 'OPTION') el = el.closest('select');
  if (el.tagName === 'LABEL' && el.control) el = el.control;
  if (el.tagName !== 'SELECT') {
    const inside = el.querySelectorAll('select');
    if (inside.length === 1) el = inside[0];
  }
  const [ref, role] = refFor(el);
  const name = cut(safe(nameOf(el, role)), 80);
  if (el.tagName !== 'SELECT') return { kind: 'custom', ref, role, name, edit: el.tagName === 'INPUT' || el.isContentEditable, open: el.getAttribute('aria-expanded') === 'true' };
  if (disabledNow(el)) throw fail('not_interactable', describe(el) + ' is disabled');
  const find = v => { const w = clean(v).toLowerCase(); const o = [...el.options]; return o.find(x => clean(x.label).toLowerCase() === w) || o.find(x => x.value === v) || (o.filter(x => clean(x.label).toLowerCase().includes(w)).length === 1 ? o.find(x => clean(x.label).toLowerCase().includes(w)) : null); };
  const picks = a.values.map(v => {
    const o = find(v);
    if (!o) throw fail('not_found', describe(el) + ' has no option ' + quote(v) + '; it has ' + [...el.options].slice(0, 30).map(x => quote(x.label, 40)).join(', '));
    if (o.disabled || o.parentElement.disabled) throw fail('not_interactable', 'option ' + quote(o.label) + ' is disabled');
    return o;
  });
  if (!el.multiple && picks.length > 1) throw fail('invalid_request', describe(el) + ' takes one value');
  arm(el);
  el.focus({ preventScroll: true });
  if (el.multiple) for (const o of el.options) o.selected = picks.includes(o);
  else el.selectedIndex = picks.length ? picks[0].index : -1;
  el.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  el.dispatchEvent(new Event('change', { bubbles: true }));
  return { kind: 'native', ref, role, name, value: valueOf(el) };
}

// optionNow finds a shown option of a hand-made list by its text.
function optionNow(a) {
  const want = clean(a.text).toLowerCase();
  let box = a.ref ? resolve(a.ref) : null;
  const id = box && (box.getAttribute('aria-controls') || box.getAttribute('aria-owns'));
  const list = id && box.getRootNode().getElementById(id.split(' ')[0]);
  const all = [];
  for (const el of deepAll('[role=option],[role=menuitem],[role=menuitemradio],[role=treeitem]' + (list ? ',li' : ''), 5000)) if (seen(el) && (!list || list.contains(el) || !seen(list))) all.push(el);
  const named = all.map(el => [el, nameOf(el, 'option').toLowerCase()]);
  const hit = named.find(x => x[1] === want) || named.find(x => x[0].getAttribute('data-value') === a.text) || (f => f.length === 1 ? f[0] : null)(named.filter(x => x[1].includes(want)));
  return { found: hit ? refFor(hit[0])[0] : '', options: all.slice(0, 20).map(el => cut(safe(nameOf(el, 'option')), 40)) };
}

// scroller is what scrolls the page; some documents name nothing.
const scroller = () => document.scrollingElement || document.documentElement;

// scroll moves the page, or the box around an element, or an element into view.
function scroll(a) {
  let el = a.ref ? resolve(a.ref) : null;
  let box = null;
  if (el && !a.direction && !a.to) { el.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' }); box = null; arm(null); return place(null, describe(el)); }
  for (let n = el; n && n !== document.body; n = parentOf(n)) if (n.scrollHeight > n.clientHeight + 2 && /auto|scroll|overlay/.test(getComputedStyle(n).overflowY) || n.scrollWidth > n.clientWidth + 2 && /auto|scroll|overlay/.test(getComputedStyle(n).overflowX)) { box = n; break; }
  if (!box && !el) {
    const page = scroller();
    if (page.scrollHeight <= innerHeight + 2) { // pages that scroll in one big box
      let big = null, area = 0;
      for (const n of document.querySelectorAll('body *')) if (scrolls(n)) { const r = n.getBoundingClientRect(), s = r.width * r.height; if (s > area) { area = s; big = n; } }
      if (area > innerWidth * innerHeight / 4) box = big;
    }
  }
  const t = box || scroller();
  arm(null);
  const before = [t.scrollLeft, t.scrollTop];
  const view = [box ? box.clientWidth : innerWidth, box ? box.clientHeight : innerHeight];
  if (a.to === 'top') t.scrollTo({ top: 0, behavior: 'instant' });
  else if (a.to === 'bottom') t.scrollTo({ top: t.scrollHeight, behavior: 'instant' });
  else {
    const amount = a.amount || Math.round(view[/left|right/.test(a.direction) ? 0 : 1] * 0.85);
    const d = a.direction || 'down';
    t.scrollBy({ left: d === 'left' ? -amount : d === 'right' ? amount : 0, top: d === 'up' ? -amount : d === 'down' ? amount : 0, behavior: 'instant' });
  }
  return Object.assign(place(box), { moved: t.scrollTop !== before[1] || t.scrollLeft !== before[0] });
}

function place(box, what) {
  const t = box || scroller();
  const h = box ? box.clientHeight : innerHeight;
  return { what: what || (box ? describe(box) : 'page'), above: Math.round(t.scrollTop), below: Math.max(0, Math.round(t.scrollHeight - t.scrollTop - h)), moved: true };
}
