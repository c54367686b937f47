// What an element is to a reader: role, accessible name, states, visibility.

// Most texts are clean, safe or both already, and telling that is quicker than
// rewriting them.
const alreadyClean = /^(?:[^\s\u00a0]+(?: [^\s\u00a0]+)*)?$/;
const alreadySafe = /^[\n\t -~]*$/;
const alreadyQuotable = /^(?:[!#-[\]-~]+(?: [!#-[\]-~]+)*)?$/;
const clean = s => !s || alreadyClean.test(s) ? s || '' : s.replace(/[\s\u00a0]+/g, ' ').trim();

// safe makes text that no terminal, card or model can be fooled with: control
// and direction marks are shown, zero-width fillers dropped, halves of pairs mended.
const safe = s => alreadySafe.test(s) ? s : s.toWellFormed().replace(/[\u200b\ufeff\u00ad]/g, '')
  .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

const cut = (s, max) => {
  if (s.length <= max) return s;
  let end = max - 1;
  if (/[\ud800-\udbff]/.test(s[end - 1])) end--;
  return s.slice(0, end) + '…';
};
const quote = (s, max = 80) => '"' + (s && alreadyQuotable.test(s) ? cut(s, max) : cut(safe(clean(s)), max).replace(/[\\"]/g, '\\$&')) + '"';

// quoteLines keeps the lines and the indentation of a text.
const quoteLines = (s, max) => '"' + cut(safe(s), max).replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t') + '"';

const inputRoles = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', color: 'button',
  checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox',
};
const tagRoles = {
  BUTTON: 'button', TEXTAREA: 'textbox', OPTION: 'option', NAV: 'navigation', MAIN: 'main', ASIDE: 'complementary',
  ARTICLE: 'article', UL: 'list', OL: 'list', MENU: 'list', LI: 'listitem', DL: 'list', TABLE: 'table', TR: 'row',
  TD: 'cell', TH: 'columnheader', DIALOG: 'dialog', FIELDSET: 'group', DETAILS: 'group', SUMMARY: 'button',
  PROGRESS: 'progressbar', METER: 'meter', OUTPUT: 'status', IFRAME: 'iframe', FRAME: 'iframe', VIDEO: 'video',
  AUDIO: 'audio', CANVAS: 'canvas', H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading',
  H6: 'heading', SEARCH: 'search', FIGURE: 'figure', EMBED: 'embed', OBJECT: 'embed',
};
const acting = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'listbox', 'option', 'checkbox', 'radio',
  'switch', 'slider', 'spinbutton', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'treeitem', 'clickable']);
const actingSelector = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=""],[contenteditable=true],' +
  '[role=button],[role=link],[role=textbox],[role=searchbox],[role=combobox],[role=listbox],[role=option],[role=checkbox],' +
  '[role=radio],[role=switch],[role=slider],[role=spinbutton],[role^=menuitem],[role=tab],[role=treeitem],[tabindex]:not([tabindex^="-"]),[onclick]';

function roleOf(el) {
  const given = el.getAttribute('role');
  if (given) {
    const r = given.trim().split(/\s+/)[0].toLowerCase();
    if (r === 'presentation' || r === 'none') return '';
    if (r && r !== 'generic') return r === 'image' ? 'img' : r;
  }
  const tag = el.tagName;
  switch (tag) {
    case 'A': case 'AREA': return el.hasAttribute('href') ? 'link' : '';
    case 'INPUT': {
      const t = el.type;
      if (t === 'hidden') return '';
      if (el.list && (t === 'text' || t === 'search' || t === 'email' || t === 'url' || t === 'tel')) return 'combobox';
      return inputRoles[t] || 'textbox';
    }
    case 'SELECT': return el.multiple || el.size > 1 ? 'listbox' : 'combobox';
    case 'IMG': return el.getAttribute('alt') === '' ? '' : 'img';
    case 'svg': return 'img';
    case 'a': return el.hasAttribute('href') || el.hasAttribute('xlink:href') ? 'link' : ''; // in a drawing
    case 'HEADER': case 'FOOTER':
      return el.closest('article,section,main,aside,nav') ? '' : tag === 'HEADER' ? 'banner' : 'contentinfo';
    case 'SECTION': return el.hasAttribute('aria-label') || el.hasAttribute('aria-labelledby') ? 'region' : '';
    case 'FORM': return el.hasAttribute('aria-label') || el.hasAttribute('aria-labelledby') ? 'form' : '';
  }
  if (tagRoles[tag]) return tagRoles[tag];
  if (editRoot(el) || el.editContext && tag !== 'CANVAS') return 'textbox';
  return '';
}

// editRoot is true for the element that makes its content editable, not for what is inside.
function editRoot(el) {
  return el.isContentEditable && el !== document.documentElement && !(el.parentElement && el.parentElement !== document.documentElement && el.parentElement.isContentEditable);
}

const rootOf = new WeakMap(); // host -> closed shadow root, told from outside
const shadowOf = el => el.shadowRoot || rootOf.get(el) || null;

// kidsOf iterates the flat tree: what is rendered, not what is written.
function kidsOf(el) {
  const root = shadowOf(el);
  if (root) return root.childNodes;
  if (el.tagName === 'SLOT') { const a = el.assignedNodes(); if (a.length) return a; }
  return el.childNodes;
}
function parentOf(n) {
  if (n.assignedSlot) return n.assignedSlot;
  const p = n.parentNode;
  return !p ? null : p.nodeType === 1 ? p : p.host || null;
}

const shownBox = el => el.checkVisibility() || getComputedStyle(el).display === 'contents';
const visibly = { visibilityProperty: true }, seenThrough = { visibilityProperty: true, opacityProperty: true };
const seen = el => el.checkVisibility(seenThrough);

function hiddenForName(el) {
  if (el.hidden || el.getAttribute('aria-hidden') === 'true') return true;
  if (el.checkVisibility(visibly)) return false;
  const s = getComputedStyle(el);
  return s.display === 'none' || s.visibility !== 'visible';
}

// addsWords is false while no style can put words before or after an element of
// the document: few rules, all readable, none for it. It is looked up once a
// moment, since asking for both styles of each element is slow.
const fewRules = 60;
let addsAt = -Infinity, adds = true;
function addsWords() {
  const now = performance.now();
  if (now - addsAt > 20) { addsAt = now; adds = rulesAdd([...document.styleSheets, ...document.adoptedStyleSheets]); }
  return adds;
}
function rulesAdd(sheets) {
  let left = fewRules;
  const some = rules => {
    for (const r of rules) if (--left < 0 || r.styleSheet && some(r.styleSheet.cssRules) || /:(before|after)/i.test(r.selectorText) || r.cssRules && some(r.cssRules)) return true;
    return false;
  };
  try { return sheets.some(s => some(s.cssRules)); } catch { return true; } // a sheet of another site is closed
}

function pseudo(el, which) {
  if (!addsWords() && el.getRootNode() === document) return '';
  const c = getComputedStyle(el, which).content;
  if (!c || c === 'none' || c === 'normal') return '';
  const alt = c.match(/\/\s*"((?:[^"\\]|\\.)*)"\s*$/);
  if (alt) return alt[1];
  const parts = c.match(/"(?:[^"\\]|\\.)*"/g);
  if (!parts) return '';
  // Private-use letters are glyphs of icon fonts and say nothing.
  return parts.map(p => p.slice(1, -1)).join('').replace(/[\ue000-\uf8ff]/g, '');
}

const nameless = new Set(['text', 'scrollable', 'textbox', 'searchbox', 'combobox', 'listbox', 'slider', 'spinbutton', 'table', 'grid', 'list',
  'navigation', 'main', 'banner', 'contentinfo', 'complementary', 'form', 'search', 'region', 'group', 'dialog', 'alertdialog',
  'article', 'iframe', 'img', 'toolbar', 'menu', 'menubar', 'tablist', 'tabpanel', 'tree', 'radiogroup', 'progressbar', 'meter',
  'canvas', 'video', 'audio', 'figure', 'feed', 'listitem', 'status', 'alert', 'log', 'timer', 'application', 'embed', 'rowgroup']);

// textOf reads what a subtree says, the way a name is made from content.
function textOf(el, opts = {}) {
  const only = el.firstChild;
  if (only && only.nodeType === 3 && !only.nextSibling && !shadowOf(el)) return clean(opts.plain ? only.data : pseudo(el, '::before') + only.data + pseudo(el, '::after'));
  const out = [];
  let size = 0;
  const max = opts.max || 240;
  const visit = (n, top) => {
    if (size > max) return;
    if (n.nodeType === 3) { out.push(n.data); size += n.data.length; return; }
    if (n.nodeType !== 1 || n === opts.skip) return;
    const tag = n.tagName;
    if (tag === 'SCRIPT' || tag === 'STYLE' || tag === 'NOSCRIPT' || tag === 'TEMPLATE') return;
    if (tag === 'BR') { out.push(' '); return; }
    if (!top && !opts.hidden && hiddenForName(n)) return;
    if (!top && opts.lists === false && subList(n)) return;
    if (!top) {
      const label = n.getAttribute('aria-label');
      if (label && label.trim()) { out.push(' ', label, ' '); size += label.length; return; }
      if (tag === 'IMG') { out.push(' ', n.alt, ' '); size += n.alt.length; return; }
      if (tag === 'svg') { const t = n.querySelector(':scope > title'); if (t) out.push(' ', t.textContent, ' '); return; }
      if (tag === 'INPUT' && !/^(button|submit|reset|checkbox|radio|hidden|file|image)$/.test(n.type)) { if (n.type !== 'password') out.push(' ', n.value, ' '); return; }
      if (tag === 'INPUT' && /^(button|submit|reset)$/.test(n.type)) { out.push(' ', n.value, ' '); return; }
      if (tag === 'SELECT') { out.push(' ', n.selectedOptions[0] ? n.selectedOptions[0].label : '', ' '); return; }
      if (tag === 'TEXTAREA') return;
    }
    const block = !top && !/^(inline|contents)/.test(getComputedStyle(n).display);
    if (block) out.push(' ');
    if (!opts.plain) out.push(pseudo(n, '::before'));
    for (const k of kidsOf(n)) visit(k, false);
    if (!opts.plain) out.push(pseudo(n, '::after'));
    if (block) out.push(' ');
  };
  visit(el, true);
  return clean(out.join(''));
}

function nameOf(el, role = roleOf(el)) {
  const by = el.getAttribute('aria-labelledby');
  if (by) {
    const root = el.getRootNode();
    const parts = by.trim().split(/\s+/).map(id => {
      const n = root.getElementById ? root.getElementById(id) : null;
      if (!n) return '';
      if (n === el) return el.getAttribute('aria-label') || ownName(el, role);
      return n.getAttribute('aria-label') || (/^(INPUT|SELECT)$/.test(n.tagName) ? n.value : n.tagName === 'IMG' ? n.alt : textOf(n, { hidden: hiddenForName(n) }));
    });
    const s = clean(parts.join(' '));
    if (s) return s;
  }
  const label = clean(el.getAttribute('aria-label'));
  if (label) return label;
  return ownName(el, role);
}

// mayHaveLabel is false in a document without any label: the browser looks through
// all of it for those of one control.
const mayHaveLabel = el => document.getElementsByTagName('label').length > 0 || el.getRootNode() !== document;

function ownName(el, role) {
  const tag = el.tagName;
  if (tag === 'INPUT' || tag === 'SELECT' || tag === 'TEXTAREA' || tag === 'METER' || tag === 'PROGRESS' || tag === 'OUTPUT' || tag === 'BUTTON') {
    if (tag === 'INPUT' && /^(submit|reset|button)$/.test(el.type)) {
      const v = clean(el.value) || (el.type === 'submit' ? 'Submit' : el.type === 'reset' ? 'Reset' : '');
      if (v) return v;
    }
    if (tag === 'INPUT' && el.type === 'image') { const v = clean(el.alt || el.title || el.value); if (v) return v; }
    const labels = mayHaveLabel(el) ? el.labels : null;
    if (labels && labels.length) {
      const s = clean(Array.from(labels, l => textOf(l, { skip: el })).join(' '));
      if (s) return s;
    }
  }
  let s = '';
  switch (tag) {
    case 'IMG': case 'AREA': s = el.alt || ''; break;
    case 'svg': { const t = el.querySelector(':scope > title'); s = t ? t.textContent : ''; break; }
    case 'FIELDSET': { const l = el.querySelector(':scope > legend'); s = l ? textOf(l) : ''; break; }
    case 'TABLE': s = el.caption ? textOf(el.caption) : ''; break;
    case 'FIGURE': { const c = el.querySelector(':scope > figcaption'); s = c ? textOf(c) : ''; break; }
    case 'DETAILS': { const m = el.querySelector(':scope > summary'); s = m ? textOf(m) : ''; break; }
    case 'OPTION': s = el.label; break;
  }
  s = clean(s);
  if (!s && role && !nameless.has(role)) s = textOf(el, { lists: role !== 'clickable' });
  if (!s && role === 'clickable') s = textOf(el, { lists: false });
  if (!s) s = clean(el.getAttribute('title')) || clean(el.getAttribute('placeholder')) || clean(el.getAttribute('aria-placeholder'));
  if (!s && !(role === 'clickable' && el.querySelectorAll('*').length > 3) && (role === 'button' || role === 'link' || role === 'clickable' || role === 'menuitem' || role === 'tab')) s = hintOf(el);
  return s;
}

// hintOf says something about a control that has no name: the picture's file,
// the target, or the word of a class that names an icon.
function hintOf(el) {
  const t = el.querySelector('svg title, [title], [data-icon], [data-testid]') || el;
  const said = clean(t.getAttribute('title') || t.getAttribute('data-icon') || t.getAttribute('data-testid') || (t.tagName === 'title' ? t.textContent : ''));
  if (said) return said;
  const use = el.querySelector('use');
  if (use) { const h = (use.getAttribute('href') || use.getAttribute('xlink:href') || '').split('#').pop(); if (h) return h; }
  const img = el.tagName === 'IMG' ? el : el.querySelector('img');
  if (img && img.src && !img.src.startsWith('data:')) return decodeURIComponent(img.src.split(/[?#]/)[0].split('/').pop());
  const cursor = getComputedStyle(el).cursor;
  if (/-resize$/.test(cursor)) return cursor;
  const way = /(?:^|[\s_-])((?:[a-z]+[-_])?(?:up|down|next|prev|previous|plus|minus|increase|decrease|close|remove|arrow)(?:[-_]?(?:up|down|left|right|next|prev|month|year))?)(?=\s|$)/i.exec(el.className);
  if (way) return way[1].replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[-_]/g, ' ').toLowerCase();
  for (const n of [el, ...el.querySelectorAll('*')].slice(0, 6)) {
    const c = typeof n.className === 'string' ? n.className : n.className && n.className.baseVal || '';
    // The last such word is the special one: "ui-icon ui-icon-trash".
    const m = [...c.matchAll(/(?:^|[\s_-])(?:icon|fa|glyphicon|bi|mdi)[-_]+([a-z][a-z0-9-]+)/gi)].filter(x => !/^(only|primary|secondary|solid|regular|fw|lg|sm|left|right)$/.test(x[1])).pop();
    if (m) return m[1];
    if (n.id && /^[a-z][a-z_-]{2,24}$/i.test(n.id)) return n.id;
  }
  return '';
}

// wordOf is the word of a class that says what a thing without a name is. Words
// of layout and state say nothing.
const idleWord = /^(active|selected|hover|focus|open|clearfix|container|wrapper|row|col|item|hidden|show|visible|block|inline|flex|grid|js|ng|is|has|ui|btn|button|clickable|default|corner-all|state-default|widget)$/;
function wordOf(el) {
  const c = typeof el.className === 'string' ? el.className : el.className && el.className.baseVal || '';
  const all = c.split(/\s+/).map(w => w.replace(/^(ui|js|btn|is|u|c)-/, '')).filter(w => /^[a-z][a-z-]{2,24}$/i.test(w) && !idleWord.test(w) && !/(^|-)(state|corner|widget|helper)-/.test(w));
  return all.find(w => /(^|-)(handle|thumb|knob|grip|resizer?|splitter)$/.test(w)) || all[0] || '';
}

function valueOf(el, max) {
  if (el.tagName === 'SELECT') return Array.from(el.selectedOptions, o => clean(o.label)).join(', ');
  const drawn = el.tagName === 'TEXTAREA' || el.editContext ? drawnBox(el) : null;
  if (drawn) return drawnLines(drawn, el);
  if ('value' in el && /^(INPUT|TEXTAREA)$/.test(el.tagName)) return el.value;
  if (el.isContentEditable) return linesOf(el, max);
  return el.getAttribute('aria-valuetext') || el.getAttribute('aria-valuenow') || '';
}

const canBeDisabled = new Set(['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'OPTION', 'OPTGROUP', 'FIELDSET']);
const disabledNow = el => (canBeDisabled.has(el.tagName) || el.tagName.includes('-')) && el.matches(':disabled') || !!el.closest('[aria-disabled=true]');

// stateWord is the state that only a class tells, as hand-made widgets have it.
const classed = new Set(['clickable', 'button', 'option', 'tab', 'gridcell', 'menuitem', 'link']);
function stateWord(el) {
  if (el.hasAttribute('class')) for (const c of el.classList) {
    const m = /^(?:[a-z0-9]+[-_]+)*(active|selected|checked|disabled)$|^(?:is[-_])?(current|today|on)$/i.exec(c);
    if (m) return (m[1] || m[2]).toLowerCase();
  }
  return '';
}

function statesOf(el, role) {
  const s = [];
  const has = el.getAttributeNames().some(n => n.startsWith('aria-'));
  const aria = n => has ? el.getAttribute('aria-' + n) : null;
  if (disabledNow(el)) s.push('disabled');
  const tag = el.tagName, input = tag === 'INPUT';
  if (role === 'checkbox' || role === 'radio' || role === 'switch' || role === 'menuitemcheckbox' || role === 'menuitemradio') {
    const on = input ? (el.indeterminate ? 'mixed' : el.checked) : aria('checked');
    if (on === 'mixed') s.push('mixed'); else if (on === true || on === 'true') s.push('checked');
  }
  if (aria('expanded') === 'true' || tag === 'SUMMARY' && el.parentElement.open) s.push('expanded');
  else if (aria('expanded') === 'false' || tag === 'SUMMARY') s.push('collapsed');
  if (aria('selected') === 'true' || tag === 'OPTION' && el.selected) s.push('selected');
  if (aria('pressed') === 'true') s.push('pressed');
  if (role === 'clickable' && subLists(el).length) s.push(opensBelow(el) ? 'collapsed' : 'expanded');
  if (!s.length && classed.has(role)) { const w = stateWord(el); if (w) s.push(w); }
  if (aria('current') && aria('current') !== 'false') s.push('current');
  if (el.required || aria('required') === 'true') s.push('required');
  if (aria('invalid') === 'true' || input && el.value && el.willValidate && !el.validity.valid) s.push('invalid' + (el.validationMessage ? ' ' + quote(el.validationMessage) : ''));
  if (role === 'textbox' || role === 'searchbox' || role === 'combobox' || role === 'spinbutton' || role === 'slider' || role === 'listbox' || input) {
    if (el.readOnly || aria('readonly') === 'true') s.push('readonly');
    if (tag === 'TEXTAREA' || aria('multiline') === 'true') s.push('multiline');
    if (input && !/^(text|search|number|range|checkbox|radio|submit|button|reset|image)$/.test(el.type)) s.push(el.type);
    if (input && el.type === 'file') { if (el.files.length) s.push('value=' + quote(Array.from(el.files, f => f.name).join(', '))); }
    else if (input && /^(checkbox|radio|submit|button|reset|image)$/.test(el.type)) { /* the name says it */ }
    else {
      const whole = walkState && (walkState.root === el || walkState.view === 'full'); // asked for by itself
      const max = whole ? Math.max(200, Math.round(walkState.budget * 0.9)) : 200;
      let v = tag === 'SELECT' && !el.multiple && el.value === '' ? '' : valueOf(el, whole ? 20000 : 2000); // "Choose…" is no choice
      if (!v && role === 'combobox' && tag !== 'SELECT' && !takesText(el)) { v = shownBy(el); if (v === nameOf(el, role)) v = ''; }
      if (v) s.push('value=' + (el.type === 'password' ? '"' + '•'.repeat(Math.min(v.length, 12)) + '"' : input ? quote(v, 200) : quoteLines(v, max)));
      else if (el.placeholder && nameOf(el, role) !== clean(el.placeholder)) s.push('placeholder=' + quote(el.placeholder, 40));
    }
    if (role === 'slider' && (el.min || aria('valuemin'))) s.push('range ' + (el.min || aria('valuemin')) + '..' + (el.max || aria('valuemax')));
  } else if (role === 'clickable' && aria('valuenow')) {
    s.push('value=' + quote(aria('valuetext') || aria('valuenow')));
  } else if (role === 'progressbar' || role === 'meter') {
    const v = el.getAttribute('value') || aria('valuetext') || aria('valuenow');
    if (v) s.push('value=' + quote(v));
  }
  if (input && el.list) { const o = optionList(el.list.options); if (o) s.push('suggests: ' + o); }
  if (tag === 'SELECT') {
    const o = optionList(el.options);
    if (o) s.push('options: ' + o);
  }
  if (tag === 'TEXTAREA' || tag === 'SELECT') { const p = scrolledIn(el); if (p) s.push(p); }
  if (focusNow() === el && el !== document.body) {
    s.push('focused');
    if (/^(INPUT|TEXTAREA)$/.test(tag) && el.type !== 'password' && el.selectionStart < el.selectionEnd) s.push('selected text ' + quote(el.value.slice(el.selectionStart, el.selectionEnd), 60));
  }
  return s.join(' ');
}

const hiddenIn = el => el.scrollHeight - el.clientHeight;
const mayScroll = el => hiddenIn(el) >= 24;

// scrolledIn tells how much of a box that scrolls lies above and below what
// shows; "" for one that hides next to nothing.
function scrolledIn(el) {
  if (!mayScroll(el) || el.clientHeight < 20) return '';
  return '(' + Math.round(el.scrollTop) + ' px above, ' + Math.max(0, Math.round(hiddenIn(el) - el.scrollTop)) + ' px below)';
}

function focusNow() {
  let a = document.activeElement;
  while (a && shadowOf(a) && shadowOf(a).activeElement) a = shadowOf(a).activeElement;
  return a;
}

let homeIs = { href: '' }; // where the page is, taken apart

// hrefOf shortens a link's target to what distinguishes it; "" when it tells nothing new.
function hrefOf(el, name) {
  const raw = el.getAttribute('href');
  if (raw && raw[0] === '#' && !document.getElementsByTagName('base').length) return ''; // a place on this page
  const full = el.href, here = location.href;
  if (here !== homeIs.href) homeIs = { href: here, origin: location.origin + '/', path: location.pathname + location.search };
  if (typeof full === 'string' && full.startsWith(homeIs.origin)) {
    const hash = full.indexOf('#'), p = full.slice(homeIs.origin.length - 1, hash < 0 ? undefined : hash);
    return p === homeIs.path ? '' : p === '/' ? p : cut(safe(p), 60);
  }
  let u;
  try { u = new URL(el.href.baseVal ?? el.href, document.baseURI); } catch { return ''; }
  if (u.protocol === 'javascript:') return '';
  if (u.origin === location.origin && u.pathname === location.pathname && u.search === location.search) return '';
  if (u.origin === location.origin) return u.pathname + u.search === '/' ? '/' : cut(safe(u.pathname + u.search), 60);
  if (u.protocol === 'mailto:' || u.protocol === 'tel:') return name.includes(u.pathname) ? '' : cut(safe(el.href), 60);
  return cut(safe(u.host + (u.pathname === '/' ? '' : u.pathname)), 60);
}
