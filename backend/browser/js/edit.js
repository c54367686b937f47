// Editors: what takes text without being a field, and the text it holds.

const takesText = n => (n.tagName === 'INPUT' && !/^(checkbox|radio|button|submit|reset|image|file|hidden)$/.test(n.type)) || n.tagName === 'TEXTAREA' || n.isContentEditable || !!n.editContext;

// unseenBox is true for what has no size to speak of, or cannot be seen through.
function unseenBox(el) {
  for (let n = el, i = 0; n && n !== document.body && i < 4; n = parentOf(n), i++) {
    const s = getComputedStyle(n);
    if (s.opacity === '0') return true;
    if ((n.clientWidth <= 4 || n.clientHeight <= 4) && (i === 0 || s.overflow !== 'visible')) return true;
  }
  return false;
}

// Some editors draw their text themselves and catch the typing in a field that
// nobody sees. unseenField is true for such a field.
const unseenField = el => el.editContext ? el.checkVisibility() : el.tagName === 'TEXTAREA' && !el.readOnly && el.checkVisibility() && unseenBox(el);

const drawnIn = new WeakMap(); // unseen field -> the box its text is drawn in

// drawnBox is the box an unseen field writes in: the first one around it that
// has a size and shows nothing but text.
function drawnBox(el) {
  const known = drawnIn.get(el);
  if (known && known.isConnected && known.contains(el)) return known;
  if (!unseenField(el)) return null;
  let n = parentOf(el);
  while (n && n !== document.body && (n.clientWidth < 40 || n.clientHeight < 12 || !clean(n.textContent))) n = parentOf(n);
  if (!n || n === document.body || n.querySelector('table,[role=grid],[role=row],h1,h2,h3,form,[contenteditable],input:not([type=hidden])')) return null;
  drawnIn.set(el, n);
  return n;
}

// editorsAmong notes the boxes of such editors, so that the walk knows them when it gets there.
const editorFields = 'textarea,[role=textbox]';
function editorsAmong(fields) {
  for (const el of fields) { const b = drawnBox(el); if (b) walkState.editors.set(b, el); }
}

// drawnLines reads the text of a box by where it is drawn, without the line numbers.
function drawnLines(box, field) {
  const rows = [];
  const w = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let size = 0;
  for (let n = w.nextNode(); n && size < 20000; n = w.nextNode()) {
    const p = n.parentElement;
    if (!n.data || field.contains(p) || !p.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (!n.data.trim() && getComputedStyle(p).position === 'absolute') continue; // a caret
    range.selectNodeContents(n);
    const r = range.getBoundingClientRect();
    if (!r.height) continue;
    const at = { top: r.top, left: r.left, right: r.right, h: r.height, text: n.data, node: n };
    size += n.data.length;
    let row = null;
    for (let i = rows.length - 1; i >= 0 && i > rows.length - 40 && !row; i--) if (Math.abs(rows[i].top - at.top) < Math.max(4, at.h / 3)) row = rows[i];
    if (row) row.parts.push(at); else rows.push({ top: at.top, h: at.h, parts: [at] });
  }
  rows.sort((a, b) => a.top - b.top);
  for (const r of rows) r.parts.sort((a, b) => a.left - b.left);
  const number = r => /^\s*\d+\s*$/.test(r.parts[0].text) ? +r.parts[0].text : NaN;
  const numbered = rows.filter(r => number(r) >= 0);
  const rising = numbered.length > 0 && numbered.every((r, i) => !i || number(r) === number(numbered[i - 1]) + 1) && number(rows[0]) >= 0;
  const beside = rising && (numbered.some(r => r.parts.length > 1) || /gutter|line-?num|margin/i.test(rows[0].parts[0].node.parentElement.className + ' ' + rows[0].parts[0].node.parentElement.parentElement.className));
  const lines = [];
  let last = null;
  for (const r of rows) {
    const parts = beside && number(r) >= 0 ? r.parts.slice(1) : r.parts;
    const text = parts.map(p => p.text).join('').replace(/[\u200b\ufeff\n]/g, '').replace(/\u00a0/g, ' ');
    if (beside && !(number(r) >= 0) && lines.length) { lines[lines.length - 1] += text; continue; } // a line that was wrapped
    if (!beside && last) for (let k = Math.round((r.top - last.top) / last.h) - 1; k > 0 && k < 40; k--) lines.push('');
    lines.push(text);
    last = r;
  }
  return lines.join('\n');
}

// linesOf reads an editable element as lines, the way they were typed: one a
// block, an empty block is an empty line, a break that only holds a line open is none.
function linesOf(el, max = 20000) {
  const lines = [];
  let line = null, size = 0;
  const end = () => { if (line !== null) lines.push(line); line = null; };
  const visit = (n, keep) => {
    if (size > max) return;
    if (n.nodeType === 3) {
      const t = (keep ? n.data : n.data.replace(/[ \t\n]+/g, ' ')).replace(/\u00a0/g, ' ').replace(/[\u200b\ufeff]/g, '');
      if (!keep && t === ' ' && line === null) return;
      size += t.length;
      const parts = t.split('\n');
      line = (line || '') + parts[0];
      for (const p of parts.slice(1)) { end(); line = p; }
      return;
    }
    if (n.nodeType !== 1 || skipTags.has(n.tagName)) return;
    if (n.tagName === 'BR') { lines.push(line || ''); line = null; size++; return; }
    const s = getComputedStyle(n);
    if (s.display === 'none' || n !== el && n.getAttribute('contenteditable') === 'false' && (/placeholder/i.test(n.className) || n.getAttributeNames().some(a => /placeholder/.test(a)))) return;
    const block = n !== el && !/^(inline|contents|ruby)/.test(s.display);
    if (block) end();
    const k = /^(pre|break)/.test(s.whiteSpace);
    for (const c of kidsOf(n)) visit(c, k);
    if (block) end();
  };
  visit(el, false);
  end();
  return lines.join('\n');
}

// copied is what an editor would hand out of its selection. The event is our
// own, so the clipboard of the person stays as it is.
function copied() {
  const f = focusNow();
  if (!f) return { text: '', given: false };
  const data = new DataTransfer();
  const e = new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true, composed: true });
  f.dispatchEvent(e);
  let text = data.getData('text/plain');
  const left = !e.defaultPrevented && f.tagName === 'TEXTAREA' && f.selectionEnd > f.selectionStart; // to the browser, which would take what the field has selected
  if (left) text = f.value.slice(f.selectionStart, f.selectionEnd);
  return { text: text.replace(/\r\n/g, '\n').toWellFormed().slice(0, 200000), given: left || e.defaultPrevented };
}

// pasted hands text to what has the focus, the way a paste does; taken is false
// when the page leaves a paste to the browser.
function pasted(a) {
  const f = focusNow();
  if (!f) return { taken: false };
  const data = new DataTransfer();
  data.setData('text/plain', a.text);
  const e = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true });
  f.dispatchEvent(e);
  return { taken: e.defaultPrevented };
}
