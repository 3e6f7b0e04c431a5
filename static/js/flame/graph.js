// The rectangles of a flame graph as the server drew them: where they lie when one of them fills the
// width, what their names have room for, which of them fit a search. Nothing here waits.

const SVG = "http://www.w3.org/2000/svg";
const CHARACTER = 7; // pixels of a letter of 11 px, in wide fonts
const LEAST_LETTERS = 3;
const PADDING = 4;
const BASELINE = 16;
const THIN = 3; // pixels of a frame whose edge would hide it
const NARROWEST = 4; // pixels of a frame that an arrow key stops at

export class Graph {
  constructor(svg) {
    this.svg = svg;
    this.all = Number(svg.dataset.all);
    this.serverRoot = svg.dataset.root ?? "";
    this.frames = [];
    const callers = [];
    for (const element of svg.querySelectorAll(".frame, .rest")) {
      const frame = read(element);
      frame.caller = callers[frame.depth - 1] ?? null;
      callers[frame.depth] = frame;
      this.frames.push(frame);
    }
    this.top = this.frames[0];
    this.whole = this.frames.find((one) => !one.isAbove && !one.isRest) ?? this.top;
    this.root = this.whole;
    this.byElement = new Map(this.frames.map((one) => [one.element, one]));
    this.byKey = new Map(this.frames.filter((one) => one.key).map((one) => [one.key, one]));
  }

  at(target) {
    return this.byElement.get(target?.closest?.(".frame, .rest")) ?? null;
  }

  // Has a frame fill the width; what is not in it goes, but for its callers.
  show(root) {
    this.root = root;
    const callers = new Set();
    for (let one = root.caller; one; one = one.caller) callers.add(one);
    const width = this.svg.clientWidth;
    const end = root.x + root.w;
    const margin = root.w * 1e-6;
    for (const one of this.frames) {
      const isInside = one.depth >= root.depth && one.x >= root.x - margin && one.x + one.w <= end + margin;
      const isAbove = callers.has(one);
      if (isAbove) place(one, 0, 1, width);
      else if (isInside) place(one, (one.x - root.x) / root.w, one.w / root.w, width);
      setShown(one, isAbove || isInside);
      one.element.classList.toggle("above", isAbove);
    }
  }

  // How wide the widest mark of narrower frames is now, of the width.
  get widestRest() {
    const rests = this.frames.filter((one) => one.isRest && one.isShown);
    return Math.max(0, ...rests.map((one) => one.w / this.root.w));
  }

  // Marks the frames whose name or module holds the text; the samples of those, no frame counted
  // within another.
  search(text) {
    const wanted = text.trim().toLowerCase();
    let found = 0;
    let total = 0;
    let until = -1; // depth of the match that the next frames may lie in
    for (const one of this.frames) {
      if (until >= 0 && one.depth <= until) until = -1;
      const isMatch = Boolean(wanted && one.key && one.text.includes(wanted));
      one.element.classList.toggle("match", isMatch);
      if (!isMatch) continue;
      found += 1;
      if (one.isAbove || until >= 0) continue;
      total += one.total;
      until = one.depth;
    }
    this.svg.classList.toggle("is-searched", Boolean(wanted));
    return { found, share: this.all ? (100 * total) / this.all : 0 };
  }

  // The frame beside, above or below one, for the arrow keys.
  beside(frame, key) {
    if (key === "ArrowUp") return frame.caller;
    if (key === "Home") return this.top;
    const width = this.svg.clientWidth;
    const stops = this.frames.filter((one) => one.isShown && !one.isRest && one.share * width >= NARROWEST);
    if (key === "ArrowDown") return stops.find((one) => one.caller === frame) ?? null;
    const row = stops.filter((one) => one.depth === frame.depth);
    return row[row.indexOf(frame) + (key === "ArrowRight" ? 1 : -1)] ?? null;
  }
}

function read(element) {
  const { key = "", x, w, total, depth, name = "", change = "" } = element.dataset;
  const title = element.querySelector("title").textContent;
  return {
    element,
    key,
    label: { change, name },
    title,
    x: Number(x),
    w: Number(w),
    total: Number(total),
    depth: Number(depth),
    text: title.split("\n", 1)[0].toLowerCase(),
    box: element.querySelector("rect"),
    drawnName: element.querySelector("svg"),
    isRest: element.classList.contains("rest"),
    isAbove: element.classList.contains("above"),
    isShown: true,
    share: 0,
  };
}

function setShown(one, isShown) {
  if (one.isShown === isShown) return;
  one.isShown = isShown;
  if (isShown) one.element.removeAttribute("display");
  else one.element.setAttribute("display", "none");
}

function place(one, x, share, width) {
  one.share = share;
  set(one.box, x, share);
  if (one.isRest) return;
  one.element.classList.toggle("thin", share * width < THIN);
  const text = cutLabel(one.label, Math.floor((share * width - 2 * PADDING) / CHARACTER));
  if (text && !one.drawnName) one.drawnName = named(one);
  if (!one.drawnName) return;
  set(one.drawnName, x, share);
  const shown = one.drawnName.firstElementChild.firstChild;
  if (shown.data !== text) shown.data = text;
}

function set(element, x, share) {
  element.setAttribute("x", `${100 * x}%`);
  element.setAttribute("width", `${100 * share}%`);
}

// A drawing within the frame, which cuts what reaches out of it.
function named(one) {
  const name = document.createElementNS(SVG, "svg");
  const text = document.createElementNS(SVG, "text");
  name.setAttribute("y", one.box.getAttribute("y"));
  name.setAttribute("height", one.box.getAttribute("height"));
  text.setAttribute("x", PADDING);
  text.setAttribute("y", BASELINE);
  text.append(document.createTextNode(""));
  name.append(text);
  one.element.append(name);
  return name;
}

// In so many letters. Of a number that does not fit the sign alone stays: a part of it is another one.
function cutLabel({ change, name }, most) {
  if (!change) return cut(name, most);
  if (change.length > most) return most >= 1 ? change[0] : "";
  return `${change} ${cut(name, most - change.length - 1)}`.trimEnd();
}

function cut(text, most) {
  if (text.length <= most) return text;
  return most < LEAST_LETTERS ? "" : `${text.slice(0, most - 1).trimEnd()}…`;
}
