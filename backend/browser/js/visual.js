// What a reader of pictures would see: where things are, their colour and shape.

// pixel maps this document to the pixels of a viewport picture: those of boxes
// that are told, and of presses at a point. Frames get theirs from outside.
let pixel = null;

// pictureScale is what makes a picture of so many pixels one that models take
// as it is; they would scale a larger one themselves, and points in it would be wrong.
const pictureScale = (w, h) => Math.min(1, pictureSide / Math.max(w, h), Math.sqrt(pictureArea / (w * h)));
const viewPixel = () => { const k = pictureScale(innerWidth, innerHeight); return { x: 0, y: 0, kx: k, ky: k }; };

const place4 = el => {
  const r = el.getBoundingClientRect();
  return [r.left, r.top, r.width, r.height].map((v, i) => Math.round(i % 2 ? v * pixel.ky + (i < 2 ? pixel.y : 0) : v * pixel.kx + (i < 2 ? pixel.x : 0)));
};

// boxOf is where an element is, " at x,y WxH", as far as that is known.
function boxOf(el) {
  if (!pixel) return '';
  const [x, y, w, h] = place4(el);
  return ' at ' + x + ',' + y + ' ' + w + 'x' + h;
}

function rgb(css) {
  const m = /^rgba?\(([\d.]+)[, ]+([\d.]+)[, ]+([\d.]+)(?:[,/ ]+([\d.]+)(%?))?/.exec(css);
  if (!m) return null;
  const a = m[4] === undefined ? 1 : m[5] ? m[4] / 100 : +m[4];
  return { r: +m[1] / 255, g: +m[2] / 255, b: +m[3] / 255, a };
}

// hues are the plain names of the colour circle, each up to its degree.
const hues = [[16, 'red'], [42, 'orange'], [68, 'yellow'], [165, 'green'], [200, 'cyan'], [258, 'blue'], [288, 'purple'], [330, 'magenta'], [346, 'pink'], [361, 'red']];

// colour is the plain name of a CSS colour; "" for one that cannot be seen.
function colour(css) {
  const c = rgb(css);
  if (!c || c.a < 0.08) return '';
  const max = Math.max(c.r, c.g, c.b), min = Math.min(c.r, c.g, c.b), d = max - min, l = (max + min) / 2;
  const s = d === 0 ? 0 : d / (1 - Math.abs(2 * l - 1));
  if (d < 0.06 || s < 0.12) return l < 0.14 ? 'black' : l < 0.38 ? 'dark gray' : l < 0.68 ? 'gray' : l < 0.95 ? 'light gray' : 'white';
  if (l < 0.07) return 'black';
  if (l > 0.985) return 'white';
  const h = (max === c.r ? ((c.g - c.b) / d + 6) % 6 : max === c.g ? (c.b - c.r) / d + 2 : (c.r - c.g) / d + 4) * 60;
  let n = hues.find(x => h < x[0])[1];
  if (n === 'orange' && l < 0.42) return 'brown';
  if (n === 'yellow' && l < 0.36) return 'olive';
  if (n === 'red' && l > 0.72) return 'pink';
  if (n === 'blue' && l < 0.3) return 'dark blue';
  return (l > 0.8 ? 'light ' : l < 0.22 ? 'dark ' : '') + n;
}

const cornered = { 3: 'triangle', 4: 'quadrilateral', 5: 'pentagon', 6: 'hexagon', 7: 'heptagon', 8: 'octagon' };
const oblong = (w, h) => Math.abs(w - h) <= Math.max(w, h) * 0.06 + 1 ? 'square' : 'rectangle';
const roundish = (w, h) => Math.abs(w - h) <= Math.max(w, h) * 0.06 + 1 ? 'circle' : 'ellipse';

const shapeTags = new Set(['circle', 'ellipse', 'rect', 'line', 'polyline', 'polygon', 'path', 'text', 'image', 'use']);

// drawnKind names the shape of an SVG element; a line tells both its ends.
function drawnKind(el) {
  const r = el.getBoundingClientRect();
  switch (el.localName) {
    case 'rect': return Math.min(r.width, r.height) <= 2 ? 'line' : oblong(+el.width.baseVal.value, +el.height.baseVal.value);
    case 'ellipse': return roundish(el.rx.baseVal.value, el.ry.baseVal.value);
    case 'polyline': case 'polygon': {
      const seen = new Set();
      for (const p of el.points) seen.add(Math.round(p.x) + ',' + Math.round(p.y));
      return el.localName === 'polyline' && getComputedStyle(el).fill === 'none' ? 'line' : cornered[seen.size] || 'polygon';
    }
    case 'path': {
      const d = el.getAttribute('d') || '', straight = /^[^acqst]*$/i.test(d);
      const corners = (d.match(/[mlhv]/gi) || []).length;
      return straight && corners === 2 && !/z/i.test(d) ? 'line' : straight && /z/i.test(d) && cornered[corners] || 'path';
    }
    case 'image': return 'image';
    case 'use': return 'shape';
  }
  return el.localName;
}

function lineEnds(el) {
  const m = el.getScreenCTM && el.localName === 'line' && el.getScreenCTM();
  if (!m || !pixel) return '';
  const at = (x, y) => { const p = new DOMPoint(x.baseVal.value, y.baseVal.value).matrixTransform(m); return Math.round(p.x * pixel.kx + pixel.x) + ',' + Math.round(p.y * pixel.ky + pixel.y); };
  return ' from ' + at(el.x1, el.y1) + ' to ' + at(el.x2, el.y2);
}

// lookOf describes an element that has no words by its colour and shape.
function lookOf(el) {
  const s = getComputedStyle(el);
  if (el.namespaceURI === 'http://www.w3.org/2000/svg' && el.localName !== 'svg') {
    if (!shapeTags.has(el.localName)) { const k = [...el.querySelectorAll('*')].find(n => shapeTags.has(n.localName)); return k ? lookOf(k) : ''; }
    const kind = drawnKind(el), fill = colour(s.fill), line = kind === 'line';
    if (line || !fill || +s.fillOpacity < 0.08) { const c = colour(s.stroke); return ((c ? c + ' ' : '') + kind + (line || !c ? '' : ' outline')).trim(); }
    return fill + ' ' + kind;
  }
  const r = el.getBoundingClientRect();
  const w = el.offsetWidth || r.width, h = el.offsetHeight || r.height;
  const url = /url\("?([^")]+)/.exec(s.backgroundImage);
  const edge = parseFloat(s.borderTopWidth) > 0 && s.borderTopStyle !== 'none' ? colour(s.borderTopColor) : '';
  // A box of no size with thick borders is drawn as a triangle.
  if (el.clientWidth <= 1 && el.clientHeight <= 1 && w > 5 && h > 5) {
    const c = ['Top', 'Right', 'Bottom', 'Left'].map(k => parseFloat(s['border' + k + 'Width']) > 0 ? colour(s['border' + k + 'Color']) : '').find(Boolean);
    if (c) return c + ' triangle';
  }
  const round = parseFloat(s.borderTopLeftRadius) >= (s.borderTopLeftRadius.endsWith('%') ? 45 : Math.min(w, h) * 0.45);
  const poly = /^polygon\((.*)\)/.exec(s.clipPath);
  const kind = poly ? cornered[poly[1].split(',').length] || 'polygon' : Math.min(w, h) <= 3 ? 'line' : round ? roundish(w, h) : oblong(w, h);
  const c = colour(s.backgroundColor);
  if (url) return 'image' + (url[1].startsWith('data:') ? '' : ' ' + cut(url[1].split(/[?#]/)[0].split('/').pop(), 40));
  if (s.backgroundImage.includes('gradient')) return 'gradient ' + kind;
  if (c) return c + ' ' + kind;
  return edge ? edge + ' ' + kind + ' outline' : '';
}

// styled is true for a box that can be seen without its content.
function styled(el, s) {
  if (el.offsetWidth < 4 && el.offsetHeight < 4) return false;
  for (const k of ['Top', 'Right', 'Bottom', 'Left']) if (parseFloat(s['border' + k + 'Width']) > 0 && s['border' + k + 'Style'] !== 'none' && colour(s['border' + k + 'Color'])) return true;
  if (s.backgroundImage !== 'none') return true;
  const c = rgb(s.backgroundColor);
  if (!c || c.a < 0.08) return false;
  for (let p = parentOf(el); p; p = parentOf(p)) {
    const b = rgb(getComputedStyle(p).backgroundColor);
    if (b && b.a > 0.08) return colour(s.backgroundColor) !== colour(getComputedStyle(p).backgroundColor);
  }
  return colour(s.backgroundColor) !== 'white';
}

// paint tells the colours of something that has words, if they are not the usual.
function paint(el) {
  const s = getComputedStyle(el), out = [];
  const svg = el.namespaceURI === 'http://www.w3.org/2000/svg';
  const c = colour(svg ? s.fill : s.color);
  if (c && !/black|gray|white/.test(c)) out.push('text ' + c);
  const b = svg ? '' : colour(s.backgroundColor);
  if (b && b !== 'white' && !/^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName)) out.push('on ' + b);
  return out.length ? ' (' + out.join(', ') + ')' : '';
}

// seenAs is what the visual view adds to the line of an element that says s.
function seenAs(el, s) {
  let out = lineEnds(el) || boxOf(el);
  if (getComputedStyle(el).resize !== 'none' && pixel) { const [x, y, w, h] = place4(el); out += ' corner at ' + (x + w - 5) + ',' + (y + h - 5); }
  const worded = el.localName === 'text' || !shapeTags.has(el.localName) && (el.textContent.trim() || 'value' in el);
  if (worded) return out + paint(el);
  const look = lookOf(el);
  return out + (look && !s.includes(look) ? ' (' + look + ')' : '');
}

// drawing writes what an SVG picture shows: what acts in it, its words, and in
// the visual view each of its shapes.
const unseenDrawn = /^(defs|clipPath|mask|symbol|pattern|marker|linearGradient|radialGradient|title|desc|style|script|filter|metadata)$/;
function drawing(el, out) {
  const r = el.getBoundingClientRect();
  if (r.width < 4 || r.height < 4) return 0;
  const visual = walkState.view === 'visual', large = r.width > 60 && r.height > 60;
  const l = lineBox(el);
  l.depth = out.depth + 1;
  const own = heardOn.get(el) === true || clickableSelf(el, getComputedStyle(el));
  let used = 0, left = 600, words = '';
  const visit = n => {
    for (const k of n.children) {
      if (left-- < 0 || used > walkState.budget) return;
      if (unseenDrawn.test(k.localName) || !k.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (k.localName === 'foreignObject') { used += flow(k, l); continue; }
      const role = roleOf(k), shape = shapeTags.has(k.localName);
      const acts = acting.has(role) || clickableSelf(k, getComputedStyle(k));
      if (acts || shape && (visual || own && large && k.localName !== 'text')) {
        const name = nameOf(k, 'clickable');
        if (name && words.endsWith(name)) words = words.slice(0, -name.length);
        if (acts) used += putControl(l, k, acting.has(role) ? role : 'clickable', name)[1];
        else used += put(l, (k.localName === 'text' ? 'text ' : 'shape ') + quote(k.localName === 'text' ? name : lookOf(k), 80) + ' [ref=' + refOf(k, 'clickable', name) + ']', k)[1];
        continue;
      }
      if (k.localName === 'text') words += ' ' + k.textContent;
      if (!shape) visit(k);
    }
  };
  visit(el);
  const name = nameOf(el, 'img');
  if (words.trim() && large && walkState.view !== 'controls') used += put(l, cut(safe(clean(words)), 300), el)[1];
  if (own && !(l.kids.length && !heardOn.get(el) && el.childElementCount < 2)) {
    const [k, b] = putControl(out, el, 'clickable', name || clean(words).slice(0, 80));
    k.kids = l.kids.filter(x => /\[ref=/.test(x.s) || clean(words).length > 80);
    return used + b;
  }
  if (!l.kids.length) {
    if (!name && !visual || walkState.view === 'controls' || r.width < 12 || r.height < 12) return 0;
    return put(out, 'img' + (name ? ' ' + quote(name, 80) : ''), el)[1];
  }
  if (!name && !visual) { out.kids.push(...l.kids); return used; }
  const [k, b] = put(out, 'img' + (name ? ' ' + quote(name, 80) : ''), el);
  k.kids = l.kids;
  return used + b;
}
