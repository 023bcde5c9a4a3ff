"use strict";
// Points of a run: unpacked, coloured, filtered, drawn. The page and the viewer share this file; it asks nobody for
// anything, and draws by WebGL2 or, without it, into the pixels of a canvas.

const NUMBER_BINS = 10;
const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array };

const decimal = value => value.toFixed(2).replace(/^0/, "");
const listed = shares => shares.map(([name, share]) => `${name} ${decimal(share)}`).join(", ");

// -- the data ---------------------------------------------------------------------------------------------------------

class Points {
  constructor(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    const array = name => {
      const [at, type, count] = header.arrays[name];
      return new TYPES[type](buffer, 4 + length + at, count);
    };
    Object.assign(this, { count: header.count, steps: header.steps, ids: header.ids, highlights: header.highlights });
    this.drawnFrom = header.drawn_from; // how many there were, where these are a sample
    for (const name of ["x", "y"]) this[name] = array(name);
    const summed = steps => { let sum = 0; return Uint32Array.from(steps, step => sum += step); };
    this.rows = summed(array("rows"));
    this.columns = header.columns.map((column, place) => ({ ...column, codes: array("column " + place) }));
    this.labels = header.labels; // all that a model could have answered
    this.runnersUp = header.runners_up.map((names, place) => ({ names, codes: array("runner-up " + place), shares: array("share " + place) }));
    this.near = new Map();
    const near = summed(array("near")), nearest = array("nearest"), each = near.length ? nearest.length / near.length : 0;
    near.forEach((row, place) => this.near.set(row, Array.from(nearest.subarray(place * each, (place + 1) * each))));
    this.filters = new Map(); // name of a column -> the bins of it that are hidden
    this.found = null; // rows that a search found, as a mask, or null
    this.visible = new Uint8Array(this.count).fill(1);
  }

  static async unpack(text) { // base64 of gzipped bytes
    const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Points(await new Response(stream).arrayBuffer());
  }

  column(name) { return this.columns.find(column => column.name === name); }

  bins(column) { // what a legend shows: a name for each bin
    if (column.names.length) return column.names;
    const tenths = Array.from({ length: NUMBER_BINS }, (_, bin) => `.${bin}–${bin === 9 ? "1" : "." + (bin + 1)}`);
    return [...tenths, "–"];
  }

  bin(column, row) {
    const code = column.codes[row];
    if (column.names.length) return code;
    return code > this.steps ? NUMBER_BINS : Math.min(NUMBER_BINS - 1, Math.floor(code * NUMBER_BINS / this.steps));
  }

  value(column, row) {
    if (column.names.length) return column.names[column.codes[row]];
    return column.codes[row] > this.steps ? "–" : decimal(column.codes[row] / this.steps);
  }

  probabilities(row) { // of the answer, of those that came next, and of what is left; null where none are known
    const [answer, sureness] = ["answer", "sureness"].map(name => this.columns.findLast(column => column.name === name));
    if (!sureness || sureness.codes[row] > this.steps) return null;
    const ranked = [{ ...answer, shares: sureness.codes }, ...this.runnersUp].filter(({ shares }) => shares[row] <= this.steps);
    const known = ranked.map(({ names, codes, shares }) => [names[codes[row]], shares[row]]);
    const left = this.labels.filter(label => !known.some(([name]) => name === label));
    const rest = Math.max(0, this.steps - known.reduce((sum, [, code]) => sum + code, 0));
    if (left.length) known.push([left.length > 1 ? `${left.length} other labels` : left[0], rest]);
    return listed(known.map(([name, code]) => [name, code / this.steps]));
  }

  id(row) { return this.ids ? this.ids[row] : `row ${this.rows[row] + 1}`; }

  counts(column) { // of the points that the other filters leave, by bin
    const counts = new Array(this.bins(column).length).fill(0);
    const left = this.mask(column.name);
    for (let row = 0; row < this.count; row++) if (left[row]) counts[this.bin(column, row)]++;
    return counts;
  }

  mask(except) {
    const mask = this.found ? Uint8Array.from(this.found) : new Uint8Array(this.count).fill(1);
    for (const [name, hidden] of this.filters) {
      const column = this.column(name);
      if (name === except || !column || !hidden.size) continue;
      const gone = this.bins(column).map((_, bin) => hidden.has(bin));
      for (let row = 0; row < this.count; row++) if (gone[this.bin(column, row)]) mask[row] = 0;
    }
    return mask;
  }

  toggle(column, bin) {
    const hidden = this.filters.get(column.name) || new Set();
    hidden.has(bin) ? hidden.delete(bin) : hidden.add(bin);
    this._set(column, hidden);
  }

  only(column, bins) { // show these bins alone
    this._set(column, new Set(this.bins(column).map((_, bin) => bin).filter(bin => !bins.includes(bin))));
  }

  shown(column) { // the bins that are not hidden
    const hidden = this.filters.get(column.name) || new Set();
    return this.bins(column).map((_, bin) => bin).filter(bin => !hidden.has(bin));
  }

  clear(name) { name === undefined ? this.filters.clear() : this.filters.delete(name); this.update(); }

  update() { this.visible = this.mask(); }

  _set(column, hidden) {
    hidden.size ? this.filters.set(column.name, hidden) : this.filters.delete(column.name);
    this.update();
  }
}

// -- colours ----------------------------------------------------------------------------------------------------------

const OTHER = [138, 146, 156];
const PALETTE = [[59, 143, 212], [230, 159, 0], [0, 158, 115], [204, 121, 167], [213, 94, 0], [86, 180, 233],
                 [160, 140, 0]]; // after Okabe and Ito: told apart by colour-blind readers
const RAMP = [[0, 48, 110], [38, 66, 108], [70, 84, 107], [97, 102, 111], [122, 120, 118], [147, 139, 120],
              [173, 160, 115], [200, 181, 105], [228, 204, 90], [254, 231, 70]]; // dark blue to yellow, by lightness
const KNOWN = { wrong: [213, 94, 0], right: [59, 143, 212], test: [213, 94, 0], train: [154, 165, 177],
                dev: [204, 186, 140], independent: [59, 143, 212], unused: [90, 90, 90], "–": OTHER };

function colours(points, column) { // one for each bin; names beyond the palette share one
  if (!column.names.length) return [...RAMP, OTHER];
  let next = 0;
  return column.names.map(name => KNOWN[name] || PALETTE[next++] || OTHER);
}

const css = ([red, green, blue]) => `rgb(${red},${green},${blue})`;

// -- drawing ----------------------------------------------------------------------------------------------------------

const VERTEX = `#version 300 es
in vec2 place; in float bin; in float visible;
uniform vec2 scale, offset; uniform float size; uniform sampler2D palette; out vec4 colour;
void main() {
  gl_Position = visible > .5 ? vec4(place * scale + offset, 0., 1.) : vec4(9., 9., 9., 1.);
  gl_PointSize = size;
  colour = texelFetch(palette, ivec2(int(bin + .5), 0), 0);
}`;
const FRAGMENT = `#version 300 es
precision mediump float; in vec4 colour; out vec4 pixel;
void main() { vec2 from = gl_PointCoord - .5; if (dot(from, from) > .25) discard; pixel = colour; }`;

class Gpu {
  constructor(canvas, points) {
    const gl = this.gl = canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("no WebGL2");
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.at = name => gl.getUniformLocation(program, name);
    this.buffers = {};
    const places = new Uint16Array(points.count * 2);
    for (let row = 0; row < points.count; row++) {
      places[2 * row] = points.x[row];
      places[2 * row + 1] = points.y[row];
    }
    this.array(program, "place", 2, gl.UNSIGNED_SHORT, true, places);
    this.array(program, "bin", 1, gl.UNSIGNED_BYTE, false, new Uint8Array(points.count));
    this.array(program, "visible", 1, gl.UNSIGNED_BYTE, false, points.visible);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, shuffled(points.count), gl.STATIC_DRAW);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
  }

  array(program, name, size, type, normalised, values) {
    const gl = this.gl, place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name] = gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, normalised, 0, 0);
  }

  set(name, values) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[name]);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, values, this.gl.DYNAMIC_DRAW);
  }

  colour(bins, palette) {
    const gl = this.gl, pixels = Uint8Array.from(palette.flatMap(colour => [...colour, 255]));
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, palette.length, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    this.set("bin", bins);
  }

  show(visible) { this.set("visible", visible); }

  draw(view, size, count, timed) {
    const gl = this.gl, { width, height } = gl.canvas;
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(this.at("scale"), 2 * view.scale / width, -2 * view.scale / height);
    gl.uniform2f(this.at("offset"), 2 * view.x / width - 1, 1 - 2 * view.y / height);
    gl.uniform1f(this.at("size"), size);
    gl.drawElements(gl.POINTS, count, gl.UNSIGNED_INT, 0);
    // reading a pixel waits for the picture, so that its time is known
    if (timed) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
}

class Pixels {
  constructor(canvas, points) {
    Object.assign(this, { context: canvas.getContext("2d"), points, order: shuffled(points.count) });
    this.visible = points.visible;
  }

  colour(bins, palette) {
    this.bins = bins;
    this.palette = Uint32Array.from(palette.map(([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0));
  }

  show(visible) { this.visible = visible; }

  draw(view, size, count) {
    const { width, height } = this.context.canvas, { x, y } = this.points;
    const image = this.context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const edge = Math.max(1, Math.round(size * .85)), half = edge >> 1, step = view.scale / 65535;
    for (let at = 0; at < count; at++) {
      const row = this.order[at];
      if (!this.visible[row]) continue;
      const left = Math.round(x[row] * step + view.x) - half, top = Math.round(y[row] * step + view.y) - half;
      const colour = this.palette[this.bins[row]];
      for (let down = Math.max(0, top); down < Math.min(height, top + edge); down++)
        for (let right = Math.max(0, left); right < Math.min(width, left + edge); right++)
          pixels[down * width + right] = colour;
    }
    this.context.putImageData(image, 0, 0);
  }
}

function shuffled(count) { // so that the first thousand are a sample of all; the same every time
  const order = Uint32Array.from({ length: count }, (_, place) => place);
  let state = 42;
  for (let at = count - 1; at > 0; at--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (at + 1);
    [order[at], order[other]] = [order[other], order[at]];
  }
  return order;
}

const FRAME = 40; // milliseconds that a picture may take while it moves
const SLOW = 120; // a whole picture that takes longer is drawn without a graphics card: pixels are then faster

class PointMap {
  constructor(frame, points, picked) {
    Object.assign(this, { frame, points, picked, chosen: -1, moving: false, most: points.count });
    this.canvas = frame.querySelector("canvas");
    try {
      this.asked = new URLSearchParams(location.search); // ?canvas and ?webgl, for tests and doubts
      if (this.asked.has("canvas")) throw new Error("asked for");
      this.painter = new Gpu(this.canvas, points);
    } catch {
      this.paintPixels();
    }
    this.canvas.dataset.painter = this.painter.constructor.name;
    this.ring = frame.querySelector(".ring");
    new ResizeObserver(() => this.fit()).observe(frame);
    this.listen();
    this.fit();
  }

  paintPixels() {
    const fresh = this.canvas.cloneNode();
    this.canvas.replaceWith(fresh);
    this.canvas = fresh;
    this.painter = new Pixels(fresh, this.points);
    fresh.dataset.painter = "Pixels";
    if (this.coloured) this.painter.colour(...this.coloured);
  }

  fit() { // the whole map, as large as the frame allows
    const ratio = devicePixelRatio || 1, { clientWidth, clientHeight } = this.frame;
    if (!clientWidth) return;
    Object.assign(this.canvas, { width: clientWidth * ratio, height: clientHeight * ratio });
    const scale = .94 * Math.min(this.canvas.width, this.canvas.height);
    this.home = scale;
    this.view = { scale, x: (this.canvas.width - scale) / 2, y: (this.canvas.height - scale) / 2 };
    if (this.painter instanceof Gpu && this.coloured && !this.tried) this.tryOut();
    this.draw();
  }

  tryOut() { // the second picture is timed: the first one compiles
    this.tried = true;
    for (const timed of [false, true]) {
      const begun = performance.now();
      this.painter.draw(this.view, 3, this.points.count, true);
      const slow = timed && performance.now() - begun > SLOW;
      if (slow && !this.asked.has("webgl")) this.paintPixels();
    }
  }

  colour(column) {
    const bins = new Uint8Array(this.points.count), palette = colours(this.points, column);
    for (let row = 0; row < bins.length; row++) bins[row] = Math.min(255, this.points.bin(column, row));
    this.coloured = [bins, palette.slice(0, 256)];
    this.painter.colour(...this.coloured);
    this.draw();
  }

  show() { this.painter.show(this.points.visible); this.draw(); }

  choose(row) { this.chosen = row; this.draw(); this.picked(row); }

  draw() {
    if (!this.view || this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      const ratio = devicePixelRatio || 1, zoom = Math.sqrt(this.view.scale / this.home);
      const size = ratio * Math.min(12, zoom * Math.max(1.5, Math.min(7, 260 / Math.sqrt(this.points.count))));
      const count = this.moving ? Math.min(this.most, this.points.count) : this.points.count;
      const begun = performance.now();
      this.painter.draw(this.view, size, count, this.moving);
      this.took = performance.now() - begun;
      if (this.moving && this.took > FRAME) this.most = Math.max(2000, Math.round(count * FRAME / this.took));
      else if (this.moving && this.took < FRAME / 2) this.most = Math.min(this.points.count, Math.round(count * 1.3));
      const shown = this.chosen >= 0;
      this.ring.hidden = !shown;
      if (shown) {
        const [x, y] = this.pixel(this.chosen);
        this.ring.style.transform = `translate(${x / ratio}px, ${y / ratio}px)`;
      }
    });
  }

  pixel(row) {
    const step = this.view.scale / 65535;
    return [this.points.x[row] * step + this.view.x, this.points.y[row] * step + this.view.y];
  }

  at(x, y, within = 14) { // the nearest visible point, in pixels of the canvas; -1: none
    const step = this.view.scale / 65535, { points } = this;
    let best = -1, least = (within * (devicePixelRatio || 1)) ** 2;
    for (let row = 0; row < points.count; row++) {
      if (!points.visible[row]) continue;
      const across = points.x[row] * step + this.view.x - x, down = points.y[row] * step + this.view.y - y;
      const away = across * across + down * down;
      if (away < least) [best, least] = [row, away];
    }
    return best;
  }

  move(across, down) { this.view.x += across; this.view.y += down; this.draw(); }

  zoom(by, x = this.canvas.width / 2, y = this.canvas.height / 2) {
    const scale = Math.min(this.home * 200, Math.max(this.home * .5, this.view.scale * by)), ratio = scale / this.view.scale;
    Object.assign(this.view, { scale, x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio });
    this.draw();
  }

  hold(moving) { // fewer points while it moves, all of them when it rests
    clearTimeout(this.rest);
    this.moving = moving || this.moving;
    this.rest = setTimeout(() => { this.moving = false; this.draw(); }, 160);
  }

  listen() {
    const frame = this.frame, ratio = () => devicePixelRatio || 1, fingers = new Map();
    const place = event => {
      const box = frame.getBoundingClientRect();
      return [(event.clientX - box.left) * ratio(), (event.clientY - box.top) * ratio()];
    };
    let moved = 0, apart = 0;
    frame.addEventListener("wheel", event => {
      event.preventDefault();
      this.hold(true);
      this.zoom(Math.exp(-event.deltaY / 400), ...place(event));
    }, { passive: false });
    frame.addEventListener("pointerdown", event => {
      fingers.set(event.pointerId, place(event));
      [moved, apart] = [0, 0];
      frame.setPointerCapture(event.pointerId);
    });
    frame.addEventListener("pointermove", event => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      fingers.set(event.pointerId, now);
      moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      this.hold(true);
      if (fingers.size === 1) return this.move(now[0] - before[0], now[1] - before[1]);
      const [[ax, ay], [bx, by]] = [...fingers.values()], wide = Math.hypot(ax - bx, ay - by);
      if (apart) this.zoom(wide / apart, (ax + bx) / 2, (ay + by) / 2);
      apart = wide;
    });
    const up = event => {
      if (fingers.delete(event.pointerId) && moved < 6 && event.type === "pointerup") this.choose(this.at(...place(event)));
    };
    for (const name of ["pointerup", "pointercancel"]) frame.addEventListener(name, up);
    frame.addEventListener("keydown", event => {
      const step = 40 * ratio();
      const keys = {
        ArrowLeft: () => this.move(step, 0), ArrowRight: () => this.move(-step, 0), ArrowUp: () => this.move(0, step),
        ArrowDown: () => this.move(0, -step), "+": () => this.zoom(1.3), "=": () => this.zoom(1.3),
        "-": () => this.zoom(1 / 1.3), 0: () => this.fit(), Escape: () => this.choose(-1),
        Enter: () => this.choose(this.at(this.canvas.width / 2, this.canvas.height / 2, 1e5)),
      };
      if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.hold(true);
      keys[event.key]();
    });
  }
}

// -- the panel beside it ----------------------------------------------------------------------------------------------

const element = (tag, fields = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
};

const described = pairs => element("dl", {}, ...pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));

function highlighted(note, method) { // a text, its words marked by their scores: a bar below, so that no colour is needed
  if (!note) return [];
  if (note.text !== undefined) return [element("p", { className: "text" }, note.text)];
  const name = method || Object.keys(note.scores)[0], scores = note.scores[name];
  const most = Math.max(...scores.map(Math.abs), 1e-9);
  const words = note.words.flatMap((word, place) => {
    const share = scores[place] / most, mark = element("mark", { title: scores[place].toFixed(3) }, word);
    mark.className = share < 0 ? "against" : "for";
    mark.style.setProperty("--share", Math.abs(share).toFixed(2));
    return [mark, " "];
  });
  return [element("p", { className: "text" }, ...words), element("p", { className: "soft small" }, `words by ${name}`)];
}

class Panel { // a map, what it is coloured by, its legend, filters, and the point that was chosen
  constructor(root, points, { more = null, alone = true, changed = () => {} } = {}) {
    Object.assign(this, { root, points, more, alone, changed }); // alone: no server knows more of a point
    const part = name => root.querySelector("." + name);
    this.parts = { by: part("by"), legend: part("legend"), chips: part("chips"), details: part("details"), count: part("count") };
    const hint = this.parts.details.firstElementChild;
    this.map = new PointMap(part("frame"), points, row => row < 0 ? this.parts.details.replaceChildren(hint) : this.details(row));
    this.parts.by.replaceChildren(...points.columns.map(column => element("option", { value: column.name }, column.name)));
    this.parts.by.addEventListener("change", () => this.refresh());
    this.refresh();
    root.hidden = false;
    this.map.fit();
  }

  get column() { return this.points.column(this.parts.by.value); }

  only(name, values) { // filter by values of a column, and colour by it; whether there is such a column
    const column = this.points.column(name);
    const bins = column && values.map(value => column.names.indexOf(value)).filter(bin => bin >= 0);
    if (!bins || !bins.length) return false;
    this.points.only(column, bins);
    this.parts.by.value = name;
    this.refresh();
    return true;
  }

  refresh() {
    const { points, column } = this, palette = colours(points, column), counts = points.counts(column);
    const hidden = points.filters.get(column.name) || new Set();
    const items = points.bins(column).map((name, bin) => {
      const button = element("button", { type: "button", title: "click: hide or show; double click, or with Shift: only this" },
        element("i", { className: "key", style: `background:${css(palette[bin] || OTHER)}` }), ` ${name} `,
        element("span", { className: "soft" }, counts[bin].toLocaleString("en")));
      button.setAttribute("aria-pressed", String(!hidden.has(bin)));
      button.dataset.bin = bin;
      const alone = () => { points.only(column, [bin]); this.refresh(); this.focus(bin); };
      const toggle = () => { points.toggle(column, bin); this.refresh(); this.focus(bin); };
      button.addEventListener("click", event => event.shiftKey ? alone() : toggle());
      button.addEventListener("dblclick", alone);
      return counts[bin] || hidden.has(bin) ? element("li", {}, button) : "";
    });
    this.parts.legend.replaceChildren(...items);
    this.parts.chips.replaceChildren(...[...points.filters].map(([name, gone]) => {
      const left = points.shown(points.column(name)).map(bin => points.bins(points.column(name))[bin]);
      const text = left.length <= 3 ? left.join(", ") || "nothing" : `${left.length} of ${left.length + gone.size}`;
      const chip = element("button", { type: "button", title: "remove this filter" }, `${name}: ${text} ×`);
      chip.addEventListener("click", () => { points.clear(name); this.refresh(); });
      return chip;
    }));
    const shown = points.visible.reduce((sum, one) => sum + one, 0);
    const all = points.drawnFrom ? `, drawn from ${points.drawnFrom.toLocaleString("en")}` : "";
    this.parts.count.textContent = `${shown.toLocaleString("en")} of ${points.count.toLocaleString("en")} texts${all}`;
    this.map.colour(column);
    this.map.show();
    this.changed(points);
  }

  focus(bin) { const button = this.parts.legend.querySelector(`[data-bin="${bin}"]`); if (button) button.focus(); }

  async details(row) {
    const { points } = this;
    const known = points.columns.map(column => [column.name, points.value(column, row)]).filter(([, value]) => value !== "–");
    const shares = this.alone && points.probabilities(row);
    if (shares) known.splice(1 + known.findLastIndex(([name]) => name === "sureness"), 0, ["probabilities", shares]);
    const list = described(known);
    const near = points.near.get(row) || [];
    const links = near.filter(other => other >= 0).map(other => {
      const label = points.value(points.columns[0], other);
      const link = element("button", { type: "button" }, `${points.id(other)} (${label})`);
      link.addEventListener("click", () => this.map.choose(other));
      return element("li", {}, link);
    });
    const beside = links.length ? [element("p", {}, "Nearest training texts"), element("ul", {}, ...links)] : [];
    const first = this.more ? await this.more(row) : highlighted(points.highlights[points.id(row)]);
    if (row === this.map.chosen) this.parts.details.replaceChildren(element("h3", {}, points.id(row)), ...first, list, ...beside);
  }
}
