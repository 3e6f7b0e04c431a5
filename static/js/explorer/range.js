// The statistics of the marked range: each series between its ends.

import { address, element, link, number, percent } from "./text.js";

const HEADS = ["Mode", "Hardware", "revisions", "mean", "sd, %", "min", "max", "last to first, %"];

export function showRange(chart, clear) {
  const box = document.querySelector("#range");
  const { meta, state: { range, hidden } } = chart;
  box.replaceChildren();
  if (!range) return;
  const names = range.map((at) => meta.revisions.name[at]);
  const rows = meta.series.filter((one) => !hidden.has(one.id)).map((one) => row(chart, one, range)).filter(Boolean);
  const titles = HEADS.map((words, column) =>
    element("th", column > 1 ? { class: "number" } : {}, column === 3 ? `mean, ${meta.unit}` : words));
  const table = element("table", { class: "wide" });
  table.append(element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...rows));
  box.append(
    element("h2", {}, `${names[0]} to ${names[1]}`),
    ...(meta.thinned ? [element("p", { class: "note" }, "Of the points drawn: extremes of each column of pixels.")] : []),
    links(meta, names, clear),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Statistics of the range" }, table),
  );
}

function links(meta, names, clear) {
  const only = new URLSearchParams(window.location.search);
  for (const key of ["range", "view", "height", "a", "b", "pin", "last"]) only.delete(key);
  only.set("from", names[0]);
  only.set("to", names[1]);
  const sides = names.map((name, end) => ["ab"[end], `${meta.tree}:${name}`]);
  const button = element("button", { type: "button", class: "plain" }, "Clear");
  button.addEventListener("click", clear);
  const all = [link(`?${only}`, "Show only these"), link(address("/compare/", sides), "Compare the ends"), button];
  return element("ul", { class: "links" }, ...all.map((each) => element("li", {}, each)));
}

function row(chart, series, [first, last]) {
  const inside = series.revision.filter((at) => at >= first && at <= last);
  const values = inside.map((at) => chart.valueAt(series, at).value);
  if (!values.length) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const sd = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : NaN;
  const cells = [
    values.length,
    number(mean),
    mean ? percent(Math.abs((100 * sd) / mean)).replace("+", "") : "–",
    number(Math.min(...values)),
    number(Math.max(...values)),
    values[0] ? percent((100 * (values.at(-1) - values[0])) / values[0]) : "–",
  ].map((value) => element("td", { class: "number" }, String(value)));
  return element("tr", {}, element("th", {}, series.mode), element("td", {}, series.hardware), ...cells);
}
