// The marked range and its statistics.

import { draw } from "./chart.js";
import { measured, view, traceOf, writeAddress } from "./points.js";
import { address, element, link, number, percent, width } from "./text.js";

export function mark(ends) {
  if (!ends) return;
  const [low, high] = ends.map((end) => (typeof end === "string" ? Date.parse(`${end}Z`) : end));
  const places = new Set();
  view.shown.series.forEach((series, number) => {
    traceOf(number)?.x.forEach((x, index) => {
      if (x !== null && x >= low && x <= high) places.add(series.revision[index]);
    });
  });
  view.range = places.size ? [Math.min(...places), Math.max(...places)] : null;
  writeAddress();
  draw();
  showRange();
}

export function showRange() {
  const box = document.querySelector("#range");
  box.replaceChildren();
  if (!view.range) return;
  const names = view.range.map((place) => view.shown.revisions.name[place]);
  const rows = view.shown.series.map(rangeRow).filter(Boolean);
  const head = ["Mode", "Hardware", "revisions", `mean, ${view.shown.unit}`, "sd, %", "min", "max"];
  const titles = [...head, "last to first, %"].map((words, column) =>
    element("th", column > 1 ? { class: "number" } : {}, words),
  );
  const table = element("table", { class: "wide" });
  table.append(element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...rows));
  box.append(
    element("h2", {}, `${names[0]} to ${names[1]}`),
    rangeLinks(names),
    element("div", { class: "scroll" }, table),
  );
}

function rangeLinks(names) {
  const only = new URLSearchParams(window.location.search);
  for (const key of ["range", "pin", "last"]) only.delete(key);
  only.set("from", names[0]);
  only.set("to", names[1]);
  const sides = names.map((name, end) => ["ab"[end], `${view.shown.tree}:${name}`]);
  const clear = element("button", { type: "button", class: "plain" }, "Clear");
  clear.addEventListener("click", () => {
    view.range = null;
    writeAddress();
    draw();
    showRange();
  });
  const links = [
    link(`?${only}`, "Show only these"),
    link(address("/compare/", sides), "Compare the ends"),
    clear,
  ];
  return element("ul", { class: "links" }, ...links.map((each) => element("li", {}, each)));
}

function rangeRow(series, which) {
  const inside = [...series.revision.keys()].filter(
    (index) => series.revision[index] >= view.range[0] && series.revision[index] <= view.range[1],
  );
  if (!inside.length) return null;
  const values = inside.map((index) => measured({ series: which, index }).value);
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
  return element(
    "tr",
    {},
    element("th", {}, series.mode),
    element("td", {}, series.hardware),
    ...cells,
  );
}
