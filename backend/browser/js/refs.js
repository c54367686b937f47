// Refs: an id for a node that holds while the node keeps role and name.

const entries = new WeakMap(); // node -> {id, role, name}
const byId = new Map();        // id -> {node: WeakRef, role, name, cont?: WeakRef, now?: id}
const printed = new WeakSet(); // nodes a snapshot has shown, with all they are in
let nextId = 1;
let prefix = '';

const digitless = s => s.replace(/\d+/g, '#');

function refOf(el, role, name) {
  let e = entries.get(el);
  if (e && e.role === role && (e.name === name || e.parent && e.parent.deref() === el.parentNode && digitless(e.name) === digitless(name))) {
    e.name = name;
    const known = byId.get(e.id);
    if (known) known.name = name;
    return prefix + 'e' + e.id;
  }
  const id = nextId++;
  if (e) { const old = byId.get(e.id); if (old) old.now = id; }
  e = { id, role, name, parent: el.parentNode && new WeakRef(el.parentNode) };
  entries.set(el, e);
  byId.set(id, { node: new WeakRef(el), role, name });
  if (byId.size % 4096 === 0) for (const [k, v] of byId) if (!v.node.deref()) byId.delete(k);
  return prefix + 'e' + id;
}

// roleNow is the role a ref was given under: clickable when the page gave none.
const roleNow = el => { const r = roleOf(el); return acting.has(r) || r === 'row' || r === 'gridcell' || r === 'cell' || entries.get(el)?.role === r ? r : /^(clickable|text|scrollable)$/.test(entries.get(el)?.role) ? entries.get(el).role : r; };

// resolve returns the node of an id, or throws what is wrong with it.
function resolve(id) {
  const known = byId.get(id);
  if (!known) throw fail('stale', prefix + 'e' + id + ' is not on this page; it belongs to an earlier page or was never given');
  const el = known.node.deref();
  const was = known.role + ' ' + quote(known.name);
  if (!el || !el.isConnected) {
    const twin = twinOf(known);
    throw fail('detached', prefix + 'e' + id + ' (' + was + ') is no longer on the page' + (twin ? '; the nearest match is ' + twin : ''));
  }
  if (known.free) return el;
  const role = roleNow(el), name = nameOf(el, role);
  const ref = refOf(el, role, name);
  if (ref !== prefix + 'e' + id) throw fail('stale', prefix + 'e' + id + ' was ' + was + ', now it is ' + role + ' ' + quote(name) + ' ' + ref);
  return el;
}

// twinOf looks for a node of the same role and name, for the error of a lost one.
function twinOf(known) {
  let found = null, n = 0;
  for (const el of deepAll(actingSelector, 2000)) {
    if (roleOf(el) !== known.role || nameOf(el, known.role) !== known.name || !seen(el)) continue;
    if (n++) return '';
    found = el;
  }
  return found ? known.role + ' ' + quote(known.name) + ' ' + refOf(found, known.role, known.name) : '';
}

function* deepAll(selector, max) {
  const roots = [document];
  while (roots.length) {
    const r = roots.pop();
    for (const el of r.querySelectorAll(selector)) { if (max-- < 0) return; yield el; }
    for (const el of r.querySelectorAll('*')) { const s = shadowOf(el); if (s) roots.push(s); if (max-- < -20000) return; }
  }
}

// freeRef names a place in the page, whatever it is called, for continuations.
function freeRef(el, cont) {
  const id = nextId++;
  byId.set(id, { node: new WeakRef(el), role: 'place', name: '', free: true, cont: cont && new WeakRef(cont) });
  return prefix + 'e' + id;
}

function fail(code, message) { const e = new Error(message); e.code = code; return e; }

function describe(el) {
  const role = roleNow(el) || el.tagName.toLowerCase(), name = nameOf(el, role);
  return role + (name ? ' ' + quote(name, 60) : '');
}
