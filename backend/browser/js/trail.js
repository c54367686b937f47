// The trail: how what was acted on can be found again, on this page or one like
// it, and how the page looked. A recipe replays it.

// stable is false for ids that a framework made up.
const stable = id => id && !/\d{3,}|^[:\d]|[:]|^(ember|react|radix|headlessui|mui|ui-id)/i.test(id);

// pathOf is a selector down from the nearest stable id, shadow roots left out.
function pathOf(el) {
  const steps = [];
  for (let n = el; n && n !== document.documentElement && steps.length < 12; n = n.parentElement) {
    if (n !== el && stable(n.id) || n === el && stable(n.id)) { steps.unshift('#' + CSS.escape(n.id)); break; }
    let nth = 1, alike = false;
    for (let p = n.previousElementSibling; p; p = p.previousElementSibling) if (p.localName === n.localName) nth++;
    for (let p = n.nextElementSibling; p && !alike; p = p.nextElementSibling) alike = p.localName === n.localName;
    steps.unshift(n.localName + (nth > 1 || alike ? ':nth-of-type(' + nth + ')' : ''));
  }
  return steps.join(' > ');
}

// locatorsOf lists ways to an element, the ones that last longest first. Values
// of fields are not among them.
function locatorsOf(el) {
  const out = [], add = (by, value) => { if (value) out.push({ by, value: cut(safe(value), 200) }); };
  for (const k of ['data-testid', 'data-test', 'data-cy', 'data-qa']) if (el.hasAttribute(k)) { add('attribute', k + '=' + el.getAttribute(k)); break; }
  if (stable(el.id)) add('id', el.id);
  const role = roleNow(el), name = nameOf(el, role);
  if (role && name) add('role', role + ' ' + quote(name, 120));
  if (el.name && typeof el.name === 'string') add('attribute', 'name=' + el.name);
  if (el.placeholder) add('attribute', 'placeholder=' + el.placeholder);
  if (role === 'link') add('target', hrefOf(el, '').split('?')[0]);
  const words = acting.has(role) && role !== 'textbox' ? '' : cut(clean(el.textContent.slice(0, 200)), 80);
  if (!name && words) add('text', words);
  const row = el.closest('tr,li,[role=row],[role=listitem],article');
  if (row && row !== el) add('within', cut(clean(row.textContent.slice(0, 300)), 80));
  add('path', pathOf(el));
  return out;
}

// fingerprint tells pages apart by what lasts: address without its query, title,
// first heading, and how many things of a kind there are.
function fingerprint() {
  const n = tag => document.getElementsByTagName(tag).length;
  const h = document.querySelector('h1,h2');
  return { url: location.origin + location.pathname, title: cut(safe(clean(document.title)), 120), heading: h ? cut(safe(clean(h.textContent.slice(0, 200))), 80) : '', counts: [n('*'), n('a'), n('button'), n('input'), n('select'), n('form')].join(',') };
}

// trailNow is what a deed has readied to act on, told once.
function trailNow() {
  const w = watching;
  if (!w || w.told) return null;
  w.told = true;
  return { locators: w.el ? locatorsOf(w.el) : [], before: fingerprint() };
}
