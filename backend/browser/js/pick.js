// Picking: a stretch of text, the way a person selects it.

let picked = null; // the range or the field of the pick under way

// letters lists the characters of a subtree as they read, spaces squeezed, each
// with the place it stands at.
function letters(root) {
  const out = [];
  let s = '', left = 200000;
  const visit = n => {
    for (const k of kidsOf(n)) {
      if (left < 0) return;
      if (k.nodeType === 3) {
        if (!seenText(k.parentElement)) continue;
        for (let i = 0; i < k.data.length && left-- > 0; i++) {
          const c = /[\s\u00a0]/.test(k.data[i]) ? ' ' : k.data[i];
          if (c === ' ' && (!s || s.endsWith(' '))) continue;
          s += c;
          out.push([k, i]);
        }
      } else if (k.nodeType === 1 && !skipTags.has(k.tagName) && shownBox(k)) {
        const block = !/^(inline|contents)/.test(getComputedStyle(k).display) || k.tagName === 'BR';
        if (block && s && !s.endsWith(' ')) { s += ' '; out.push(null); }
        visit(k);
        if (block && s && !s.endsWith(' ')) { s += ' '; out.push(null); }
      }
    }
  };
  visit(root);
  return { s, at: out };
}

// stretch finds the part of a text that is meant: given by its words, by the
// numbers of its first and last character, or all of it.
function stretch(a, s, inWhat) {
  const end = s.trimEnd().length;
  if (a.text) {
    const want = clean(a.text), hay = a.raw ? s : s.toLowerCase(), needle = a.raw ? a.text : want.toLowerCase();
    const i = hay.indexOf(needle);
    if (i < 0) throw fail('not_found', inWhat + ' does not say ' + quote(a.text));
    if (!a.ref && hay.indexOf(needle, i + 1) >= 0) throw fail('ambiguous', 'the page says ' + quote(a.text, 40) + ' more than once; give the ref of the part that is meant');
    return [i, i + needle.length];
  }
  const from = Math.max(0, a.start || 0), to = Math.min(a.end || end, end);
  if (from >= to) throw fail('invalid_request', inWhat + ' has ' + end + ' characters; ' + from + ' to ' + to + ' is nothing');
  return [from, to];
}

// pick finds the stretch and says between which points a mouse would select it.
function pick(a) {
  const el = a.ref ? resolve(a.ref) : document.body;
  const what = a.ref ? describe(el) : 'the page';
  arm(el === document.body ? null : el);
  if (/^(INPUT|TEXTAREA)$/.test(el.tagName)) {
    if (el.type === 'password') throw fail('not_interactable', what + ' hides its text');
    const [from, to] = stretch({ ...a, raw: true, ref: 1 }, el.value, what);
    el.focus({ preventScroll: true });
    try { el.setSelectionRange(from, to); } catch { el.select(); }
    el.scrollIntoViewIfNeeded && el.scrollIntoViewIfNeeded();
    picked = { field: el };
    return { what, done: true };
  }
  const { s, at } = letters(el);
  if (!s.trim()) throw fail('not_interactable', what + ' holds no text');
  let [from, to] = stretch(a, s, what);
  while (from < to && !at[from]) from++;
  while (to > from && !at[to - 1]) to--;
  const range = document.createRange();
  range.setStart(...at[from]);
  range.setEnd(at[to - 1][0], at[to - 1][1] + 1);
  picked = { range };
  const start = range.startContainer.parentElement;
  const ends = () => { const r = [...range.getClientRects()].filter(x => x.width > 0 && x.height > 0); return r.length ? [r[0], r[r.length - 1]] : null; };
  const inView = e => e && e.every(r => r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight);
  if (!inView(ends())) start.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  const e = ends();
  // A mouse cannot select out of view, nor begin on what it would drag away.
  if (!inView(e) || start.closest('a[href],[draggable=true],button') || getComputedStyle(start).userSelect === 'none') { repick(); return { what, done: true }; }
  const dir = getComputedStyle(start).direction === 'rtl' ? 1 : 0;
  const x = (r, last) => (last !== !!dir) ? r.right : r.left;
  return { what, x: x(e[0], false) + (dir ? -0.5 : 0.5), y: (e[0].top + e[0].bottom) / 2, x2: x(e[1], true), y2: (e[1].top + e[1].bottom) / 2 };
}

// repick selects by script what the mouse did not get right.
function repick() {
  if (picked.field) return {};
  const s = document.getSelection();
  s.removeAllRanges();
  s.addRange(picked.range);
  return {};
}

// pickedNow says what is selected and whether it is what was meant.
function pickedNow() {
  if (picked.field) { const f = picked.field; return { text: cut(safe(f.value.slice(f.selectionStart, f.selectionEnd)), 200), length: f.selectionEnd - f.selectionStart, right: true }; }
  const has = document.getSelection().toString(), want = picked.range.toString();
  return { text: cut(safe(clean(has)), 200), length: has.length, right: clean(has) === clean(want) };
}
