// Dragging: how a thing lies before and after, and whether the page began a drag of the browser's own.

let grasp = null;

// grasp notes how the thing under a point lies, to tell later what became of it.
function graspAt(a) {
  const el = (a.ref ? nodeOf(a.ref) : null) || hitAt(a.x, a.y);
  const g = grasp = { el, dragging: false, order: [], boxes: [], row: null, paint: '' };
  // The innermost one of several alike is what a list is ordered by.
  for (let n = el; n && n !== document.body && n.parentElement; n = parentOf(n)) {
    const kids = alike(n);
    if (kids.length > 1) { g.row = n; g.list = n.parentElement; g.order = kids.map(short); break; }
  }
  for (let n = el, i = 0; n && n !== document.body && i < 4; n = parentOf(n), i++) g.boxes.push([n, n.getBoundingClientRect()]);
  const c = hitAt(a.x, a.y);
  if (c && c.tagName === 'CANVAS') { g.canvas = c; g.paint = painted(c); }
  window.addEventListener('dragstart', e => { g.started = e; }, { once: true, passive: true });
  arm(el);
  return {};
}

const likeness = n => n.tagName + ' ' + (n.getAttribute('role') || '') + ' ' + (n.classList[0] || '');
const alike = n => n.parentElement ? [...n.parentElement.children].filter(k => likeness(k) === likeness(n) && shownBox(k)) : [];
const short = n => cut(safe(clean(n.textContent)), 30) || n.id || n.tagName.toLowerCase();

function painted(c) {
  try { const s = c.toDataURL(); let h = 0; for (let i = 0; i < s.length; i += 7) h = h * 31 + s.charCodeAt(i) | 0; return s.length + '.' + h; } catch { return ''; }
}

// draggingNow answers a frame later whether the browser's own drag is under way.
async function draggingNow() {
  await Promise.race([new Promise(d => requestAnimationFrame(() => d())), new Promise(d => setTimeout(d, 25))]);
  return { dragging: !!(grasp && grasp.started && !grasp.started.defaultPrevented) };
}

// grasped tells what became of the thing: its order among others, its place, its size.
async function grasped() {
  const g = grasp;
  grasp = null;
  if (!g || !g.el) return { lines: [] };
  const lines = [];
  let last = '';
  for (let i = 0; i < 30; i++) { // what moves to its place is waited for, half a second at most
    const now = g.boxes.map(([n]) => { const r = n.getBoundingClientRect(); return [r.left, r.top, r.width, r.height].map(Math.round); }).join();
    if (now === last && i > 2) break;
    last = now;
    await new Promise(d => setTimeout(d, 17));
  }
  const say = (list, was) => { const names = list.map(short); return names.join('\n') !== was.join('\n') && names.length <= 60 && names; };
  if (g.list && g.list.isConnected) {
    const home = g.row.isConnected && g.row.parentElement !== g.list ? g.row.parentElement : g.list;
    const kids = [...home.children].filter(k => likeness(k) === likeness(g.row) && shownBox(k));
    const names = say(kids, home === g.list ? g.order : []);
    const visual = [...kids].sort((a, b) => { const x = a.getBoundingClientRect(), y = b.getBoundingClientRect(); return Math.abs(x.top - y.top) > 4 ? x.top - y.top : x.left - y.left; });
    if (names) lines.push('order now: ' + (kids.every((k, i) => k === visual[i]) ? names : visual.map(short)).join(' | '));
  }
  const [el, was] = g.boxes[0];
  if (el.isConnected && !lines.length) {
    const r = el.getBoundingClientRect();
    const dx = Math.round(r.left - was.left), dy = Math.round(r.top - was.top);
    if (Math.abs(dx) > 1 || Math.abs(dy) > 1) lines.push('it moved by ' + dx + ',' + dy + ' pixels');
  }
  for (const [n, b] of g.boxes) {
    if (!n.isConnected) continue;
    const r = n.getBoundingClientRect();
    if (Math.abs(r.width - b.width) > 1 || Math.abs(r.height - b.height) > 1) { lines.push((n === el ? 'it' : n.tagName === 'TEXTAREA' || acting.has(roleOf(n)) ? describe(n) : 'the box around it') + ' is ' + Math.round(r.width) + 'x' + Math.round(r.height) + ' pixels now'); break; }
  }
  if (g.canvas && g.paint && painted(g.canvas) !== g.paint) lines.push('the picture on the canvas changed');
  return { lines };
}

// sayer is the one thing that shows a text, whatever it is.
function sayer(text) {
  const want = clean(text).toLowerCase();
  const hits = [];
  for (const n of textNodes()) {
    const el = n.parentElement;
    if (el && clean(n.data).toLowerCase().includes(want) && seen(el)) hits.push([el, clean(el.textContent).toLowerCase() === want || clean(n.data).toLowerCase() === want]);
  }
  for (const el of deepAll('[aria-label],[title]', 5000)) { const name = nameOf(el).toLowerCase(); if (name.includes(want) && seen(el)) hits.push([el, name === want]); }
  const exact = hits.filter(h => h[1]).map(h => h[0]);
  const all = [...new Set(exact.length ? exact : hits.map(h => h[0]))];
  if (!all.length) return target({ text });
  if (all.length > 1) throw fail('ambiguous', all.length + ' things say ' + quote(text, 40) + '; give a ref (browser_find lists them) or a point');
  return all[0];
}
