// Fitting: lines are a tree; long containers are cut alike until it fits.

const frameNumbers = new WeakMap(); // iframe element -> the number its refs carry

const thousands = n => String(n).replace(/\B(?=(\d{3})+$)/g, ','); // Intl is slow to start

// weightOf is the weight of a line, kept because fitting asks for it again and again.
function weightOf(l) {
  if (l.weighed !== l.s) { l.weighed = l.s; l.weight = weight(l.s); }
  return l.weight;
}

let widest = 3; // the most lines side by side that were measured for this fit

function measure(l, cap) {
  if (l.kids.length > widest) widest = l.kids.length;
  let total = l.s ? weightOf(l) + 3 + (l.depth - 1) * 2 : l.more ? 40 : 0;
  const n = cap && l.kids.length > 8 ? Math.min(l.kids.length, Math.max(cap, 3)) : l.kids.length;
  for (let i = 0; i < n; i++) total += measure(l.kids[i], cap);
  if (n < l.kids.length) total += 60;
  return total;
}

function fit(root, budget) {
  widest = 3;
  if (measure(root, 0) <= budget) return 0;
  let lo = 3, hi = widest;
  for (let i = 0; i < 14 && lo < hi; i++) {
    const mid = (lo + hi + 1) >> 1;
    if (measure(root, mid) <= budget) lo = mid; else hi = mid - 1;
  }
  return lo;
}

// prune folds what is nested deeper than so many levels, with a ref to go on by.
function prune(l, depth) {
  if (depth > 0) { for (const k of l.kids) prune(k, depth - 1); return; }
  const n = count(l);
  if (n > 1 || l.frame) l.kids = [{ s: '', kids: [], note: '… ' + (n > 1 ? (n - 1) + (n > 2 ? ' lines' : ' line') : 'a frame') + ' inside' + (/\[ref=/.test(l.s) || !l.el ? '' : ' (ref=' + freeRef(l.el) + ')') }];
  l.frame = 0;
}

function render(root, budget) {
  const cap = fit(root, budget);
  const out = [];
  let bytes = 0, full = false;
  const write = (s, depth) => {
    const line = '  '.repeat(depth) + '- ' + s;
    const b = weight(line) + 1;
    if (bytes + b > budget * 1.15 + 200) { full = true; return false; }
    bytes += b;
    out.push(line);
    return true;
  };
  const more = (n, noun, names, at, cont, depth) => {
    const who = names && names.filter(Boolean).length ? ': ' + names.filter(Boolean).map(safe).join(', ') : '';
    out.push('  '.repeat(depth) + '… ' + thousands(n) + ' more' + (noun ? ' ' + noun : '') + who + (at ? ' (after=' + freeRef(at, cont) + ')' : ''));
  };
  const visit = (l, depth, holder) => {
    if (full) return;
    if (l.note) { out.push('  '.repeat(depth) + l.note); return; }
    if (l.cutAfter) { more(l.more, l.noun, l.names, l.cutAfter, l.cont, depth); return; }
    let next = depth;
    if (l.s) { if (!write(l.s, depth)) { more(1, 'parts or so', null, lastEl, walkState.root, depth); return; } next++; if (l.el) lastEl = l.el; }
    if (l.frame) out.push('  '.repeat(next) + '\u0001frame ' + l.frame);
    const n = cap && l.kids.length > 8 ? Math.min(l.kids.length, Math.max(cap, 3)) : l.kids.length;
    for (let i = 0; i < n; i++) visit(l.kids[i], next, l);
    if (n < l.kids.length && !full) {
      const rest = l.kids.slice(n);
      const tail = rest[rest.length - 1];
      const many = rest.length - (tail.cutAfter ? 1 : 0) + (tail.cutAfter ? tail.more : 0);
      const at = lastOf(l.kids[n - 1]);
      const isTable = l.el && /^(table|grid|treegrid)\b/.test(l.s);
      more(many, isTable ? 'rows' : '', isTable ? null : rest.slice(0, 2).map(k => cut((/^(listitem|item|group|article)$/.test(k.s) && k.kids[0] ? k.kids[0].s : k.s).replace(/ \[ref=\w+\].*/, ''), 30)), at, isTable ? l.el : walkState.root, next);
    }
  };
  let lastEl = walkState.root;
  const lastOf = l => { let e = l.el; for (const k of l.kids) { const x = lastOf(k); if (x) e = l.el && l.el.contains(x) ? l.el : x; } return e || walkState.root; };
  visit(root, 0, null);
  return out.join('\n');
}

// marksNow are the boxes of what a walk found to act on, as far as they are in view.
function marksNow() {
  const out = [];
  for (const el of walkState.marks) {
    const s = stand(el), c = clip(s.getBoundingClientRect());
    if (!c || coveredNow(el)) continue;
    out.push({ ref: refFor(el)[0], x: c.x0 * pixel.kx + pixel.x, y: c.y0 * pixel.ky + pixel.y, w: (c.x1 - c.x0) * pixel.kx, h: (c.y1 - c.y0) * pixel.ky });
  }
  return out;
}

// snapshot is the page, or the part under ref or behind after, as text.
function snapshot(a) {
  let root = document.body || document.documentElement, after = null;
  if (a.ref) root = resolve(a.ref);
  if (a.after) {
    const known = byId.get(a.after);
    after = known && known.node.deref();
    if (!after || !after.isConnected) throw fail('stale', 'the place to go on from is gone; take a new snapshot');
    root = known.cont && known.cont.deref() || root;
    if (!root.isConnected) root = document.body;
  }
  const view = a.view || 'auto';
  walkState = { budget: a.budget * (a.depth ? 4 : 1), view, prose: view !== 'controls', root, top: root, count: 0, lines: 0, late: false, until: performance.now() + 250, after, before: !!after, path: new Set(), lent: new Set(), editors: new Map(), suspects: [], covers: view === 'full' ? 0 : 150, clear: 0, marks: a.marks ? [] : null, long: a.marks || a.depth ? null : [] };
  pixel = a.pixel || (prefix ? null : viewPixel());
  const special = [...document.querySelectorAll(editorFields + ',[aria-modal=true]')]; // one look over a large page, not two
  editorsAmong(special.filter(el => el.matches(editorFields)));
  for (let n = after; n; n = parentOf(n)) walkState.path.add(n);
  const top = { s: '', kids: [], depth: 0, el: root };
  if (!a.ref && !after) {
    const modal = topModal(special.filter(el => el.ariaModal === 'true'));
    if (modal) {
      walkState.root = walkState.top = modal;
      box(modal, top, roleOf(modal) === 'alertdialog' ? 'alertdialog' : 'dialog');
      if (top.kids.length && !/^(alert)?dialog/.test(top.kids[0].s)) { const k = top.kids; top.kids = []; const [l] = put(top, 'dialog' + (nameOf(modal, 'dialog') ? ' ' + quote(nameOf(modal, 'dialog')) : ''), modal); l.kids = k; }
      goOn(top, a.budget);
      if (a.depth) prune(top, a.depth);
      put(top, '… the page behind the dialog is out of reach', null);
      return a.marks ? { marks: marksNow() } : { text: render(top, a.budget), modal: true };
    }
  }
  if (root === document.body && editRoot(root)) putControl(top, root, 'textbox', nameOf(root, 'textbox'));
  else if (root === document.body || root.tagName === 'FRAMESET') flow(root, top);
  else if (after) { if (/^(table|grid|treegrid)$/.test(roleOf(root)) && !layoutTable(root)) table(root, top, roleOf(root)); else flow(root, top); }
  else { const para = { text: '', links: [], el: root }; walk(root, top, para); flush(top, para); }
  if (a.marks) return { marks: marksNow() };
  goOn(top, a.budget);
  if (a.depth) prune(top, a.depth);
  let text = render(top, a.budget);
  if (walkState.late) text += '\n… the page is very large; the walk stopped after 250 ms';
  return { text };
}

// topModal is the modal dialog in front, one of the browser's own or of those that say they are.
function topModal(said) {
  let m = null;
  for (const d of document.getElementsByTagName('dialog')) if (d.open && d.matches(':modal')) m = d;
  for (const d of said) if (seen(d) && d.getBoundingClientRect().height > 1 && (!m || !d.contains(m))) m = d;
  return m;
}
