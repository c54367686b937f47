// Tables: one line a row, the controls of a row below it.

function layoutTable(el) {
  if (el.tagName !== 'TABLE') return false;
  const r = el.getAttribute('role');
  if (r === 'presentation' || r === 'none') return true;
  if (r || el.caption || el.tHead || el.querySelector(':scope > tbody > tr > th')) return false;
  if (el.querySelector('table')) return true;
  const rows = el.rows;
  if (rows.length < 2) return true;
  return rows[0].cells.length < 2;
}

function table(el, out, role) {
  const l = lineBox(el);
  l.depth = out.depth + 1;
  const name = nameOf(el, role);
  l.s = role + (name ? ' ' + quote(name, 80) : '');
  let used = 0, last = null;
  const rows = el.tagName === 'TABLE' ? el.rows : el.querySelectorAll('[role=row],tr');
  const limit = walkState.budget;
  let head = null;
  for (let i = 0; i < rows.length; i++) {
    const r = rows[i];
    if (late() || walkState.late || used > limit) {
      if (last) l.kids.push({ s: '', kids: [], cutAfter: last, cont: el, more: rows.length - i, noun: 'rows', depth: l.depth + 1 });
      break;
    }
    if (r.closest('table,[role=grid],[role=table],[role=treegrid]') !== el) continue;
    const isHead = i === 0 && (r.parentElement.tagName === 'THEAD' || r.querySelector('th,[role=columnheader]')) && !r.querySelector('td,[role=cell],[role=gridcell]');
    if (isHead) head = r;
    if (walkState.before && !isHead) {
      if (r === walkState.after || walkState.path.has(r)) walkState.before = false;
      continue;
    }
    used += row(r, l, isHead);
    last = r;
  }
  if (!l.kids.length) return 0;
  out.kids.push(l);
  return used + weight(l.s) + 3;
}

function row(r, out, isHead) {
  if (!r.checkVisibility()) return 0;
  const cells = [];
  const parts = [];
  for (let c = (shadowOf(r) || r).firstElementChild; c; c = c.nextElementSibling) {
    if (skipTags.has(c.tagName)) continue;
    const sorted = isHead && /^(a|de)scending$/.test(c.getAttribute('aria-sort')) ? ' (' + c.getAttribute('aria-sort') + ')' : '';
    if (!c.firstElementChild) {
      if (walkState.view === 'full' && !seenText(c)) continue;
      cells.push(c.textContent + sorted);
    } else {
      if (!shownBox(c)) continue;
      cells.push(textWithoutButtons(c) + sorted);
      parts.push(c);
    }
    if (c.getAttribute('role') === 'gridcell' || c.tabIndex >= 0 || c.hasAttribute('onclick')) if (!parts.includes(c)) parts.push(c);
  }
  const text = cells.map(t => cut(clean(t), walkState.view === 'full' ? 400 : 120)).join(' | ');
  const role = isHead ? 'header' : 'row';
  const own = clickableSelf(r, getComputedStyle(r));
  const states = r.getAttribute('aria-selected') === 'true' ? ' selected' : r.getAttribute('aria-expanded') ? ' ' + statesOf(r, 'row') : '';
  const name = own ? cut(clean(text), 100) : '';
  const [l, b] = put(out, role + (own ? ' [ref=' + refOf(r, 'row', textOf(r)) + ']' : '') + (text.replace(/[ |]/g, '') ? ' ' + safe(text) : '') + states, r);
  let used = b;
  for (const c of parts) {
    const cellRole = c.getAttribute('role') === 'gridcell' || c.tabIndex >= 0 || c.hasAttribute('onclick');
    if (cellRole && !c.querySelector(actingSelector)) { used += putControl(l, c, 'gridcell', nameOf(c, 'gridcell'))[1]; continue; }
    used += inner2(c, l);
  }
  return used;
}

// inner2 writes the controls of a cell, those without a role too, but not its words.
function inner2(c, out) {
  const keep = { s: '', kids: [], depth: out.depth, el: c };
  const prose = walkState.prose, long = walkState.long;
  walkState.prose = false; walkState.long = null; // what is left could not be put in its place later
  let used = flow(c, keep);
  walkState.prose = prose; walkState.long = long;
  const pick = l => { for (const k of l.kids) { if (/\[ref=/.test(k.s) || k.frame || k.cutAfter) out.kids.push(k); else pick(k); } };
  pick(keep);
  return used;
}

function textWithoutButtons(c) {
  let s = '';
  const visit = n => {
    for (const k of kidsOf(n)) {
      if (k.nodeType === 3) s += k.data;
      else if (k.nodeType === 1 && !skipTags.has(k.tagName) && shownBox(k)) {
        const r = roleOf(k);
        if (r === 'link' || !acting.has(r)) { if (k.tagName === 'IMG') s += ' ' + k.alt + ' '; else { s += ' '; visit(k); s += ' '; } }
      }
      if (s.length > 600) return;
    }
  };
  visit(c);
  return s;
}
