// The walk: from a node to lines of text, bounded while it goes.

const skipTags = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'TITLE', 'PARAM', 'SOURCE', 'TRACK', 'BASE', 'COL', 'COLGROUP']);
const boxRoles = new Set(['navigation', 'main', 'banner', 'contentinfo', 'complementary', 'region', 'form', 'search', 'dialog', 'alertdialog',
  'article', 'list', 'group', 'toolbar', 'menu', 'menubar', 'tablist', 'tabpanel', 'tree', 'radiogroup', 'figure', 'feed', 'alert', 'status', 'log',
  'listitem', 'rowgroup', 'listbox', 'application', 'definition', 'term', 'note', 'marquee', 'timer', 'tooltip']);
const leafRoles = new Set(['button', 'textbox', 'searchbox', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'combobox', 'option', 'tab',
  'menuitem', 'menuitemcheckbox', 'menuitemradio', 'progressbar', 'meter', 'scrollbar', 'link', 'heading', 'img', 'canvas', 'video', 'audio', 'embed']);
const droppable = new Set(['group', 'region', 'list', 'article', 'tabpanel', 'figure']); // named places a thing can be dragged to
const ascii = /^[\x00-\x7f]*$/;
const weight = s => ascii.test(s) ? s.length : new TextEncoder().encode(s).length;

let walkState; // of the walk under way

const lineBox = el => ({ s: '', kids: [], el, cut: 0, more: 0 });

function put(out, s, el) {
  const l = lineBox(el);
  if (el && walkState.view === 'visual') s += seenAs(el, s);
  l.s = s;
  out.kids.push(l);
  const b = weight(s) + 3 + out.depth * 2;
  l.depth = out.depth + 1;
  walkState.lines++;
  if (el) for (let n = el; n && !printed.has(n); n = parentOf(n)) printed.add(n);
  return [l, b];
}

const late = () => (++walkState.count & 255) === 0 && !walkState.late && performance.now() > walkState.until && (walkState.late = true);

// flow walks the children of el: text gathers into lines, the rest becomes lines
// of its own. It returns the bytes written, as far as they count for el. A part
// left for later says where to begin and how many lines and bytes it may fill.
function flow(el, out, para, part) {
  const own = !para, w = walkState;
  para = para || { text: '', links: [], el };
  let used = 0;
  const limit = part ? part.bytes : w.budget, most = part ? part.lines : Infinity;
  const kids = el.tagName === 'SLOT' && kidsOf(el), slotted = Array.isArray(kids);
  let last = null, i = 0, items = 0;
  for (let k = part ? part.from : slotted ? kids[0] : (shadowOf(el) || el).firstChild; k; k = slotted ? kids[++i] : k.nextSibling) {
    if (k.nodeType === 3) { if (w.prose && !w.before) para.text += k.data; continue; }
    if (k.nodeType !== 1 || skipTags.has(k.tagName)) continue;
    late();
    const long = items >= fewItems && w.long && !w.before && out.kids.length >= fewItems && (itemLists.has(el.tagName) || blocks.has(k.tagName) && !para.links.length && !para.text.trim());
    if (w.late || used > limit || long || out.kids.length >= most) {
      used += flush(out, para);
      let n = 0, names = [];
      for (let r = k; r; r = slotted ? kids[++i] : r.nextElementSibling) if (r.nodeType === 1 && !skipTags.has(r.tagName)) { n++; if (names.length < 2) names.push(cut(clean(r.textContent.slice(0, 200)), 24)); }
      if (last) out.kids.push({ s: '', kids: [], cutAfter: last, cont: w.root, more: n, names, depth: out.depth + 1 });
      if (long) w.long.push({ el, out, from: k, cut: out.kids.at(-1) });
      return used;
    }
    items++;
    if (w.before) { // the place to go on from lies ahead: only what holds it is entered
      if (k === w.after) w.before = false;
      else if (w.path.has(k)) { used += Math.min(flow(k, out), limit / 8); last = k; }
      continue;
    }
    if (saysOnly(k)) { if (w.prose) para.text += k.firstChild.data; } else used += Math.min(walk(k, out, para), limit / 8);
    last = k;
  }
  if (own) used += flush(out, para);
  return used;
}

// saysOnly is true for words that are set apart by nothing but their look.
const looks = new Set(['EM', 'STRONG', 'B', 'I', 'U', 'S', 'SMALL', 'CODE', 'SUB', 'SUP', 'MARK', 'CITE', 'VAR', 'KBD']);
function saysOnly(k) {
  if (!looks.has(k.tagName) || k.hasAttributes()) return false;
  const only = k.firstChild;
  return !!only && only.nodeType === 3 && !only.nextSibling && only.length > 6 && k.checkVisibility(visibly) && !heardOn.has(k) && getComputedStyle(k).cursor !== 'pointer';
}

// Long lists and long runs of blocks are walked in two goes: what lies behind
// the first few only as far as there is room to show it.
const fewItems = 16;
const itemLists = new Set(['UL', 'OL', 'MENU']);
const blocks = new Set(['P', 'DIV', 'SECTION', 'ARTICLE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'UL', 'OL', 'DL', 'TABLE', 'FIGURE', 'BLOCKQUOTE', 'PRE', 'DETAILS', 'FORM', 'FIELDSET', 'HR']);

// goOn walks the rest of what was left, unless it would be cut again.
function goOn(top, budget) {
  const left = (walkState.long || []).filter(({ out, cut }) => out.kids.includes(cut));
  walkState.long = null;
  if (!left.length) return;
  const cap = fit(top, budget) || roomFor(left, budget - measure(top, 0));
  if (cap <= fewItems) return;
  for (const { el, out, from, cut } of left) {
    const at = out.kids.indexOf(cut);
    if (walkState.late || at >= cap + 2) continue;
    const rest = { s: '', kids: [], depth: out.depth, el: out.el };
    flow(el, rest, undefined, { from, bytes: budget, lines: cap + 2 - at }); // two beyond are named
    out.kids.splice(at, 1, ...rest.kids);
  }
}

// roomFor guesses how many lines of each list will fit if what is left of it is
// like what was seen, and a quarter more.
function roomFor(left, bytes) {
  let n = 0;
  for (let open = left.map(({ out, cut }) => ({ each: measure(out, 0) / out.kids.length, more: cut.more })); open.length && bytes > 0; n++) {
    for (const l of open) bytes -= l.each;
    open = open.filter(l => --l.more > 0);
    if (!open.length) return Infinity;
  }
  return Math.ceil(n * 1.25) + fewItems;
}

function flush(out, para) {
  const text = clean(para.text);
  const links = para.links;
  para.text = ''; para.links = [];
  if (!text && !links.length) return 0;
  let used = 0;
  let covered = 0;
  for (const l of links) covered += l.name.length;
  const bare = links.length ? text.replace(/[\s|·•,;/>‹›«»\-–—:()\[\].]/g, '').length : +/[^\s|·•,;/>‹›«»\-–—:()\[\].]/.test(text);
  let into = out;
  if (text && (covered < bare * 0.75) && walkState.view !== 'controls' && seenText(para.el, para.style)) {
    const max = walkState.view === 'auto' ? 420 : 4000;
    const said = cut(safe(text), max);
    const [l, b] = put(out, walkState.view === 'visual' && para.el ? 'text ' + quote(said, max) + ' [ref=' + refOf(para.el, 'text', '') + ']' : said, para.el);
    if (text.length > max) l.s += ' (+' + (text.length - max) + ' characters)';
    used += b;
    into = l;
  }
  for (const l of links) used += putControl(into, l.el, l.role, l.name)[1];
  return used;
}

// seenText is false for text no person can see: nearly no box, see-through, left of or above the page.
function seenText(el, style) {
  if (!el || el.nodeType !== 1) return true;
  let n = el;
  while (!n.checkVisibility(seenThrough)) {
    if (getComputedStyle(n).display !== 'contents') return false;
    n = parentOf(n);
    if (!n) return true;
  }
  const s = n === el && style || getComputedStyle(n);
  if (s.fontSize === '0px') return false;
  const r = n.getBoundingClientRect();
  if ((r.width <= 1 || r.height <= 1) && s.overflow !== 'visible') return false;
  if (r.width && (r.right + scrollX < 0 || r.bottom + scrollY < 0)) return false;
  if (parseFloat(s.textIndent) < -900) return false;
  return true;
}

function putControl(out, el, role, name) {
  const st = statesOf(el, role);
  const ref = refOf(el, role, name);
  entries.get(el).states = st;
  const plain = !name && (role === 'clickable' || role === 'button' || role === 'link' || role === 'gridcell');
  const look = plain ? wordOf(el) || lookOf(el) : '';
  let s = role + (name || look ? ' ' + quote(name || look, walkState.view === 'full' ? 200 : 100) : '') + ' [ref=' + ref + ']' + (st ? ' ' + st : '');
  if (role === 'link') { const h = hrefOf(el, name); if (h && h !== name) s += ' → ' + h; }
  const r = walkState.covers ? el.getBoundingClientRect() : null;
  if (r && r.width && (r.right + scrollX <= 0 || r.bottom + scrollY <= 0)) s += ' offscreen';
  // What lies on top is slow to ask on large pages, so where nothing was covered
  // for a while only every eighth is asked.
  if (walkState.covers > 0 && !drawnIn.has(el) && (walkState.clear < 12 || walkState.covers-- % 8 === 0)) {
    if (coveredNow(el, r)) { s += ' covered'; walkState.clear = 0; } else walkState.clear++;
  }
  if (plain && walkState.view !== 'visual') s += boxOf(el);
  if (walkState.marks) walkState.marks.push(el);
  return put(out, s, el);
}

// heardOn holds the nodes that listen to the mouse, told from outside: true for
// those that wait for a press, false for those that only watch it pass.
const heardOn = new WeakMap();
function listens(list) {
  let news = 0;
  for (let i = 0, n = list.length / 2; i < n; i++) {
    const el = list[i];
    if (!(el instanceof Element) || el === document.body || el === document.documentElement) continue;
    heardOn.set(el, list[n + i]);
    news++;
  }
  return news;
}

// hears is true for a node that acts because it listens. One that listens for
// what is in it tells nothing of itself: a root, a list that can be sorted.
function hears(el) {
  const press = heardOn.get(el);
  if (press === undefined) return false;
  const inside = el.querySelectorAll(actingSelector).length;
  if (press) return inside < 4 && el.querySelectorAll('*').length < 60 && !delegates(el);
  if (inside || el.textContent.length > 200) return false;
  for (const k of el.getElementsByTagName('*')) if (heardOn.has(k)) return false;
  return true;
}

// delegates is true for a node that listens on behalf of like children.
function delegates(el) {
  if (!heardOn.get(el)) return false;
  while (el.children.length === 1) el = el.firstElementChild; // boxes around the list
  if (el.children.length < 2 || el.children.length > 200) return false;
  let like = 0;
  const first = el.firstElementChild;
  for (const k of el.children) if (k.tagName === first.tagName && !heardOn.has(k)) like++;
  const alikeByClass = first.className && [...el.children].every(k => k.className === first.className);
  return like === el.children.length && (like > 3 || alikeByClass || /^(UL|OL|MENU|DL|TBODY|TR)$/.test(el.tagName));
}

// opensBelow is true for an item with a list in it that is hidden now.
const subList = n => { const t = n.tagName; if (t === 'UL' || t === 'OL' || t === 'MENU') return true; const r = n.getAttribute('role'); return r === 'menu' || r === 'listbox'; };
const noLists = [];
function subLists(el) {
  if (el.childElementCount > 5) return noLists;
  let out = noLists;
  for (let k = el.firstElementChild; k; k = k.nextElementSibling) {
    if (k.tagName === 'A' || k.tagName === 'BUTTON') return noLists;
    if (subList(k) && k.firstElementChild) { if (out === noLists) out = []; out.push(k); }
  }
  return out;
}
const opensBelow = el => subLists(el).some(k => !seen(k));

// clickableSelf tells whether a node without a role acts by itself.
function clickableSelf(el, style) {
  if (walkState?.editors?.size && [...walkState.editors.keys()].some(b => el.contains(b))) return false; // the box around an editor
  if (el === document.body || el === document.documentElement) return false;
  if (hears(el)) return true;
  const up = el.parentElement;
  if (up && heardOn.get(up) && delegates(up) && !el.querySelector(actingSelector)) return true;
  if (el.tagName === 'LABEL') return !el.control && style.cursor === 'pointer';
  if (el.firstElementChild && subLists(el).length && (opensBelow(el) || entries.get(el)?.role === 'clickable')) return true;
  if (el.hasAttributes()) {
    if (el.hasAttribute('onclick') || el.hasAttribute('ondblclick') || el.draggable && el.tagName !== 'IMG' && el.tagName !== 'A') return true;
    const ti = el.getAttribute('tabindex');
    if (ti !== null && +ti >= 0 && !scrolls(el)) return true;
  }
  const cursor = style.cursor;
  if (cursor === 'auto' || !/^(pointer|grab|move|.*-resize)$/.test(cursor)) return false;
  const p = parentOf(el);
  return !p || getComputedStyle(p).cursor !== cursor;
}
const scrolls = el => el.scrollHeight > el.clientHeight + 4 && /auto|scroll/.test(getComputedStyle(el).overflowY);

// walk writes the lines of one element and what is in it.
function walk(el, out, para) {
  const plain = el.checkVisibility(visibly); // asked natively: styles are slow to read as words
  if (!plain && !el.checkVisibility()) {
    const d = getComputedStyle(el).display;
    if (d === 'contents') return flow(el, out, para && !shadowOf(el) ? para : undefined);
    return hiddenChoice(el, out);
  }
  const tag = el.tagName;
  if (tag === 'BR') { para.text += ' '; return 0; }
  const only = el.firstChild;
  if (only && only.nodeType === 3 && !only.nextSibling && only.length < 7 && /^\s*\d+\s*$/.test(only.data) && el.closest('[aria-hidden=true]')) return 0; // the number of a line in an editor
  if (el.inert) {
    const says = clean(el.textContent.slice(0, 200));
    return says ? flush(out, para) + put(out, '… out of reach: ' + cut(safe(says), 40), el)[1] : 0;
  }
  if (walkState.editors.has(el)) return flush(out, para) + editor(el, out);
  if (tag === 'svg') return flush(out, para) + drawing(el, out);
  const style = getComputedStyle(el);
  const visible = plain || style.visibility === 'visible';
  let role = roleOf(el);
  const display = style.display;
  const inline = display.startsWith('inline') || display === 'contents' || display.startsWith('ruby');

  if ((tag === 'SELECT' || tag === 'TEXTAREA' || tag === 'INPUT' && takesText(el)) && shrunk(el)) return 0;
  if (!visible) { // children may be seen again
    return el.firstElementChild ? flow(el, out) : 0;
  }
  if (tag === 'LABEL' && el.control && el.control !== el) return flush(out, para) + labelled(el, out);
  if (tag === 'OPTION' || tag === 'OPTGROUP' || tag === 'LEGEND' && el.parentElement.tagName === 'FIELDSET' || tag === 'CAPTION' || tag === 'FIGCAPTION' && !el.querySelector(actingSelector)) return 0;

  if (tag === 'IFRAME' || tag === 'FRAME') {
    let b = flush(out, para);
    const r = el.getBoundingClientRect();
    if (r.width < 4 || r.height < 4) return b;
    const n = frameNumbers.get(el);
    const name = nameOf(el, 'iframe') || el.name || '';
    const [l, c] = put(out, 'iframe' + (name ? ' ' + quote(name, 60) : ''), el);
    if (n) l.frame = n;
    return b + c;
  }
  if (role === 'link' && inline && !(el.firstElementChild && el.querySelector('button,input,select,textarea,h1,h2,h3,h4,h5,h6,p,div,ul,table'))) {
    const name = nameOf(el, role);
    const close = walkState.view === 'text' && para.text && para.linkEnd === para.text.length; // links side by side are two words
    para.text += (close || !textOf(el, { plain: true }) ? ' ' : '') + name;
    if (walkState.view === 'text') { para.linkEnd = para.text.length; return 0; }
    para.links.push({ el, role, name });
    return 0;
  }
  if (role === 'table' || role === 'grid' || role === 'treegrid') {
    if (!layoutTable(el)) return flush(out, para) + table(el, out, role);
    role = '';
  } else if (role === 'row' || role === 'rowgroup' || role === 'cell' || role === 'columnheader') role = role === 'row' && el.getAttribute('role') ? 'row' : '';
  if (role === 'list' && style.listStyleType === 'none' && el.childElementCount < 2) role = '';
  if (role === 'row') return flush(out, para) + row(el, out);

  if (role === 'textbox' && !takesText(el) && el.closest('[role=combobox]')) role = ''; // shows the choice, takes none
  if (!acting.has(role) && (role !== 'img' || style.cursor === 'pointer') && role !== 'heading' && role !== 'canvas' && role !== 'gridcell' && clickableSelf(el, style)) {
    const hint = role && role !== 'img' ? role : '';
    if (!boxRoles.has(role) || ['listitem', 'article', 'group', 'region', ''].includes(role)) role = 'clickable';
    else if (hint) role = hint;
  }
  if (role === 'gridcell' && !el.querySelector(actingSelector)) return flush(out, para) + putControl(out, el, role, nameOf(el, role))[1];

  if (leafRoles.has(role) || role === 'clickable' || role === 'treeitem' || role === 'listbox' && tag === 'SELECT') return control(el, out, para, role, style, inline);

  if (tag.includes('-')) suspect(el);
  const boxed = walkState.view === 'visual' && styled(el, style);
  if (!role && inline && !shadowOf(el) && !(boxed && !el.textContent.trim())) return flow(el, out, para);

  let b = flush(out, para);
  if (boxRoles.has(role)) return b + box(el, out, role);
  const hides = walkState.view !== 'text' && el !== document.scrollingElement && el !== document.body && mayScroll(el) && /auto|scroll/.test(style.overflowY) ? scrolledIn(el) : '';
  if (hides) {
    const l = lineBox(el);
    l.depth = out.depth + 1;
    const used = flow(el, l);
    if (!l.kids.length) return b;
    l.s = 'scrollable [ref=' + refOf(el, 'scrollable', '') + '] ' + hides;
    if (walkState.view === 'visual') l.s += seenAs(el, l.s);
    out.kids.push(l);
    return b + used + weight(l.s) + 3;
  }
  if (!role && repeats(el)) return b + box(el, out, 'item');
  if (boxed) {
    const [l, c] = put(out, 'box ' + quote(lookOf(el), 60) + ' [ref=' + refOf(el, 'clickable', nameOf(el, 'clickable')) + ']', el);
    return b + c + flow(el, l);
  }
  const lines = { text: '', links: [], el, style };
  const inside = flow(el, out, lines) + flush(out, lines);
  if (!inside && hosts.has(tag) && el.clientHeight > 4 && el.clientWidth > 4) suspect(el);
  return b + inside;
}

// shrunk is true for a native field that a widget stands for: nothing of it shows, though it is laid out.
function shrunk(el) {
  const s = getComputedStyle(el);
  const clipped = s.position === 'absolute' && (/^rect\((0|1)(px)?,? /.test(s.clip) || /inset\((50|100)%/.test(s.clipPath));
  if (s.opacity === '0' && (el.hidden || el.tabIndex < 0 || el.getAttribute('aria-hidden') === 'true')) return true;
  return clipped || el.offsetWidth <= 2 && el.offsetHeight <= 2;
}

// suspect notes an element that may have a closed shadow root, which only the
// protocol can open. Each is asked about once.
const hosts = new Set(['DIV', 'SPAN', 'SECTION', 'ARTICLE', 'ASIDE', 'MAIN', 'HEADER', 'FOOTER', 'NAV', 'P']);
const asked = new WeakSet();
function suspect(el) {
  if (shadowOf(el) || asked.has(el) || !walkState.suspects || walkState.suspects.length >= 60) return;
  walkState.suspects.push(el);
}

// hiddenChoice offers a native choice that only its label shows.
function hiddenChoice(el, out) {
  if (el.tagName === 'INPUT' && /^(checkbox|radio)$/.test(el.type) && el.labels && el.labels.length && seen(el.labels[0]))
    return putControl(out, el, roleOf(el), nameOf(el))[1];
  return 0;
}

// labelled writes what a label holds beside the words that name its control.
function labelled(el, out) {
  let used = 0;
  for (const k of el.querySelectorAll(actingSelector)) {
    if (k.tagName === 'LABEL') continue;
    const sink = { text: '', links: [], el: k };
    used += k === el.control && !k.checkVisibility() ? hiddenChoice(k, out) : walk(k, out, sink);
    used += flush(out, sink);
  }
  const c = el.control;
  // A label of a control that shows nothing itself, such as a hidden file field.
  const stood = /^(SELECT|TEXTAREA)$/.test(c.tagName) || takesText(c);
  if (stood && (!c.checkVisibility() || shrunk(c))) { if (walkState.prose) used += put(out, textOf(el, { skip: c }), el)[1]; } // it tells what the widget beside it is
  else if (!c.checkVisibility() && (!el.contains(c) || !/^(checkbox|radio)$/.test(c.type))) {
    if (/^(checkbox|radio)$/.test(c.type)) { if (!walkState.lent.has(c)) { walkState.lent.add(c); used += hiddenChoice(c, out); } }
    else used += putControl(out, el, 'clickable', textOf(el))[1];
  }
  return used;
}

function control(el, out, para, role, style, inline) {
  let b = flush(out, para);
  const name = nameOf(el, role);
  if (role === 'heading') {
    if (walkState.view === 'controls' && walkState.budget < 2000) return b + flow(el, out);
    if (!name) return b + flow(el, out);
    const lvl = el.getAttribute('aria-level') || (/^H(\d)/.exec(el.tagName) || [])[1];
    const [l, c] = put(out, 'heading ' + quote(name, 160) + (lvl ? ' level ' + lvl : ''), el);
    return b + c + inner(el, l);
  }
  if (role === 'img') {
    const visual = walkState.view === 'visual';
    if (walkState.view === 'controls' || !name && !visual) return b;
    const r = el.getBoundingClientRect();
    if (r.width < 12 || r.height < 12) return b;
    return b + put(out, 'img ' + quote(name || hintOf(el), 80) + (visual ? ' [ref=' + refOf(el, 'img', name) + ']' : ''), el)[1];
  }
  if (role === 'clickable') {
    const holds = holdsActing(el);
    const text = cut(name, 100);
    if (!text && !holds && el.childElementCount > 8) return b + flow(el, out);
    if (holds && name.length > 200) return b + flow(el, out);
    const [l, c] = putControl(out, el, role, cut(name, 100));
    const open = subLists(el).filter(seen);
    if (open.length) { const sink = { text: '', links: [], el }; return open.reduce((n, k) => n + walk(k, l, sink) + flush(l, sink), b + c); }
    if (name.length <= 100 && !holds && !(heardOn.get(el) && el.childElementCount > 1)) return b + c;
    b += c + (name.length > 100 ? flow(el, l) : inner2(el, l));
    // One control that says the same stands for what is around it.
    if (name && l.kids.length === 1 && !l.kids[0].kids.length && l.kids[0].el && nameOf(l.kids[0].el) === name) { out.kids.pop(); out.kids.push(l.kids[0]); }
    return b;
  }
  const [l, c] = putControl(out, el, role, name);
  b += c;
  if (role === 'textbox' && el.isContentEditable) return b;
  if (role === 'combobox' && el.tagName !== 'INPUT' && el.tagName !== 'SELECT') return b + inner2(el, l);
  if (role === 'treeitem') return b + inner(el, l);
  if (el.tagName === 'CANVAS') return b + inner(el, l);
  if ((role === 'link' || role === 'button' || role === 'option' || role === 'tab' || role === 'menuitem') && el.firstElementChild) {
    if (name.length > 160 && role === 'link') return b + flow(el, l);
    return b + inner(el, l);
  }
  return b;
}

// editor writes an editor that draws its text: its field with that text, then what else is in the box.
function editor(box, out) {
  const field = walkState.editors.get(box);
  walkState.editors.delete(box);
  const role = roleOf(field);
  const [l, b] = putControl(out, field, role, nameOf(field, role));
  let used = b;
  for (const k of box.querySelectorAll(actingSelector)) { // not what listens only: scroll bars, maps of the text
    if (k === field || k.editContext || k.tagName === 'TEXTAREA' || !acting.has(roleOf(k)) || !seen(k)) continue;
    used += putControl(l, k, roleOf(k), nameOf(k))[1];
  }
  return used;
}

// holdsActing is true for what has something to act on in it.
function holdsActing(el) {
  if (el.querySelector(actingSelector)) return true;
  let left = 60;
  for (const k of el.getElementsByTagName('*')) { if (heardOn.has(k)) return true; if (left-- < 0) break; }
  return false;
}

// inner writes only the controls inside an element whose words are told already.
function inner(el, out) {
  if (!el.firstElementChild && !shadowOf(el)) return 0;
  let used = 0;
  const prose = walkState.prose;
  walkState.prose = false;
  const sink = { text: '', links: [], el };
  const collect = n => {
    for (const k of kidsOf(n)) {
      if (k.nodeType !== 1 || skipTags.has(k.tagName) || !shownBox(k) || k.tagName === 'TEXTAREA' && (k.readOnly || unseenBox(k)) || k.editContext) continue;
      const r = roleOf(k);
      if (acting.has(r) || heardOn.has(k) && hears(k) || k.hasAttribute('onclick')) { used += walk(k, out, sink); used += flush(out, sink); } else collect(k);
    }
  };
  collect(el);
  walkState.prose = prose;
  return used;
}

// box writes a container that tells its content apart, unless it holds nothing or one line only.
function box(el, out, role) {
  const l = lineBox(el);
  l.depth = out.depth + 1;
  const named = role === 'item' || role === 'listitem' ? '' : nameOf(el, role);
  const used = flow(el, l);
  if (!l.kids.length && !(named && droppable.has(role) && el.offsetHeight > 16 && el.offsetWidth > 16)) return 0;
  const loud = role === 'dialog' || role === 'alertdialog' || role === 'alert' || role === 'status' || named;
  const lines = count(l);
  if ((role === 'listitem' || role === 'item') && l.kids.length === 1 && !l.kids[0].cutAfter) { out.kids.push(...l.kids); return used; }
  if (!loud && (lines < 2 || ['group', 'article', 'figure', 'rowgroup', 'application', 'definition', 'term', 'note', 'tooltip', 'timer', 'feed', 'log'].includes(role) && lines < 3)) { out.kids.push(...l.kids); return used; }
  const states = statesOf(el, role);
  l.s = role + (named ? ' ' + quote(named, 80) : '') + (role === 'listbox' || named && droppable.has(role) ? ' [ref=' + refOf(el, role, named) + ']' : '') + (states ? ' ' + states : '');
  if (mayScroll(el) && /auto|scroll/.test(getComputedStyle(el).overflowY)) { const h = scrolledIn(el); if (h) l.s += (/\[ref=/.test(l.s) ? '' : ' [ref=' + refOf(el, role, named) + ']') + ' ' + h; }
  if (role === 'status' || role === 'alert') {
    if (l.kids.length === 1 && !l.kids[0].kids.length && !/\[ref=/.test(l.kids[0].s)) { l.s = role + ' ' + quote(l.kids[0].s, 200); l.kids = []; }
  }
  if (walkState.view === 'visual') l.s += seenAs(el, l.s);
  out.kids.push(l);
  return used + weight(l.s) + 3 + out.depth * 2;
}
const count = l => l.kids.reduce((n, k) => n + count(k), l.s ? 1 : 0);

// repeats is true for one of several like siblings that hold a control: a card, a row made of boxes.
function repeats(el) {
  const c = el.className;
  if (!c || typeof c !== 'string' || !el.firstElementChild) return false;
  const alike = n => n && n.tagName === el.tagName && typeof n.className === 'string' && n.className.split(' ')[0] === c.split(' ')[0];
  if (!alike(el.nextElementSibling) && !alike(el.previousElementSibling)) return false;
  return !!el.querySelector(actingSelector);
}
