// Filling: focus, typing, choices, scrolling.

const scriptTypes = /^(date|time|month|week|datetime-local|color|range)$/;

// field finds what takes text for el: itself, or the one field it holds.
function field(el) {
  if (takesText(el)) return el;
  if (el.control && takesText(el.control)) return el.control;
  const inside = [...el.querySelectorAll('input,textarea,[contenteditable],[role=textbox]')].filter(n => takesText(n) && !n.readOnly && n.checkVisibility());
  if (inside.length === 1) return inside[0];
  throw fail('not_interactable', describe(el) + ' takes no text' + (el.tagName === 'SELECT' ? '; use browser_select' : ''));
}

// prepare focuses a field and selects what is in it, or puts the caret at its end.
function prepare(a) {
  const on = target(a);
  if (/^(slider|spinbutton|separator)$/.test(roleOf(on)) && !takesText(on)) return stepped(on, a);
  const el = field(on);
  if (disabledNow(el)) throw fail('not_interactable', describe(el) + ' is disabled');
  if (el.readOnly) throw fail('not_interactable', describe(el) + ' is read-only');
  if (!el.checkVisibility()) throw fail('not_interactable', describe(el) + ' is hidden');
  const box = el.isContentEditable ? null : drawnBox(el);
  if ((box || el).scrollIntoViewIfNeeded) (box || el).scrollIntoViewIfNeeded();
  const [ref, role] = refFor(el);
  const out = { ref, role, name: cut(safe(nameOf(el, role)), 80), type: el.type || '', secret: el.type === 'password', kind: 'text' };
  arm(el);
  if (el.tagName === 'INPUT' && scriptTypes.test(el.type)) {
    out.kind = 'script';
    if (a.text !== undefined) setValue(el, a.text);
    if (el.value !== a.text && a.text !== undefined && !(el.type === 'color' && el.value === a.text.toLowerCase()) && !(el.type === 'range' && +el.value === +a.text))
      throw fail('invalid_request', describe(el) + ' does not take ' + quote(a.text) + ': a ' + el.type + ' field wants ' + ({ date: '2026-01-31', time: '13:45', month: '2026-01', week: '2026-W05', 'datetime-local': '2026-01-31T13:45', color: '#aabbcc', range: 'a number from ' + (el.min || 0) + ' to ' + (el.max || 100) })[el.type] + '; the value is now ' + quote(el.value));
    return out;
  }
  if (el !== focusNow() || !document.hasFocus()) el.focus({ preventScroll: true });
  const got = focusNow();
  if (got !== el && !el.contains(got)) out.lost = got && got !== document.body ? describe(got) : 'nothing';
  if (box || el.editContext) out.kind = 'drawn';
  else if (el.isContentEditable) {
    out.kind = 'rich';
    const s = el.ownerDocument.getSelection();
    s.selectAllChildren(el);
    if (a.append) s.collapseToEnd();
  } else if (a.append) { try { el.setSelectionRange(el.value.length, el.value.length); } catch { /* number fields keep no range */ } } else el.select();
  out.old = valueOf(el);
  out.empty = !out.old;
  out.old = el.type === 'password' ? '' : out.old.slice(0, 20000).toWellFormed();
  out.max = el.maxLength > 0 ? el.maxLength : 0;
  let open = document.activeElement; // as the page's own world can find it
  while (open && open.shadowRoot && open.shadowRoot.activeElement) open = open.shadowRoot.activeElement;
  out.open = open === el;
  return out;
}

// stepped readies a slider or counter that only keys move.
function stepped(el, a) {
  if (disabledNow(el)) throw fail('not_interactable', describe(el) + ' is disabled');
  if (!Number.isFinite(parseFloat(a.text))) throw fail('invalid_request', describe(el) + ' wants a number');
  el.scrollIntoViewIfNeeded && el.scrollIntoViewIfNeeded();
  const [ref, role] = refFor(el);
  arm(el);
  el.focus({ preventScroll: true });
  const got = focusNow();
  return { ref, role, name: cut(safe(nameOf(el, role)), 80), kind: 'stepped', lost: got === el ? '' : got && got !== document.body ? describe(got) : 'nothing' };
}

// reading is where such a slider or counter stands.
function reading(a) {
  const el = nodeOf(a.ref);
  return { now: el ? parseFloat(el.getAttribute('aria-valuenow') ?? el.textContent) || 0 : 0, text: el ? cut(safe(valueOf(el) || clean(el.textContent)), 60) : '' };
}

function setValue(el, v) {
  const proto = el.tagName === 'TEXTAREA' ? HTMLTextAreaElement : HTMLInputElement;
  el.focus({ preventScroll: true });
  Object.getOwnPropertyDescriptor(proto.prototype, 'value').set.call(el, v);
  el.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  el.dispatchEvent(new Event('change', { bubbles: true }));
}

// readBack reads the field that was typed into. Where one character fits a box
// and the focus went on to the next, the boxes are read as one field.
function readBack(a) {
  const el = watching && watching.el || resolve(a.ref);
  let v = valueOf(el);
  if (el.maxLength === 1 && (a.text || '').length > 1) v = boxesFrom(el).map(n => n.value).join('');
  return { value: el.type === 'password' ? '•'.repeat(v.length) : safe(v).slice(0, 600), length: v.length, raw: el.type === 'password' ? '' : v.slice(0, 20000).toWellFormed() };
}

// boxesFrom lists the boxes of one character from el on.
function boxesFrom(el) {
  let box = el.parentElement, all = [el];
  for (let i = 0; box && i < 4 && all.length < 2; i++, box = box.parentElement) all = [...box.querySelectorAll('input')].filter(n => n.maxLength === 1 && seen(n));
  return all.slice(Math.max(0, all.indexOf(el)));
}

// scroller is what scrolls the page; some documents name nothing.
const scroller = () => document.scrollingElement || document.documentElement;

let scrolledLast = null; // the box that was last scrolled; null is the page
const scrolledNow = () => place(scrolledLast && scrolledLast.isConnected ? scrolledLast : null);

// scroll moves the page, or the box around an element, or an element into view.
function scroll(a) {
  let el = a.ref ? resolve(a.ref) : null;
  let box = null;
  if (el && !a.direction && !a.to) { el.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' }); scrolledLast = null; arm(null); return place(null, describe(el)); }
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
  scrolledLast = box;
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
  const c = box && clip(box.getBoundingClientRect()) || { x0: 0, y0: 0, x1: innerWidth, y1: innerHeight };
  return { x: (c.x0 + c.x1) / 2, y: (c.y0 + c.y1) / 2, what: what || (box ? describe(box) : 'page'), above: Math.round(t.scrollTop), below: Math.max(0, Math.round(t.scrollHeight - t.scrollTop - h)), moved: true };
}
