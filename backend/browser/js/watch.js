// Watching: what a deed changed, told in lines with refs.

let watching = null;
let lastDrop = false; // whether the page took a drop

// fieldsNow notes what the fields of the page hold: setting a value by script tells nobody.
function fieldsNow() {
  const out = [];
  for (const el of document.querySelectorAll('input,select,textarea')) {
    if (out.length >= 200) break;
    if (el.type !== 'hidden') out.push([el, heldBy(el)]);
  }
  return out;
}
// veiledNear lists what is hidden close to an element: a style alone may show it under the mouse or with the focus.
function veiledNear(el) {
  let box = el;
  for (let i = 0; i < 2 && box.parentElement && box.parentElement !== document.body; i++) box = box.parentElement;
  const out = [];
  let left = 300;
  for (const n of box.getElementsByTagName('*')) { if (left-- < 0) break; if (!skipTags.has(n.tagName) && !seen(n) && !out.some(o => o.contains(n))) out.push(n); }
  return out;
}
const heldBy = el => el.tagName === 'SELECT' ? el.selectedIndex : /^(checkbox|radio)$/.test(el.type) ? el.checked : el.value;

// heard counts presses of a real mouse. The listeners are there before those of
// the page, so none of them can keep a press from us.
let heard = 0;
const presses = ['mousedown', 'click', 'auxclick', 'contextmenu', 'mousemove'];
function pressed(e) {
  const w = watching;
  if (!e.isTrusted || !w || !w.el) return;
  if (!e.composedPath().some(n => n === w.el || n === w.lent || n.tagName === 'LABEL' && n.control === w.el)) return;
  if (e.type === 'mousedown') w.hits++; else if (e.type === 'mousemove') w.over = true; else w.clicked = true;
}
window.addEventListener('mousedown', e => { if (e.isTrusted) heard++; }, { capture: true, passive: true });
let keysHeard = 0;
window.addEventListener('keydown', e => { if (e.isTrusted) keysHeard++; }, { capture: true, passive: true });
for (const t of presses) window.addEventListener(t, pressed, { capture: true, passive: true });

const strongAttrs = new Set(['hidden', 'open', 'disabled', 'aria-expanded', 'aria-checked', 'aria-selected', 'aria-pressed', 'aria-hidden', 'aria-invalid', 'aria-current', 'aria-disabled']);

function arm(el) {
  disarm();
  const w = watching = { el, strong: 0, weak: 0, added: new Set(), maybe: new Set(), classes: new Map(), texts: new Set(), lost: [], removed: [], changed: new Set(), hits: 0, clicked: false, over: false, heard, keysHeard, last: performance.now(),
    value: el ? valueOf(el) : '', name: el ? nameOf(el, roleNow(el)) : '', states: el ? statesOf(el, roleNow(el)) : '', title: document.title, focus: focusNow(), scroll: 0, at: [scrollX, scrollY], fields: fieldsNow(), veiled: el ? veiledNear(el) : [] };
  const options = { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true, characterDataOldValue: true };
  w.mo = new MutationObserver(list => note(w, list));
  w.mo.observe(document, options);
  for (const host of deepHosts()) w.mo.observe(shadowOf(host), options);
  w.on = e => {
    if (e.type === 'beforeprint') w.printed = true;
    if (e.type === 'drop') lastDrop = true;
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
const watchedEvents = ['focusin', 'input', 'change', 'submit', 'toggle', 'popstate', 'hashchange', 'scroll', 'drop', 'beforeprint'];

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
    if (m.type === 'characterData') { w.strong++; const at = m.target.parentElement; if (at) { w.texts.add(at); lose(w, at, m.oldValue); } continue; }
    if (m.type === 'attributes') {
      if (m.attributeName === 'hidden' ? m.oldValue !== null : m.attributeName === 'style' && /(display:\s*none|visibility:\s*hidden)/.test(m.oldValue)) hidden.add(m.target);
      if (strongAttrs.has(m.attributeName)) { w.strong++; w.maybe.add(m.target); } else { w.weak++; if (m.attributeName === 'class' || m.attributeName === 'style') w.maybe.add(m.target); if (m.attributeName === 'class' && !w.classes.has(m.target) && w.classes.size < 200) w.classes.set(m.target, m.oldValue || ''); }
      continue;
    }
    for (const n of m.addedNodes) {
      if (n.nodeType === 1 && !skipTags.has(n.tagName)) { w.strong++; w.added.add(n); } else if (n.nodeType === 3 && n.data.trim()) { w.strong++; w.texts.add(m.target.nodeType === 11 ? m.target.host : m.target); }
    }
    for (const n of m.removedNodes) {
      if (n.nodeType === 3 && n.data.trim()) { const at = m.target.nodeType === 11 ? m.target.host : m.target; w.strong++; w.texts.add(at); lose(w, at, n.data); }
      if (n.nodeType !== 1 || skipTags.has(n.tagName)) continue;
      w.strong++;
      if (w.removed.length < 200) w.removed.push(n);
    }
  }
}

// lose keeps words that an element held before, in case none come in their place.
function lose(w, at, words) { if (words.trim() && w.lost.length < 50) w.lost.push([at, words]); }

// scrolledBy is true when the page stands elsewhere than when the watch began.
const scrolledBy = w => Math.abs(scrollX - w.at[0]) + Math.abs(scrollY - w.at[1]) > 1;

// atRest waits until the page stands still: a key or a link may scroll it smoothly.
async function atRest() {
  const until = performance.now() + 1200;
  for (let still = 0, was = ''; still < 3 && performance.now() < until;) {
    await Promise.race([new Promise(d => requestAnimationFrame(() => d())), new Promise(d => setTimeout(d, 30))]);
    const now = scrollX + ',' + scrollY;
    still = now === was ? still + 1 : 0;
    was = now;
  }
}

// settle answers after a posted task, a frame and the rest of a quiet span, with the evidence so far.
async function settle(a) {
  const w = watching, until = performance.now() + (a.quiet || 0);
  await new Promise(done => { const c = new MessageChannel(); c.port1.onmessage = () => { c.port1.close(); done(); }; c.port2.postMessage(0); });
  if (a.frame) await Promise.race([new Promise(d => requestAnimationFrame(() => d())), new Promise(d => setTimeout(d, 20))]);
  if (a.quiet) {
    for (;;) {
      if (w) { const l = w.mo.takeRecords(); if (l.length) note(w, l); }
      if (w && w.strong && a.early) break;
      const left = until - performance.now();
      if (left <= 0) break;
      await new Promise(d => setTimeout(d, Math.min(left, 5)));
    }
  }
  if (!w) return { strong: 0, weak: 0 };
  if (scrolledBy(w)) await atRest();
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
  fresh = [...w.added, ...w.maybe];
  const held = a.read === undefined ? undefined : readBack({ text: a.read });
  disarm();
  const lines = [];
  const out = { lines, held, hit: w.hits, clicked: w.clicked, over: w.over, any: heard - w.heard, keys: keysHeard - w.keysHeard, strong: w.strong, weak: w.weak, url: location.href, title: document.title, scroll: w.scroll, print: fingerprint() };
  const el = w.el;
  const told = new Set();
  if (el && el.isConnected) {
    const role = roleNow(el), name = nameOf(el, role);
    const states = statesOf(el, role);
    if (!a.echoed && states !== w.states && states.replace(/ ?focused/, '') !== w.states.replace(/ ?focused/, '')) { lines.push('~ ' + role + ' ' + quote(name) + ' [ref=' + refOf(el, role, name) + '] ' + (states || 'no longer ' + w.states)); told.add(el); }
    else if (name !== w.name) lines.push('~ now ' + (role || 'text') + ' ' + quote(name || textOf(el)) + (acting.has(role) || entries.has(el) ? ' [ref=' + refOf(el, role, name) + ']' : ''));
  }
  const spoken = lines.length > 0; // of the element itself, with the words in it
  const budget = a.budget || 900;
  walkState = { budget, view: 'auto', prose: true, root: document.body || document.documentElement, top: null, count: 0, lines: 0, late: false, until: performance.now() + 60, lent: new Set(), editors: new Map() };
  editorsAmong(document.querySelectorAll(editorFields));
  const top = { s: '', kids: [], depth: 0, el: walkState.root };
  const inside = (n, set) => { for (let p = parentOf(n); p; p = parentOf(p)) if (set.has(p)) return true; return false; };
  const own = el && a.echoed && (el.isContentEditable ? el : drawnIn.get(el)); // its text is told as its value
  let shown = 0;
  const walked = new Set();
  for (const n of w.added) {
    if (!n.isConnected || own && own.contains(n) || inside(n, w.added) || shown > 40) continue;
    if (!shownBox(n) || inInvisible(n)) continue;
    shown++;
    walked.add(n);
    freshLines(n, top);
  }
  const went = [];
  for (const n of w.maybe) {
    if (!n.isConnected || n === el || n === document.body || n === document.documentElement || own && own.contains(n) || inside(n, w.added) || inside(n, w.maybe)) continue;
    if (!shownBox(n) || inInvisible(n)) {
      if (!printed.has(n) || hidden.has(n)) continue;
      hidden.add(n);
      const r = roleOf(n);
      if (!n.contains(el) && (acting.has(r) || boxRoles.has(r))) lines.push('gone: ' + r + ' ' + quote(nameOf(n, r), 60)); else went.push(n);
      continue;
    }
    if (!printed.has(n) || hidden.delete(n)) { if (printedAny()) { walked.add(n); freshLines(n, top); } continue; }
    const r = entries.has(n) ? roleNow(n) : roleOf(n);
    if (!acting.has(r) || told.has(n) || !entries.has(n)) continue;
    const before = entries.get(n).states, now = statesOf(n, r);
    if (before === now) continue;
    entries.get(n).states = now;
    told.add(n);
    top.kids.push({ s: '~ ' + r + ' ' + quote(nameOf(n, r)) + ' [ref=' + refOf(n, r, nameOf(n, r)) + '] ' + (now || 'no longer ' + before), kids: [], depth: 1 });
  }
  for (const n of w.veiled) {
    if (!n.isConnected || !seen(n) || walked.has(n) || inside(n, walked) || own && own.contains(n)) continue;
    if (n.getBoundingClientRect().height < 2 || !clean(n.textContent) && !n.querySelector(actingSelector)) continue;
    freshLines(n, top);
  }
  for (const n of w.texts) {
    if (!n.isConnected || n === el || inside(n, w.added) || n === document.body) continue;
    if (n.tagName === 'TITLE' || !shownBox(n) || inInvisible(n)) continue;
    const live = n.closest('[role=alert],[role=status],output');
    const t = textOf(n, { max: 300 });
    const r = entries.has(n) ? roleNow(n) : roleOf(n);
    if (!t) continue;
    if (spoken && el.contains(n) || own && own.contains(n)) continue;
    const e = entries.get(n);
    top.kids.push({ s: '~ ' + (live ? roleOf(live) + ' ' : r && acting.has(r) ? r + ' ' : '') + quote(t, 160) + (e ? ' [ref=' + refOf(n, r, nameOf(n, r)) + ']' : ''), kids: [], depth: 1 });
  }
  for (const [n, was] of w.fields) {
    if (n === el || told.has(n) || !n.isConnected || heldBy(n) === was || own && own.contains(n) || !seen(stand(n)) || shrunk(n)) continue;
    const r = roleNow(n), name = nameOf(n, r), st = statesOf(n, r);
    told.add(n);
    top.kids.push({ s: '~ ' + r + ' ' + quote(name) + ' [ref=' + refOf(n, r, name) + '] ' + (st || 'empty now'), kids: [], depth: 1 });
    entries.get(n).states = st;
    if (top.kids.length > 12) break;
  }
  const gone = [];
  for (const n of w.removed) {
    if (n.isConnected || !printed.has(n) || gone.length >= 3) continue;
    const r = entries.has(n) ? entries.get(n).role : roleOf(n);
    if (!r && clean(n.textContent) && !inside(n, new Set(w.removed))) { gone.push(quote(n.textContent.slice(0, 200), 40)); continue; }
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
    if (el && (!el.isConnected || !shownBox(el) || inInvisible(el))) { lines.push('gone: ' + describe(el)); hidden.add(el); }
    for (const n of [...w.removed.filter(n => !n.isConnected && printed.has(n)), ...went]) {
      const t = clean(n.textContent);
      if (t && lines.length < 3) lines.push('gone: ' + quote(t, 60));
    }
    for (const [n, words] of w.lost) if (n.isConnected && lines.length < 3 && !clean(n.textContent) && shownBox(n) && !inInvisible(n)) lines.push('gone: ' + quote(words.slice(0, 200), 60));
  }
  if (el && w.focus !== focusNow() && focusNow() !== el && focusNow() && focusNow() !== document.body) {
    const f = focusNow(), r = roleNow(f);
    if (acting.has(r) && !told.has(f)) lines.push('focus is on ' + r + ' ' + quote(nameOf(f, r), 60) + ' [ref=' + refOf(f, r, nameOf(f, r)) + ']');
  }
  if (w.printed) lines.push('the page asked for the print dialog, which is not shown; browser_pdf saves the page');
  if (!lines.length && !a.echoed) lines.push(...restyled(w));
  if (scrolledBy(w) && Math.abs(scrollY - w.at[1]) > 20 && !a.echoed) lines.push('the page scrolled: ' + Math.round(scrollY) + ' px above, ' + Math.max(0, Math.round(scroller().scrollHeight - scrollY - innerHeight)) + ' px below');
  if (document.title !== w.title) lines.push('title now ' + quote(document.title));
  return out;
}

const hidden = new WeakSet(); // nodes that were printed and then hidden

// restyled tells of classes that came and went, where nothing else tells what a deed did.
function restyled(w) {
  const said = new Map();
  for (const [n, was] of w.classes) {
    if (!n.isConnected || !shownBox(n) || n === document.body || n === document.documentElement) continue;
    const before = new Set(was.split(/\s+/)), now = new Set(n.classList);
    const word = [...now].filter(c => !before.has(c) && !/hover|focus|ripple/i.test(c)).map(c => '+' + c).concat([...before].filter(c => c && !now.has(c) && !/hover|focus|ripple/i.test(c)).map(c => '-' + c)).slice(0, 2).join(' ');
    const name = cut(safe(clean(n.textContent)), 30) || (acting.has(roleNow(n)) ? nameOf(n, roleNow(n)) : '');
    if (word && name && n.textContent.length < 200) said.set(word, [...(said.get(word) || []), name]);
  }
  return [...said].slice(0, 3).map(([word, names]) => 'class ' + safe(word) + ' on ' + names.slice(0, 8).map(n => quote(n, 30)).join(', ') + (names.length > 8 ? ' and ' + (names.length - 8) + ' more' : ''));
}

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
