// The figure of the server under Plotly: colours of the theme, and points as one path a series,
// which is drawn four times as fast as a marker each.

const COLOUR = /^var\(--[\w-]+\)$/;
const COLOURS = new Set(["color", "fillcolor", "bgcolor", "bordercolor", "gridcolor", "linecolor"]);
const PLACE = /[ML](-?[\d.]+),(-?[\d.]+)/g;

// A figure, from its text, with the colours of the theme in force.
export function parsed(text) {
  const [probe, known] = [document.createElement("span"), new Map()];
  const resolve = (colour) => {
    if (!COLOUR.test(colour)) return colour;
    if (!known.has(colour)) {
      probe.style.color = colour;
      known.set(colour, getComputedStyle(probe).color);
    }
    return known.get(colour);
  };
  document.body.append(probe);
  const made = JSON.parse(text, (key, value) => {
    if (!COLOURS.has(key)) return value;
    return Array.isArray(value) ? value.map(resolve) : resolve(value);
  });
  probe.remove();
  return made;
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
