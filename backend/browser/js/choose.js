// Choosing: from native lists, from lists with roles, and from lists made of
// nothing but boxes that appear when something is pressed.

const optionRoles = '[role=option],[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox],[role=treeitem]';

// labelOf is what a native option is called where another has the same name: its group and its value.
const groupOf = o => o.parentElement.tagName === 'OPTGROUP' ? clean(o.parentElement.label) : '';
function optionNames(options) {
  const seenOnce = new Map();
  const label = o => clean(o.label || o.value);
  for (const o of options) seenOnce.set(label(o), (seenOnce.get(label(o)) || 0) + 1);
  return o => cut(safe(label(o)), 30) + (seenOnce.get(label(o)) > 1 ? ' (value ' + quote(o.value, 20) + ')' : '') + (o.disabled || o.parentElement.disabled ? ' (disabled)' : '');
}

// optionList writes the options of a native list, by their groups.
function optionList(options, max = 10) {
  const name = optionNames(options);
  let out = '', group = '', n = 0;
  for (const o of options) {
    if (n === max) break;
    if (!clean(o.label) && !o.value) continue;
    const g = o.tagName === 'OPTION' && o.parentElement ? groupOf(o) : '';
    out += (n++ ? ' | ' : '') + (g && g !== group ? cut(safe(g), 30) + ': ' : '') + name(o);
    group = g;
  }
  return out + (options.length > max ? ' … ' + (options.length - max) + ' more' : '');
}

// choose sets a native list by label or value; other roles are answered with their kind.
function choose(a) {
  let el = target(a);
  if (el.tagName === 'OPTION') el = el.closest('select') || el;
  if (el.tagName === 'LABEL' && el.control) el = el.control;
  if (el.tagName !== 'SELECT') {
    const inside = [...el.querySelectorAll('select')].filter(n => n.checkVisibility() && !shrunk(n));
    if (inside.length === 1) el = inside[0];
  }
  const [ref, role] = refFor(el);
  const name = cut(safe(nameOf(el, role)), 80);
  if (disabledNow(el)) throw fail('not_interactable', describe(el) + ' is disabled');
  if (el.list && el.list.options.length) {
    const values = a.values.map(v => { const o = matching([...el.list.options], v, el); return o.value; });
    return { kind: 'typed', ref, role, name, value: values[0] };
  }
  fresh = [];
  const edit = !el.readOnly && takesText(el) || !!(role === 'combobox' && el.querySelector('input:not([readonly])'));
  if (el.tagName !== 'SELECT') return { kind: 'custom', ref, role, name, edit };
  const picks = a.values.map(v => {
    const o = matching([...el.options], v, el);
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

// matching finds a native option by its label, then by its value, then by a part of its label.
function matching(options, v, el) {
  const want = clean(v).toLowerCase();
  const label = o => clean(o.label || o.value).toLowerCase();
  const grouped = o => (groupOf(o) + ' / ' + clean(o.label)).toLowerCase();
  let hits = options.filter(o => label(o) === want);
  if (hits.length > 1) throw fail('ambiguous', describe(el) + ' has ' + hits.length + ' options ' + quote(v, 40) + '; give a value instead: ' + hits.map(o => quote(o.value, 40) + (groupOf(o) ? ' in ' + quote(groupOf(o), 40) : '')).join(', '));
  if (!hits.length) hits = options.filter(o => o.value === v);
  if (!hits.length) hits = options.filter(o => grouped(o) === want);
  if (!hits.length) hits = options.filter(o => label(o).includes(want) && want);
  if (hits.length !== 1) throw fail('not_found', describe(el) + ' has ' + (hits.length ? 'several options like ' : 'no option ') + quote(v) + '; it has ' + optionList(hits.length ? hits : options, 40));
  return hits[0];
}

let fresh = []; // what appeared with the last deeds, where lists without roles are found

function appeared() {
  const w = watching;
  if (w) { const l = w.mo.takeRecords(); if (l.length) note(w, l); }
  return [...fresh, ...(w ? [...w.added, ...w.maybe] : [])].filter(n => n.isConnected && n !== document.body && n !== document.documentElement);
}

// optionNow finds a shown option of a hand-made list by its text.
function optionNow(a) {
  const want = clean(a.text).toLowerCase();
  const box = resolve(a.ref);
  if (box.getAttribute('aria-expanded') === 'false' && !a.opened) return { found: '', closed: true };
  const all = optionsFor(box);
  const named = all.map(el => [el, nameOf(el, 'option').toLowerCase()]);
  const hit = named.find(x => x[1] === want) || named.find(x => clean(x[0].textContent).toLowerCase() === want) || named.find(x => x[0].getAttribute('data-value') === a.text) || (f => f.length === 1 && !a.exact ? f[0] : null)(named.filter(x => want && x[1].includes(want)));
  let el = hit && hit[0];
  let plain = [];
  if (!el && !all.length) {
    plain = leaves(box);
    el = plain.find(n => clean(n.textContent).toLowerCase() === want) || null;
    if (!el) { const part = plain.filter(n => want && clean(n.textContent).toLowerCase().includes(want)); if (part.length === 1 && !a.exact) el = part[0]; }
  }
  const options = (all.length ? all.map(n => nameOf(n, 'option')) : plain.map(n => clean(n.textContent))).filter(Boolean);
  if (!el) return { found: '', closed: !options.length, options: options.slice(0, 20).map(n => cut(safe(n), 40)), more: roll(all.length ? all : plain) };
  const on = /^(selected|checked)/.test(statesOf(el, 'option'));
  return { found: refFor(el)[0], already: on && box.getAttribute('aria-multiselectable') === 'true', on, off: disabledNow(el) };
}

// optionsFor lists the shown options that belong to a box: those of the list it
// controls, those in it, those that appeared when it was opened.
function optionsFor(box) {
  const out = [];
  const take = (list, also = '') => { for (const el of [list, ...list.querySelectorAll(optionRoles + also)]) if (el !== box && el.matches(optionRoles + also) && seen(el) && el.getBoundingClientRect().height > 1 && !out.includes(el) && !(also && el.querySelector(optionRoles))) out.push(el); };
  const ids = [box, ...box.querySelectorAll('[aria-controls],[aria-owns]')].flatMap(n => ((n.getAttribute('aria-controls') || '') + ' ' + (n.getAttribute('aria-owns') || '')).split(/\s+/)).filter(Boolean);
  for (const id of ids) { const n = box.getRootNode().getElementById(id); if (n && n !== box && seen(n)) take(n, ',li'); }
  if (!out.length) take(box);
  if (!out.length) for (const root of appeared()) if (shownBox(root)) take(root);
  if (!out.length && box.matches(optionRoles)) { const l = parentOf(box).closest('[role=listbox],[role=menu],[role=tree]'); if (l) take(l); }
  return out;
}

// leaves lists the innermost elements with words in what has appeared.
function leaves(box) {
  const out = new Set();
  for (const root of appeared()) {
    if (!shownBox(root)) continue;
    for (const n of [root, ...root.querySelectorAll('*')]) {
      if (out.size > 400) break;
      if (n === box || box && n.contains(box) && n !== root || skipTags.has(n.tagName) || /^(INPUT|TEXTAREA|SELECT)$/.test(n.tagName)) continue;
      const t = clean(n.textContent);
      if (!t || t.length > 120 || [...n.children].some(k => clean(k.textContent) === t) || !seen(n) || box && box.contains(n) && !box.contains(root)) continue;
      out.add(n);
    }
  }
  return [...out];
}

// roll moves a list with more options below; false at its end.
function roll(options) {
  for (let n = options[0]; n && n !== document.body; n = parentOf(n)) {
    if (n.scrollHeight <= n.clientHeight + 2 || !/auto|scroll/.test(getComputedStyle(n).overflowY)) continue;
    const from = n.scrollTop;
    n.scrollBy({ top: n.clientHeight * 0.8, behavior: 'instant' });
    return n.scrollTop > from;
  }
  return false;
}

// shownBy is what a hand-made list shows as its choice: its value, or the words
// of the box it is in, as long as that holds no other field.
function shownBy(el) {
  const inside = [...el.querySelectorAll('[role=option],[role=treeitem]')].filter(seen);
  if (inside.length) return [...new Set(inside.filter(o => /^(selected|checked)/.test(statesOf(o, 'option'))).map(o => nameOf(o, 'option')))].join(', ');
  const v = valueOf(el);
  if (v && !/^(BUTTON|DIV|SPAN)$/.test(el.tagName)) return v;
  if (!takesText(el)) return paintedText(el) || v;
  let best = el;
  for (let n = el.parentElement, i = 0; n && i < 4; n = n.parentElement, i++) {
    if (n.offsetHeight > 90 || n.querySelectorAll('input:not([type=hidden]),select,textarea').length > 2) break;
    best = n;
  }
  return best === el ? v : paintedText(best);
}

// paintedText is what a person sees of an element's words, without those meant for readers of the screen.
function paintedText(el) {
  const w = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  const out = [];
  for (let n = w.nextNode(), i = 0; n && i < 200; n = w.nextNode(), i++) if (n.data.trim() && !skipTags.has(n.parentElement.tagName) && !n.parentElement.closest('[aria-live],[role=log]') && seenText(n.parentElement)) out.push(n.data);
  return clean(out.join(' '));
}

// nodeOf is the node of an id under whatever name: a choice may give a widget another.
const nodeOf = id => { const k = byId.get(id), el = k && k.node.deref(); return el && el.isConnected ? el : null; };

// optionAfter tells whether an option that was on is off now, and whether the list is still open.
function optionAfter(a) {
  const known = byId.get(a.option), el = known && known.node.deref();
  const box = nodeOf(a.ref) || document.body;
  return { dropped: !!el && el.isConnected && seen(el) && el.hasAttribute('aria-selected') && !/^(selected|checked)/.test(statesOf(el, 'option')), open: box.getAttribute('aria-expanded') === 'true' && !box.closest('dialog,[role=dialog],[role=alertdialog]') };
}

// searches is true for a field whose suggestions are only that: choosing one would search at once.
const searches = el => el.type === 'search' || el.tagName === 'TEXTAREA' || el.enterKeyHint === 'search' || !!el.closest('[role=search],search');
