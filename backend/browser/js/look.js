// Looking: waiting, finding, facts for the guard, the main content.

function pageText() {
  let s = document.body ? document.body.innerText : document.documentElement ? document.documentElement.textContent : '';
  for (const h of deepHosts()) for (const k of shadowOf(h).children) if (k.innerText && k.tagName !== 'STYLE') s += '\n' + k.innerText;
  return s;
}
const squeeze = s => s.replace(/\s+/g, ' ').toLowerCase();

// waitSlice answers as soon as the condition holds, or after a slice of time.
async function waitSlice(a) {
  const test = () => {
    if (a.ready) return document.readyState === 'loading' ? '' : 'ready';
    if (a.option) return optionNow({ ref: a.ref0, text: a.option, opened: true, exact: a.exact }).found;
    if (a.text) { const i = squeeze(pageText()).indexOf(squeeze(a.text).trim()); if (i < 0) { const f = [...deepAll('input,textarea', 500)].some(n => n.type !== 'password' && squeeze(n.value).includes(squeeze(a.text).trim())); return f ? 'in a field' : ''; } return squeeze(pageText()).slice(Math.max(0, i - 40), i + a.text.length + 60) || 'seen'; }
    if (a.gone) return squeeze(pageText()).includes(squeeze(a.gone).trim()) ? '' : 'gone';
    if (a.ref) {
      const known = byId.get(a.ref), el = known && known.node.deref();
      const there = el && el.isConnected && seen(el);
      switch (a.state) {
        case 'gone': case 'hidden': return there ? '' : 'gone';
        case 'enabled': return there && !disabledNow(el) ? describe(el) : '';
        case 'disabled': return there && disabledNow(el) ? describe(el) : '';
        default: return there ? describe(el) : '';
      }
    }
    return '';
  };
  const until = performance.now() + a.slice;
  let dirty = true;
  const mo = new MutationObserver(() => { dirty = true; });
  mo.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  try {
    for (let n = 0; ; n++) {
      if (dirty || n % 5 === 0) { dirty = false; const got = test(); if (got) return { got: cut(safe(clean(got)), 160) }; }
      if (performance.now() >= until) return { got: '' };
      await new Promise(d => setTimeout(d, 30));
    }
  } finally { mo.disconnect(); }
}

// find lists nodes that match, with their surroundings.
function find(a) {
  const want = a.text ? clean(a.text).toLowerCase() : '';
  let re = null;
  if (a.regex) { try { re = new RegExp(a.regex, 'i'); } catch (e) { throw fail('invalid_request', 'not a regular expression: ' + e.message); } }
  const fits = s => re ? re.test(s) : s.toLowerCase().includes(want);
  const lines = [], got = new Set();
  let n = 0;
  const add = (el, role) => {
    if (got.has(el)) return;
    got.add(el);
    if (++n > a.limit) return;
    const name = nameOf(el, role);
    const st = acting.has(role) ? statesOf(el, role) : '';
    lines.push('- ' + role + ' ' + quote(name || textOf(el), 120) + ' [ref=' + refOf(el, role, name) + ']' + (st ? ' ' + st : '') + rowHint(el));
  };
  for (const el of deepAll(actingSelector, 30000)) {
    const r = roleOf(el) || 'clickable';
    if (a.role && r !== a.role || !seen(stand(el))) continue;
    if (fits(nameOf(el, r)) || fits(String(el.type === 'password' ? '' : valueOf(el)))) add(el, r);
  }
  if (!a.role || !acting.has(a.role)) for (const t of textNodes()) {
    if (!fits(clean(t.data))) continue;
    const p = t.parentElement;
    if (!p || skipTags.has(p.tagName) || !seen(p)) continue;
    let el = p;
    for (let q = p; q && q !== document.body; q = parentOf(q)) if (acting.has(roleOf(q))) { el = q; break; }
    if (got.has(el)) continue;
    const role = roleOf(el) || entries.get(el)?.role || 'text';
    if (a.role && role !== a.role) continue;
    got.add(el);
    if (++n > a.limit) continue;
    lines.push('- ' + role + ' ' + quote(clean(t.data), 160) + ' [ref=' + refOf(el, role, nameOf(el, role)) + ']' + rowHint(el));
  }
  if (n > a.limit) lines.push('… ' + (n - a.limit) + ' more matches');
  return { text: lines.join('\n'), n };
}

// facts says what a press on a target would do, for the guard. It changes nothing.
function facts(a) {
  const el = a.x !== undefined ? hitAt(a.x, a.y) || document.body : target(a);
  const role = roleNow(el);
  const out = { role, name: cut(safe(nameOf(el, role)), 80), page: location.href };
  const link = el.closest('a[href],area[href]');
  if (link) { out.href = link.href; return out; }
  const button = el.closest('button,input[type=submit],input[type=image]');
  const form = (button || el).form || el.closest('form');
  if (!form) return out;
  const submits = button && button.type !== 'button' && button.type !== 'reset';
  const enters = a.enter && el.tagName !== 'TEXTAREA' && !el.isContentEditable;
  if (!submits && !enters) { if (button) { out.inForm = true; } else return out; }
  out.submit = true;
  out.method = (button && button.getAttribute('formmethod') || form.getAttribute('method') || 'get').toLowerCase();
  out.action = new URL((button && button.getAttribute('formaction')) || form.getAttribute('action') || location.href, document.baseURI).href;
  out.fields = [];
  for (const f of form.elements) {
    if (!/^(INPUT|SELECT|TEXTAREA)$/.test(f.tagName) || /^(submit|button|reset|image)$/.test(f.type) || f.disabled) continue;
    if (/^(checkbox|radio)$/.test(f.type) && !f.checked) continue;
    if (out.fields.length > 60) break;
    const label = nameOf(f) || f.name || f.id;
    if (f.type === 'hidden') { if (f.value) out.fields.push({ label: (f.name || 'hidden') + ' (hidden)', value: f.value.slice(0, 500) }); continue; }
    const secret = f.type === 'password' || /cc-number|cc-csc|one-time-code/.test(f.autocomplete || '');
    out.fields.push(secret ? { label, secret: true } : { label, value: f.type === 'file' ? [...f.files].map(x => x.name).join(', ') : String(valueOf(f)).slice(0, 2000) });
  }
  return out;
}

// content is the cleaned HTML of the main part of the page, for reading.
function content(a) {
  let root = a.ref ? resolve(a.ref) : mainPart();
  const copy = (n, depth) => {
    if (n.nodeType === 3) return document.createTextNode(n.data.toWellFormed());
    if (n.nodeType !== 1 || depth > 200) return null;
    const tag = n.tagName;
    if (skipTags.has(tag) && tag !== 'COL' && tag !== 'COLGROUP' || /^(IFRAME|OBJECT|EMBED|CANVAS|svg|VIDEO|AUDIO)$/.test(tag)) {
      if (/^(VIDEO|AUDIO)$/.test(tag)) { const src = n.currentSrc || n.src; if (src && !src.startsWith('blob:')) { const l = made.createElement('a'); l.setAttribute('href', src); l.append(made.createTextNode(tag.toLowerCase())); return l; } }
      return null;
    }
    if (!a.ref && n !== root && n.matches('nav,[role=navigation],[aria-hidden=true]') && tag !== 'SPAN') return null;
    if (n !== root && !shownBox(n) && tag !== 'BR') return null;
    if (tag === 'BUTTON' || tag === 'SELECT' || tag === 'INPUT' || tag === 'TEXTAREA') { if (!a.ref) return null; const t = nameOf(n) || valueOf(n); return t ? document.createTextNode('[' + t + ']') : null; }
    const block = /^(SLOT|.*-.*)$/.test(tag);
    const e = made.createElement(block ? (getComputedStyle(n).display.startsWith('inline') ? 'span' : 'div') : tag.toLowerCase());
    if (tag === 'A' && n.href && !n.href.startsWith('javascript:')) e.setAttribute('href', n.href);
    if (tag === 'IMG') {
      const src = n.currentSrc || n.src || n.dataset.src || '';
      if (!src || src.startsWith('data:') || n.naturalWidth && n.naturalWidth < 3) { if (!n.alt) return null; return document.createTextNode(n.alt); }
      e.setAttribute('src', new URL(src, document.baseURI).href);
      if (n.alt) e.setAttribute('alt', n.alt);
    }
    for (const k of ['colspan', 'rowspan', 'start']) if (n.hasAttribute(k)) e.setAttribute(k, n.getAttribute(k));
    if (tag === 'CODE' || tag === 'PRE') { const c = n.getAttribute('class'); if (c) e.setAttribute('class', c); }
    for (const k of kidsOf(n)) { const c = copy(k, depth + 1); if (c) e.append(c); }
    return e;
  };
  const made = document.implementation.createHTMLDocument('');
  const box = made.createElement('div');
  const c = copy(root, 0);
  if (c) box.append(c);
  const metas = {};
  for (const [k, s] of [['author', 'meta[name=author],meta[property="article:author"]'], ['published', 'meta[property="article:published_time"],meta[name=date]'], ['description', 'meta[name=description]']]) {
    const m = document.querySelector(s);
    if (m && m.content) metas[k] = cut(safe(clean(m.content)), 300);
  }
  return { html: box.innerHTML.slice(0, a.max || 4e6), title: document.title, url: location.href, metas, whole: root === (document.body || document.documentElement) };
}

// mainPart is the part of the page a reader came for.
function mainPart() {
  const body = document.body || document.documentElement;
  const size = el => (el.innerText || '').length;
  const total = size(body) || 1;
  for (const s of ['main article', 'article', 'main,[role=main]', '#content,#main,.content,.post,.article,.entry-content']) {
    const all = [...document.querySelectorAll(s)].filter(seen);
    if (!all.length) continue;
    if (all.length === 1 && size(all[0]) > Math.min(total * 0.25, 1500)) return all[0];
    if (all.length > 1) {
      const big = all.reduce((x, y) => size(x) >= size(y) ? x : y);
      if (size(big) > total * 0.6) return big;
    }
  }
  return body;
}
