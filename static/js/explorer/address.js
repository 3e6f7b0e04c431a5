// What one sees is in the address: A and B, the part in sight, the range, what is hidden, the order.

import { namesIn, windowOf } from "./data.js";

const OWN = ["a", "b", "pin", "view", "range", "hide", "sort"];

// Reads the address into a fresh state of the chart.
export function read(chart) {
  const query = new URLSearchParams(window.location.search);
  const pins = query.getAll("pin"); // how older addresses name A and B: the later one is B
  const b = query.get("b") ?? pins.at(-1);
  const a = query.get("a") ?? (pins.length > 1 ? pins[0] : null);
  const range = (query.get("range") ?? "").split("..").map((name) => chart.revisions.name.indexOf(name));
  return {
    chart,
    // By names that the chart has: the address may name revisions that were not measured.
    window: (chart.window && windowOf(chart, ...chart.window)) || chart.whole,
    hidden: new Set(query.getAll("hide").map(Number)),
    a: side(chart, a),
    b: side(chart, b),
    range: range.length === 2 && range.every((at) => at >= 0) ? range : null,
    sort: query.get("sort") ?? "",
    pointed: null,
    dragged: null,
  };
}

// `<series>@<revision>`; null where either is not shown.
function side(chart, text) {
  const [id, ...rest] = (text ?? "").split("@");
  const at = chart.revisions.name.indexOf(rest.join("@"));
  const series = chart.series.find((one) => one.id === Number(id));
  return series && at >= 0 ? { at, id: series.id } : null;
}

export function sideText(chart, { id, at }) {
  return `${id}@${chart.revisions.name[at]}`;
}

// The pairs of a state, in the order of an address.
export function pairs(state) {
  const { chart } = state;
  const names = chart.revisions.name;
  const isWhole = state.window[0] <= chart.whole[0] && state.window[1] >= chart.whole[1];
  const view = isWhole ? null : namesIn(chart, state.window);
  return [
    ...(view ? [["view", view.join("..")]] : []),
    ...[...state.hidden].map((id) => ["hide", String(id)]),
    ...(state.a ? [["a", sideText(chart, state.a)]] : []),
    ...(state.b ? [["b", sideText(chart, state.b)]] : []),
    ...(state.range ? [["range", state.range.map((at) => names[at]).join("..")]] : []),
    ...(state.sort ? [["sort", state.sort]] : []),
  ];
}

export function write(state) {
  const query = new URLSearchParams(window.location.search);
  for (const key of OWN) query.delete(key);
  for (const [key, value] of pairs(state)) query.append(key, value);
  const text = String(query).replaceAll("%40", "@").replaceAll("%2F", "/");
  history.replaceState(history.state, "", text ? `?${text}` : window.location.pathname);
  for (const link of document.querySelectorAll("a[data-take]")) point(link, state);
}

// A picture shows what is in sight.
function point(link, state) {
  const address = new URL(link.href);
  for (const key of ["view", "hide"]) address.searchParams.delete(key);
  for (const [key, value] of pairs(state)) {
    if (key === "view" || key === "hide") address.searchParams.append(key, value);
  }
  link.href = address.href;
}
