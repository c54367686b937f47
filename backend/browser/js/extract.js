// Extracting: like rows of a page as a table of values.

// rowsFor lists the rows meant: those a selector matches, or those around a ref.
// A table or list stands for its rows, anything else for the row it is in.
function rowsFor(a) {
  if (!a.ref) {
    try { return [...deepAll(a.rows, 100000)]; } catch { throw fail('invalid_request', quote(a.rows) + ' is neither a ref nor a CSS selector'); }
  }
  const el = resolve(a.ref), role = roleOf(el);
  if (/^(table|grid|treegrid|rowgroup)$/.test(role)) return [...el.querySelectorAll('tr,[role=row]')].filter(r => !r.closest('thead') && r.querySelector('td,[role=cell],[role=gridcell]'));
  if (/^(list|listbox|menu|feed|tree|tablist|radiogroup)$/.test(role)) return [...el.children].filter(k => !skipTags.has(k.tagName));
  const first = n => typeof n.className === 'string' ? n.className.split(' ')[0] : '';
  for (let n = el; n && n !== document.body; n = parentOf(n)) {
    if (/^(rowgroup|table|list)$/.test(roleOf(n)) || !n.parentNode) continue;
    const like = [...n.parentNode.children].filter(k => k.tagName === n.tagName && first(k) === first(n) && !k.querySelector(':scope > th:first-child:last-child'));
    if (like.length > 1 && !/^(TD|TH|SPAN|BR|B|I|EM|A|P|INPUT|BUTTON)$/.test(n.tagName)) return like;
  }
  return [el];
}

// within finds the first match of a selector in a row and its shadow roots.
function within(row, sel) {
  const roots = [row];
  let left = 400;
  while (roots.length) {
    const r = roots.shift(), hit = r.querySelector(sel);
    if (hit) return hit;
    if (r === row && shadowOf(row)) roots.push(shadowOf(row));
    for (const n of r.querySelectorAll('*')) { if (left-- < 0) break; const s = shadowOf(n); if (s) roots.push(s); }
  }
  return row.matches(sel) ? row : null;
}

const addressAttrs = /^(href|src|action|poster|data-src|data-href)$/;

function valueFor(row, f) {
  const el = f.sel ? within(row, f.sel) : f.attr === 'href' && !row.href ? within(row, 'a[href]') : f.attr === 'value' && !('value' in row) ? within(row, 'input:not([type=hidden]),select,textarea') : row;
  if (!el) return null;
  if (f.attr === 'text') return seen(el) || getComputedStyle(el).display === 'contents' ? cut(safe(textOf(el, { max: 400 })), 200) : null;
  if (f.attr === 'value') return el.type === 'password' ? '•'.repeat(Math.min(el.value.length, 12)) : /^(checkbox|radio)$/.test(el.type) ? (el.checked ? 'checked' : 'unchecked') : cut(safe(clean(String(valueOf(el)))), 200);
  const v = el.getAttribute(f.attr);
  if (v === null || el.type === 'hidden' || el.type === 'password' && f.attr === 'value') return null;
  if (!addressAttrs.test(f.attr)) return cut(safe(clean(v)), 200);
  try { const u = new URL(v, document.baseURI); return u.protocol === 'data:' ? cut(v, 40) : cut(u.href, 1000); } catch { return cut(safe(v), 200); }
}

// extract fills the table until a bound is met and counts what it left out.
function extract(a) {
  const fields = a.fields.map(spec => {
    if (/^(text|href|value)$/.test(spec)) return { sel: '', attr: spec };
    const m = /^(.*?)\s*@([\w:.-]+)$/s.exec(spec);
    const f = m ? { sel: m[1], attr: m[2] } : { sel: spec, attr: 'text' };
    if (f.sel) { try { document.createDocumentFragment().querySelector(f.sel); } catch { throw fail('invalid_request', quote(spec) + ' is no selector, selector@attribute, @attribute, text, href or value'); } }
    return f;
  });
  const all = rowsFor(a), rows = [], filled = fields.map(() => false);
  let used = 0, hidden = 0, empty = 0, at = 0, shown = 0;
  const until = performance.now() + 1500;
  for (; at < all.length; at++) {
    const el = all[at];
    if (!seen(el) && getComputedStyle(el).display !== 'contents') { hidden++; continue; }
    if (shown < a.skip) { shown++; continue; }
    if (rows.length >= a.limit || used > a.bytes || performance.now() > until) break;
    const values = fields.map(f => valueFor(el, f));
    shown++;
    if (values.every(v => !v)) { empty++; continue; }
    values.forEach((v, i) => { if (v) filled[i] = true; });
    rows.push(values.map(v => v || ''));
    used += values.reduce((n, v) => n + weight(v || '') + 3, 0);
  }
  return { rows, filled, hidden, empty, shown, left: all.length - at, used };
}
