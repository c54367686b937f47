// The door: one call in, one string of JSON out.

const deeds = {
  snapshot(a) { anySnapshot = true; const picked = clean(document.getSelection().toString().slice(0, 200)); const e = document.scrollingElement || document.documentElement; const v = snapshot(a); return Object.assign(v, { picked: picked ? quote(picked, 80) : '', suspects: walkState.suspects.length, elements: document.getElementsByTagName('*').length, title: clean(document.title), url: location.href, above: Math.round(scrollY), below: Math.max(0, Math.round(e.scrollHeight - scrollY - innerHeight)) }); },
  aim, lift, frameBox, settle, changes, prepare, readBack, reselect, choose, optionNow, pick, repick, pickedNow, scroll, waitSlice, find, facts, content, extract,
  count(a) { return { n: byText(a).length }; },
  refOfText(a) { return { ref: refFor(target(a))[0] }; },
  hasFocus() { const f = focusNow(); return { focus: document.hasFocus() && !!f && f !== document.body && !/^I?FRAME$/.test(f.tagName) }; },
  valueOf(a) { const el = resolve(a.ref); return { value: el.type === 'password' ? '' : cut(safe(valueOf(el)), 300) || (el.isContentEditable || 'value' in el ? '' : cut(safe(textOf(el)), 200)) }; },
  kind(a) {
    let el = resolve(a.ref);
    if (el.tagName === 'LABEL' && el.control) el = el.control;
    const [, role] = refFor(el);
    const kind = el.type === 'file' ? 'file' : /^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(role) ? 'choice' : el.tagName === 'SELECT' || role === 'listbox' || role === 'combobox' && el.tagName !== 'INPUT' && !el.isContentEditable ? 'list' : 'text';
    return { kind, role, name: cut(safe(nameOf(el, role)), 80), on: el.checked === true || el.getAttribute('aria-checked') === 'true' };
  },
  hello() { return { url: location.href, title: document.title, ready: document.readyState, w: innerWidth, h: innerHeight, dpr: devicePixelRatio, k: pictureScale(innerWidth, innerHeight), sx: scrollX, sy: scrollY, print: fingerprint(), above: Math.round(scrollY), below: Math.max(0, Math.round((document.scrollingElement || document.documentElement).scrollHeight - scrollY - innerHeight)) }; },
  arm(a) { arm(a.ref ? resolve(a.ref) : a.focused ? focusNow() : null); const f = focusNow(); return { focus: f && f !== document.body ? describe(f) : '' }; },
  at(a) { const h = hitAt(a.x, a.y); let el = h; for (let n = h; n && n !== document.body; n = parentOf(n)) if (acting.has(roleOf(n)) || n.tagName === 'CANVAS') { el = n; break; } arm(el); return { what: el ? describe(el) : 'nothing' }; },
  middle(a) {
    const el = resolve(a.ref);
    let r = el.getBoundingClientRect();
    if (r.left < 0 || r.top < 0 || r.right > innerWidth || r.bottom > innerHeight) { el.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' }); r = el.getBoundingClientRect(); }
    const c = clip(r);
    if (!c) throw fail('not_interactable', describe(el) + ' has no visible box');
    const [, role] = refFor(el);
    arm(el);
    return { x: (c.x0 + c.x1) / 2, y: (c.y0 + c.y1) / 2, role, name: cut(safe(nameOf(el, role)), 80) };
  },
  rearm(a) { const el = resolve(a.ref); arm(el).lent = stand(el); return {}; },
  box(a) { const el = resolve(a.ref); el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' }); const r = el.getBoundingClientRect(); return { x: r.left, y: r.top, w: r.width, h: r.height, sx: scrollX, sy: scrollY }; },
  focus(a) { const el = resolve(a.ref); const f = el.matches('input,textarea,select,button,a[href],[tabindex],[contenteditable]') ? el : el.querySelector('input,textarea,select,button,a[href],[tabindex]') || el; f.focus(); arm(focusNow()); if (focusNow() !== f) throw fail('not_interactable', describe(el) + ' does not take the focus'); return { focus: describe(f) }; },
};

function run(op, a) {
  prefix = a.prefix || '';
  if (a.base > nextId) nextId = a.base;
  const done = v => { const trail = trailNow(); return JSON.stringify(Object.assign(v, { next: nextId }, trail && { trail })).toWellFormed(); };
  const lost = e => JSON.stringify({ code: e.code || 'internal', error: e.code ? e.message : String(e && e.stack || e), next: nextId }).toWellFormed();
  try {
    const v = deeds[op](a);
    return v instanceof Promise ? v.then(done, lost) : done(v);
  } catch (e) { return lost(e); }
}

Object.defineProperty(globalThis, '__gofer', { value: { run, listens, number(el, n) { frameNumbers.set(el, n); }, root(host, r) { rootOf.set(host, r); }, node(id) { return resolve(id); },
  roots() { const r = [document]; for (const h of deepHosts()) { if (r.length > 40) break; r.push(shadowOf(h)); } return r; },
  suspects() { const list = walkState.suspects; for (const el of list) asked.add(el); return list; } } });
