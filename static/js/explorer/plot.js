// The figure of the server under Plotly: loading the library, colours of the theme, and points as one
// path a series, which is drawn four times as fast as a marker each.

const COLOUR = /^var\((--[\w-]+)\)$/;
const COLOURS = new Set(["color", "fillcolor", "bgcolor", "bordercolor", "gridcolor", "linecolor"]);
const PLACE = /[ML](-?[\d.]+),(-?[\d.]+)/g;

let loading = null;

// Plotly, once for the page. Fails with a reason that can be shown.
export function library(src) {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = src;
    script.addEventListener("load", () => (window.Plotly ? resolve() : reject(new Error("Plotly did not start"))));
    script.addEventListener("error", () => reject(new Error("Plotly could not be loaded")));
    document.head.append(script);
  });
  return loading;
}

// A part of a figure with the colours of the theme in force.
export function coloured(part) {
  const root = getComputedStyle(document.documentElement);
  const dark = root.colorScheme === "dark" || (root.colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const known = new Map();
  const resolve = (text) => {
    const name = COLOUR.exec(text)?.[1];
    if (!name) return text;
    if (!known.has(name)) known.set(name, side(root.getPropertyValue(name), dark));
    return known.get(name);
  };
  return walk(part, resolve);
}

// Of light-dark(…, …) the one for the theme; colours with commas inside have none here.
function side(value, dark) {
  const both = /^light-dark\(\s*([^,]+),\s*([^,]+)\)$/.exec(value.trim());
  return both ? both[dark ? 2 : 1].trim() : value.trim();
}

function walk(part, resolve) {
  if (Array.isArray(part)) return part[0] instanceof Object ? part.map((one) => walk(one, resolve)) : [...part];
  if (!(part instanceof Object)) return part;
  const fill = (key, value) => {
    if (!COLOURS.has(key)) return walk(value, resolve);
    return Array.isArray(value) ? value.map(resolve) : resolve(value);
  };
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, fill(key, value)]));
}

// The traces as they are drawn here: of a series' points one line, which `split` takes apart.
export function quick(data) {
  return data.flatMap((trace, at) => {
    const uid = `${trace.meta ?? "lane"}s${at}`;
    if (trace.mode !== "markers" || Array.isArray(trace.marker.symbol)) return [{ ...trace, uid }];
    const { marker, error_y: error, ...rest } = trace;
    const line = { color: marker.color, width: marker.size, simplify: false };
    const dots = { ...rest, uid: `${uid}dots`, mode: "lines", line, opacity: marker.opacity, connectgaps: true };
    return error ? [whiskers(dots, trace, uid), dots] : [dots];
  });
}

function whiskers(dots, { x, y, error_y: error }, uid) {
  const known = [...x.keys()].filter((at) => error.array[at] !== null && error.arrayminus[at] !== null);
  return {
    ...dots,
    uid: `${uid}whiskers`,
    x: known.flatMap((at) => [x[at], x[at]]),
    y: known.flatMap((at) => [y[at] - error.arrayminus[at], y[at] + error.array[at]]),
    line: { color: error.color, width: error.thickness, simplify: false },
    opacity: 0.35,
    hoverinfo: "skip",
  };
}

// After each drawing: every place of a line of points is a dot, and every two of one of whiskers are
// one. Plotly writes both as one line.
export function split(box) {
  for (const path of box.querySelectorAll('.trace[class*="dots"] .js-line')) {
    path.setAttribute("stroke-linecap", "round");
    path.setAttribute("d", path.getAttribute("d").replace(PLACE, "M$1,$2h0"));
  }
  for (const path of box.querySelectorAll('.trace[class*="whiskers"] .js-line')) {
    let before = null;
    path.setAttribute("d", path.getAttribute("d").replace(PLACE, (_, x, y) => {
      const joined = x === before;
      before = x;
      return `${joined ? "L" : "M"}${x},${y}`;
    }));
  }
}
