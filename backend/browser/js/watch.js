// Watching: what a deed changed, told in lines with refs.

let watching = null;

// heard counts presses of a real mouse. The listeners are there before those of
// the page, so none of them can keep a press from us.
let heard = 0;
const presses = ['mousedown', 'click', 'auxclick', 'contextmenu'];
function pressed(e) {
  const w = watching;
  if (!e.isTrusted || !w || !w.el) return;
  if (!e.composedPath().some(n => n === w.el || n === w.lent || n.tagName === 'LABEL' && n.control === w.el)) return;
  if (e.type === 'mousedown') w.hits++; else w.clicked = true;
}
window.addEventListener('mousedown', e => { if (e.isTrusted) heard++; }, { capture: true, passive: true });
for (const t of presses) window.addEventListener(t, pressed, { capture: true, passive: true });

const strongAttrs = new Set(['hidden', 'open', 'disabled', 'aria-expanded', 'aria-checked', 'aria-selected', 'aria-pressed', 'aria-hidden', 'aria-invalid', 'aria-current', 'aria-disabled']);

function arm(el) {
  disarm();
  const w = watching = { el, strong: 0, weak: 0, added: new Set(), maybe: new Set(), texts: new Set(), removed: [], changed: new Set(), hits: 0, clicked: false, heard, last: performance.now(),
    value: el ? valueOf(el) : '', name: el ? nameOf(el, roleNow(el)) : '', states: el ? statesOf(el, roleNow(el)) : '', title: document.title, focus: focusNow(), scroll: 0 };
  const options = { subtree: true, childList: true, characterData: true, attributes: true };
  w.mo = new MutationObserver(list => note(w, list));
  w.mo.observe(document, options);
  for (const host of deepHosts()) w.mo.observe(shadowOf(host), options);
  w.on = e => {
    if (e.type === 'focusin') { w.weak++; return; }
    if (e.type === 'scroll') { w.scroll++; w.weak++; return; }
    w.strong++;
    if (e.type === 'input' || e.type === 'change') w.changed.add(e.composedPath()[0]);
    w.last = performance.now();
  };
  for (const t of watchedEvents) window.addEventListener(t, w.on, { capture: true, passive: true });
  const root = el && el.getRootNode();
  if (root && root.mode === 'closed') { // the window hears of its host only
    w.root = root;
    for (const t of presses) root.addEventListener(t, pressed, { capture: true, passive: true });
  }
  return w;
}
const watchedEvents = ['focusin', 'input', 'change', 'submit', 'toggle', 'popstate', 'hashchange', 'scroll', 'drop'];

function disarm() {
  const w = watching;
  if (!w) return;
  w.mo.disconnect();
  for (const t of watchedEvents) window.removeEventListener(t, w.on, { capture: true });
  if (w.root) for (const t of presses) w.root.removeEventListener(t, pressed, { capture: true });
  watching = null;
}

function* deepHosts() {
  const stack = [document];
  let left = 20000;
  while (stack.length) {
    const r = stack.pop();
    const w = document.createTreeWalker(r, NodeFilter.SHOW_ELEMENT);
    for (let n = w.nextNode(); n && left-- > 0; n = w.nextNode()) { const s = shadowOf(n); if (s) { yield n; stack.push(s); } }
  }
}

function note(w, list) {
  w.last = performance.now();
  for (const m of list) {
    if (m.type === 'characterData') { w.strong++; if (m.target.parentElement) w.texts.add(m.target.parentElement); continue; }
    if (m.type === 'attributes') {
      if (strongAttrs.has(m.attributeName)) { w.strong++; w.maybe.add(m.target); } else { w.weak++; if (m.attributeName === 'class' || m.attributeName === 'style') w.maybe.add(m.target); }
      continue;
    }
    for (const n of m.addedNodes) {
      if (n.nodeType === 1 && !skipTags.has(n.tagName)) { w.strong++; w.added.add(n); } else if (n.nodeType === 3 && n.data.trim()) { w.strong++; w.texts.add(m.target.nodeType === 11 ? m.target.host : m.target); }
    }
    for (const n of m.removedNodes) {
      if (n.nodeType === 3 && n.data.trim()) { w.strong++; w.texts.add(m.target.nodeType === 11 ? m.target.host : m.target); }
      if (n.nodeType !== 1 || skipTags.has(n.tagName)) continue;
      w.strong++;
      if (w.removed.length < 200) w.removed.push(n);
    }
  }
}

// settle answers after a posted task and a quiet span, with the evidence so far.
async function settle(a) {
  const w = watching;
  await new Promise(done => { const c = new MessageChannel(); c.port1.onmessage = () => { c.port1.close(); done(); }; c.port2.postMessage(0); });
  if (a.frame) await Promise.race([new Promise(d => requestAnimationFrame(() => d())), new Promise(d => setTimeout(d, 20))]);
  if (a.quiet) {
    const until = performance.now() + a.quiet;
    for (;;) {
      if (w) { const l = w.mo.takeRecords(); if (l.length) note(w, l); }
      if (w && w.strong && a.early) break;
      const left = until - performance.now();
      if (left <= 0) break;
      await new Promise(d => setTimeout(d, Math.min(left, 10)));
    }
  }
  if (!w) return { strong: 0, weak: 0 };
  const l = w.mo.takeRecords();
  if (l.length) note(w, l);
  return { strong: w.strong, weak: w.weak, ready: document.readyState };
}

// changes tells what is new since arm and ends the watch.
function changes(a) {
  const w = watching;
  if (!w) return { lines: [] };
  const left = w.mo.takeRecords();
  if (left.length) note(w, left);
  disarm();
  const lines = [];
  const out = { lines, hit: w.hits, clicked: w.clicked, any: heard - w.heard, strong: w.strong, weak: w.weak, url: location.href, title: document.title, scroll: w.scroll, print: fingerprint() };
  const el = w.el;
  const told = new Set();
  if (el && el.isConnected) {
    const role = roleNow(el), name = nameOf(el, role);
    const states = statesOf(el, role);
    if (!a.echoed && states !== w.states && states.replace(/ ?focused/, '') !== w.states.replace(/ ?focused/, '')) { lines.push('~ ' + role + ' ' + quote(name) + ' [ref=' + refOf(el, role, name) + '] ' + (states || 'no longer ' + w.states)); told.add(el); }
    else if (name !== w.name) lines.push('~ now ' + (role || 'text') + ' ' + quote(name || textOf(el)) + (acting.has(role) || entries.has(el) ? ' [ref=' + refOf(el, role, name) + ']' : ''));
  }
  const budget = a.budget || 900;
  walkState = { budget, view: 'auto', prose: true, root: document.body, top: null, count: 0, lines: 0, late: false, until: performance.now() + 60, lent: new Set() };
  const top = { s: '', kids: [], depth: 0, el: document.body };
  const inside = (n, set) => { for (let p = parentOf(n); p; p = parentOf(p)) if (set.has(p)) return true; return false; };
  let fresh = 0;
  for (const n of w.added) {
    if (!n.isConnected || inside(n, w.added) || fresh > 40) continue;
    if (!shownBox(n) || inInvisible(n)) continue;
    fresh++;
    freshLines(n, top);
  }
  const went = [];
  for (const n of w.maybe) {
    if (!n.isConnected || n === el || n === document.body || n === document.documentElement || inside(n, w.added) || inside(n, w.maybe)) continue;
    if (!shownBox(n) || inInvisible(n)) {
      if (!printed.has(n) || hidden.has(n)) continue;
      hidden.add(n);
      const r = roleOf(n);
      if (!n.contains(el) && (acting.has(r) || boxRoles.has(r))) lines.push('gone: ' + r + ' ' + quote(nameOf(n, r), 60)); else went.push(n);
      continue;
    }
    if (!printed.has(n) || hidden.delete(n)) { if (walkState.seenOnce || printedAny()) freshLines(n, top); continue; }
    const r = roleOf(n);
    if (acting.has(r) && !told.has(n) && entries.has(n)) { told.add(n); top.kids.push({ s: '~ ' + r + ' ' + quote(nameOf(n, r)) + ' [ref=' + refOf(n, r, nameOf(n, r)) + '] ' + statesOf(n, r), kids: [], depth: 1 }); }
  }
  for (const n of w.texts) {
    if (!n.isConnected || n === el || inside(n, w.added) || n === document.body) continue;
    if (n.tagName === 'TITLE' || !shownBox(n) || inInvisible(n)) continue;
    const live = n.closest('[role=alert],[role=status],output');
    const t = textOf(n, { max: 300 });
    const r = roleOf(n);
    if (!t) continue;
    if (el && (el.contains(n))) continue;
    const e = entries.get(n);
    top.kids.push({ s: '~ ' + (live ? roleOf(live) + ' ' : r && acting.has(r) ? r + ' ' : '') + quote(t, 160) + (e ? ' [ref=' + refOf(n, r, nameOf(n, r)) + ']' : ''), kids: [], depth: 1 });
  }
  const gone = [];
  for (const n of w.removed) {
    if (n.isConnected || !printed.has(n) || gone.length >= 3) continue;
    const r = roleOf(n);
    if (r === 'dialog' || r === 'alertdialog' || acting.has(r) || r === 'listitem' || r === 'row') gone.push(r + ' ' + quote(n.getAttribute('aria-label') || n.textContent.slice(0, 200), 40));
  }
  if (top.kids.length) {
    const text = render(top, budget);
    for (const l of text.split('\n')) lines.push(/^- ~/.test(l) ? l.slice(2) : l.replace(/^- /, '+ '));
  }
  for (const g of gone) lines.push('gone: ' + g);
  if (!lines.length) { // whatever else changed, so that it is not told as nothing
    if (el && !a.echoed && el.isConnected && valueOf(el) !== w.value) { const r = roleNow(el), name = nameOf(el, r); lines.push('~ ' + r + ' ' + quote(name, 60) + ' [ref=' + refOf(el, r, name) + '] ' + (statesOf(el, r) || 'empty')); }
    for (const n of w.changed) if (n !== el && n.isConnected && lines.length < 3) { const r = roleNow(n), name = nameOf(n, r); lines.push('~ ' + r + ' ' + quote(name, 60) + ' [ref=' + refOf(n, r, name) + '] ' + (statesOf(n, r) || 'off')); }
    if (el && (!el.isConnected || !shownBox(el) || inInvisible(el))) lines.push('gone: ' + describe(el));
    for (const n of [...w.removed.filter(n => !n.isConnected && printed.has(n)), ...went]) {
      const t = clean(n.textContent);
      if (t && lines.length < 3) lines.push('gone: ' + quote(t, 60));
    }
  }
  if (el && w.focus !== focusNow() && focusNow() !== el && focusNow() && focusNow() !== document.body) {
    const f = focusNow(), r = roleNow(f);
    if (acting.has(r) && !told.has(f)) lines.push('focus is on ' + r + ' ' + quote(nameOf(f, r), 60) + ' [ref=' + refOf(f, r, nameOf(f, r)) + ']');
  }
  if (document.title !== w.title) lines.push('title now ' + quote(document.title));
  return out;
}

const hidden = new WeakSet(); // nodes that were printed and then hidden
let anySnapshot = false;
const printedAny = () => anySnapshot;

function inInvisible(n) { for (let p = parentOf(n); p; p = parentOf(p)) if (!shownBox(p)) return true; return getComputedStyle(n).visibility !== 'visible' && !n.firstElementChild; }

function freshLines(n, top) {
  const para = { text: '', links: [], el: n };
  const live = n.closest && n.closest('[role=alert],[role=status]');
  const from = top.kids.length;
  walk(n, top, para);
  flush(top, para);
  if (live && live !== n) for (const l of top.kids.slice(from)) l.s = roleOf(live) + ': ' + l.s;
}
