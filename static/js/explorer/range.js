// The statistics of the marked range: each series between its ends.

import { address, element, link, number, percent, width } from "./text.js";

const HEADS = ["Mode", "Hardware", "revisions", "mean", "sd, %", "min", "max", "last to first, %"];

export function showRange(state, clear) {
  const box = document.querySelector("#range");
  box.replaceChildren();
  if (!state.range) return;
  const { chart, range, hidden } = state;
  const names = range.map((at) => chart.revisions.name[at]);
  const rows = chart.series.filter((one) => !hidden.has(one.id)).map((one) => row(one, range)).filter(Boolean);
  const titles = HEADS.map((words, column) =>
    element("th", column > 1 ? { class: "number" } : {}, column === 3 ? `mean, ${chart.unit}` : words));
  const table = element("table", { class: "wide" });
  table.append(element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...rows));
  box.append(
    element("h2", {}, `${names[0]} to ${names[1]}`),
    ...(chart.isThinned ? [element("p", { class: "note" }, "Of the points drawn: extremes of each column of pixels.")] : []),
    links(chart, names, clear),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Statistics of the range" }, table),
  );
}

function links(chart, names, clear) {
  const only = new URLSearchParams(window.location.search);
  for (const key of ["range", "view", "a", "b", "pin", "last"]) only.delete(key);
  only.set("from", names[0]);
  only.set("to", names[1]);
  const sides = names.map((name, end) => ["ab"[end], `${chart.tree}:${name}`]);
  const button = element("button", { type: "button", class: "plain" }, "Clear");
  button.addEventListener("click", clear);
  const all = [link(`?${only}`, "Show only these"), link(address("/compare/", sides), "Compare the ends"), button];
  return element("ul", { class: "links" }, ...all.map((each) => element("li", {}, each)));
}

function row(series, [first, last]) {
  const values = series.value.filter((_, at) => series.revision[at] >= first && series.revision[at] <= last);
  if (!values.length) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const sd = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : NaN;
  const cells = [
    values.length,
    number(mean),
    mean ? width((100 * sd) / mean) : "–",
    number(Math.min(...values)),
    number(Math.max(...values)),
    values[0] ? percent((100 * (values.at(-1) - values[0])) / values[0]) : "–",
  ].map((value) => element("td", { class: "number" }, String(value)));
  return element("tr", {}, element("th", {}, series.mode), element("td", {}, series.hardware), ...cells);
}
