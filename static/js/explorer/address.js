// What one sees is in the address: A and B, the part in sight, the range, what is hidden, the order.

const OWN = ["a", "b", "pin", "view", "height", "range", "hide", "sort"];

// What the address says, as a state: sides and range by names that the chart has.
export function read(meta) {
  const query = new URLSearchParams(window.location.search);
  const pins = query.getAll("pin"); // how older addresses name A and B: the later one is B
  const range = (query.get("range") ?? "").split("..").map((name) => meta.revisions.name.indexOf(name));
  return {
    view: meta.window,
    heights: query.getAll("height"),
    hidden: new Set(query.getAll("hide").map(Number)),
    a: side(meta, query.get("a") ?? (pins.length > 1 ? pins[0] : null)),
    b: side(meta, query.get("b") ?? pins.at(-1)),
    range: range.length === 2 && range.every((at) => at >= 0) ? range : null,
    sort: query.get("sort") ?? "",
  };
}

// `<series>@<revision>`; null where either is not shown.
function side(meta, text) {
  const [id, ...rest] = (text ?? "").split("@");
  const at = meta.revisions.name.indexOf(rest.join("@"));
  const series = meta.series.find((one) => one.id === Number(id));
  return series && at >= 0 ? { at, id: series.id } : null;
}

export function sideText(meta, { id, at }) {
  return `${id}@${meta.revisions.name[at]}`;
}

// What the server needs to know for its figure.
export function drawnPairs({ view, heights, hidden }) {
  return [
    ...(view ? [["view", view.join("..")]] : []),
    ...heights.map((one) => ["height", one]),
    ...[...hidden].map((id) => ["hide", String(id)]),
  ];
}

export function write(meta, state) {
  const names = meta.revisions.name;
  const pairs = [
    ...drawnPairs(state),
    ...(state.a ? [["a", sideText(meta, state.a)]] : []),
    ...(state.b ? [["b", sideText(meta, state.b)]] : []),
    ...(state.range ? [["range", state.range.map((at) => names[at]).join("..")]] : []),
    ...(state.sort ? [["sort", state.sort]] : []),
  ];
  const text = readable(replaced(window.location.search, pairs));
  history.replaceState(history.state, "", text ? `?${text}` : window.location.pathname);
  for (const taken of document.querySelectorAll("a[data-take]")) taken.href = pictured(taken.href, state);
}

function replaced(search, pairs) {
  const query = new URLSearchParams(search);
  for (const key of OWN) query.delete(key);
  for (const [key, value] of pairs) query.append(key, value);
  return query;
}

function readable(query) {
  return String(query).replaceAll("%40", "@").replaceAll("%2F", "/").replaceAll("%3A", ":");
}

// The address of a picture, or of a figure, of what is in sight.
export function pictured(href, state, more = []) {
  const address = new URL(href, window.location.href);
  address.search = replaced(address.search, [...drawnPairs(state), ...more]);
  return address.href;
}
