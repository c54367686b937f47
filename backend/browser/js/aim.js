// Aiming: from a ref or a text to a point that really hits.

function hitAt(x, y) {
  let r = document, e = null;
  for (;;) {
    const n = r.elementFromPoint(x, y);
    if (!n || n === e) return e;
    e = n;
    const s = shadowOf(n);
    if (!s) return e;
    r = s;
  }
}

// reaches is true when a press on hit reaches el.
function reaches(hit, el) {
  for (let n = hit; n; n = parentOf(n)) {
    if (n === el || n === drawnIn.get(el)) return true;
    if (n.tagName === 'LABEL' && n.control === el) return true;
  }
  return false;
}

function boxesOf(el) {
  const out = [];
  for (const r of el.getClientRects()) if (r.width > 0.5 && r.height > 0.5) out.push(r);
  if (!out.length) for (const k of el.children) { if (out.length > 3) break; out.push(...boxesOf(k)); }
  return out;
}

function clip(r) {
  const x0 = Math.max(r.left, 0), y0 = Math.max(r.top, 0), x1 = Math.min(r.right, innerWidth), y1 = Math.min(r.bottom, innerHeight);
  return x1 - x0 >= 1 && y1 - y0 >= 1 ? { x0, y0, x1, y1 } : null;
}

function pointOn(el, target) {
  let cover = null;
  for (const r of boxesOf(el).slice(0, 4)) {
    const c = clip(r);
    if (!c) continue;
    const w = c.x1 - c.x0, h = c.y1 - c.y0;
    for (const [fx, fy] of [[.5, .5], [.25, .5], [.75, .5], [.5, .25], [.5, .75], [.1, .1], [.9, .9]]) {
      const x = c.x0 + w * fx, y = c.y0 + h * fy;
      const hit = hitAt(x, y);
      if (hit && reaches(hit, target)) return { x, y, w, h };
      if (hit && !cover) cover = hit;
    }
  }
  return { cover };
}

// stand is the element to press for el: itself, or its label when only that shows.
function stand(el) {
  const drawn = el.tagName === 'TEXTAREA' || el.editContext ? drawnBox(el) : null; // an editor that draws its text itself
  if (drawn) return drawn;
  const r = el.getBoundingClientRect();
  const bare = r.width < 2 || r.height < 2 || !el.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  if (bare && el.labels) for (const l of el.labels) if (seen(l) && l.getBoundingClientRect().width > 1) return l;
  return el;
}

function aimAt(el, opts = {}) {
  if (disabledNow(el) && !opts.look) throw fail('not_interactable', describe(el) + ' is disabled');
  const s = stand(el);
  if (!shownBox(s)) throw fail('not_interactable', describe(el) + ' is hidden');
  let p = pointOn(s, el);
  if (p.x === undefined) {
    s.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    p = pointOn(s, el);
  }
  if (p.x === undefined) {
    if (p.cover) {
      const c = p.cover;
      if (c.contains(s) || getComputedStyle(s).pointerEvents === 'none') throw fail('not_interactable', describe(el) + ' takes no clicks; a click there reaches ' + coverName(c));
      throw fail('covered', describe(el) + ' is covered by ' + coverName(c));
    }
    throw fail('not_interactable', describe(el) + (boxesOf(s).length ? ' is outside the visible area and cannot be scrolled to' : ' has no visible box'));
  }
  p.lent = s;
  return p;
}

// coveredNow is true for what lies under something else and does not come out
// from it when the page is scrolled, as it does from under a narrow bar.
function coveredNow(el, r = el.getBoundingClientRect()) {
  const c = r.width > 1 && r.height > 1 && clip(r);
  if (!c) return false;
  const hit = hitAt((c.x0 + c.x1) / 2, (c.y0 + c.y1) / 2);
  if (!hit || reaches(hit, el) || reaches(hit, stand(el)) || hit.contains(el)) return false;
  for (let n = hit; n; n = parentOf(n)) {
    const p = getComputedStyle(n).position;
    if (p !== 'fixed' && p !== 'sticky') continue;
    const o = n.getBoundingClientRect();
    return o.width * o.height > innerWidth * innerHeight / 3;
  }
  return pointOn(stand(el), el).x === undefined;
}

// moving is true while what covers an element fades, slides or grows away.
async function moving(a) {
  let el;
  try { el = target(a); } catch { return { moving: false }; }
  let runs = false; // a fade or a slide of the browser's own tells so before its next frame
  const look = () => {
    const r = stand(el).getBoundingClientRect(), c = r.width > 0 && clip(r);
    let s = c ? c.x0 + ',' + c.y0 : '';
    for (let n = c && hitAt((c.x0 + c.x1) / 2, (c.y0 + c.y1) / 2); n && n !== document.body; n = parentOf(n)) { const b = n.getBoundingClientRect(); s += '|' + [b.left, b.top, b.width, b.height, getComputedStyle(n).opacity].join(); runs = runs || n.getAnimations().some(x => x.playState === 'running' && Number.isFinite(x.effect.getComputedTiming().endTime)); }
    return s;
  };
  const was = look();
  for (let i = 0; i < 3; i++) await Promise.race([new Promise(d => requestAnimationFrame(() => d())), new Promise(d => setTimeout(d, 30))]);
  return { moving: look() !== was || runs };
}

function coverName(c) {
  for (let n = c; n && n !== document.body; n = parentOf(n)) {
    const r = roleOf(n);
    if (r === 'dialog' || r === 'alertdialog' || acting.has(r)) return describe(n) + (acting.has(r) ? ' [ref=' + refOf(n, r, nameOf(n, r)) + ']' : '');
  }
  const t = cut(textOf(c), 60);
  const act = c.querySelector(actingSelector);
  return (roleOf(c) || (c.id ? c.tagName.toLowerCase() + '#' + c.id : c.tagName.toLowerCase())) + (t ? ' ' + quote(t, 60) : '') +
    (act && seen(act) ? ', which holds ' + describe(act) + ' [ref=' + refOf(act, roleOf(act), nameOf(act)) + ']' : '');
}

// byText finds what a person would press for a text: exact, then containing, then the nearest clickable around.
function byText(a) {
  const want = clean(a.text).toLowerCase();
  if (!want) throw fail('invalid_request', 'the text is empty');
  const exact = [], part = [];
  for (const el of deepAll(actingSelector, 20000)) {
    if (!seen(stand(el))) continue;
    const r = roleOf(el) || 'clickable';
    const n = nameOf(el, r).toLowerCase();
    if (!n) continue;
    if (n === want) exact.push(el); else if (n.includes(want)) part.push(el);
  }
  let hits = topmost(exact);
  if (!hits.length) hits = topmost(part);
  if (!hits.length) {
    const near = [];
    for (const n of textNodes()) {
      if (!clean(n.data).toLowerCase().includes(want)) continue;
      let el = n.parentElement, c = null;
      if (!el || !seen(el)) continue;
      for (let p = el; p && p !== document.body; p = parentOf(p)) if (acting.has(roleOf(p)) || p.tagName === 'LABEL' && p.control || clickableSelf(p, getComputedStyle(p))) { c = p; break; }
      near.push([c || el, clean(n.data).toLowerCase() === want, !!c]);
    }
    const pick = f => topmost(near.filter(f).map(x => x[0]));
    for (const f of [x => x[1] && x[2], x => x[2], x => x[1], () => true]) { hits = pick(f); if (hits.length) break; }
  }
  return hits;
}
const topmost = list => { const set = new Set(list); return [...set].filter(el => { for (let p = parentOf(el); p; p = parentOf(p)) if (set.has(p)) return false; return true; }); };

function* textNodes() {
  const roots = [document.body || document.documentElement];
  let left = 60000;
  while (roots.length) {
    const w = document.createTreeWalker(roots.pop(), NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let n = w.nextNode(); n && left-- > 0; n = w.nextNode()) {
      if (n.nodeType === 3) { if (n.data.trim()) yield n; } else { const s = shadowOf(n); if (s) roots.push(s); }
    }
  }
}

const refFor = el => { let r = roleNow(el); if (!r || !acting.has(r) && r !== 'row' && r !== 'gridcell' && entries.get(el)?.role !== r) r = 'clickable'; return [refOf(el, r, nameOf(el, r)), r]; };

function target(a) {
  if (a.ref) return resolve(a.ref);
  if (a.focused) return focusNow() || document.body || document.documentElement;
  const hits = byText(a);
  if (!hits.length) throw fail('not_found', 'nothing on the page says ' + quote(a.text));
  if (hits.length > 1) {
    const some = hits.slice(0, 6).map(el => { const [r, role] = refFor(el); return role + ' ' + quote(nameOf(el, role), 40) + ' [ref=' + r + ']' + rowHint(el); });
    throw fail('ambiguous', hits.length + ' things say ' + quote(a.text, 40) + ': ' + some.join(', ') + (hits.length > 6 ? ' …' : ''));
  }
  return hits[0];
}

function rowHint(el) {
  const row = el.closest('tr,li,[role=row],[role=listitem],article');
  return row ? ' in ' + quote(cut(textOf(row, { max: 80 }), 40), 40) : '';
}

// aim makes all ready for a press: the point, what is there, and the watch.
function aim(a) {
  const el = target(a);
  const role = roleNow(el);
  if (el.tagName === 'SELECT' && !el.multiple && el.size < 2 && !a.look) throw fail('not_interactable', describe(el) + ' opens a list of the system; use browser_select on it');
  if (el.type === 'color' && el.tagName === 'INPUT' && !a.look) throw fail('not_interactable', describe(el) + ' opens a picker of the system; set it with browser_type, as in #aabbcc');
  if (el.tagName === 'OPTION' && !a.look) throw fail('not_interactable', describe(el) + ' belongs to a native list; use browser_select on ' + describe(el.closest('select')) + ' [ref=' + refFor(el.closest('select'))[0] + ']');
  const p = aimAt(el, a);
  const w = arm(el);
  w.lent = p.lent;
  const [ref, r] = refFor(el);
  return { x: p.x, y: p.y, ref, role: r === 'clickable' && role ? role : r, name: cut(safe(nameOf(el, r)), 80), file: el.tagName === 'INPUT' && el.type === 'file' };
}

function frameOf(no) {
  for (const el of deepAll('iframe,frame,object,embed', 4000)) if (frameNumbers.get(el) === no) return el;
  throw fail('detached', 'the frame is no longer on the page');
}

// frameBox is where the document of a frame begins in this one, and its scale.
function frameBox(a) {
  const el = frameOf(a.frame), r = el.getBoundingClientRect(), s = getComputedStyle(el);
  const sx = el.offsetWidth ? r.width / el.offsetWidth : 1, sy = el.offsetHeight ? r.height / el.offsetHeight : 1;
  return { x: r.left + (el.clientLeft + parseFloat(s.paddingLeft)) * sx, y: r.top + (el.clientTop + parseFloat(s.paddingTop)) * sy, sx, sy };
}

// lift moves a point of the frame with the given number into this document.
function lift(a) {
  const el = frameOf(a.frame);
  const at = () => { const f = frameBox(a); return { x: f.x + a.x * f.sx, y: f.y + a.y * f.sy }; };
  let p = at();
  if (p.x < 1 || p.y < 1 || p.x > innerWidth - 1 || p.y > innerHeight - 1) {
    el.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
    p = at();
    if (p.y < 1 || p.y > innerHeight - 1 || p.x < 1 || p.x > innerWidth - 1) scrollBy({ left: p.x < 1 || p.x > innerWidth - 1 ? p.x - innerWidth / 2 : 0, top: p.y - innerHeight / 2, behavior: 'instant' });
    p = at();
  }
  const hit = hitAt(p.x, p.y);
  if (hit && !reaches(hit, el)) throw fail('covered', 'the frame is covered by ' + coverName(hit));
  if (!watching) arm(null);
  return p;
}
