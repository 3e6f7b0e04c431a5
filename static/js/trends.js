// The trend chart: drawn from JSON, with a hover card that locks, two pins to compare, a marked
// range with its statistics, and the keyboard. What one sees is always in the address.

const VERDICTS = { w: "worse", b: "better", e: "equivalent", c: "cannot tell", "-": "" };
const FLAGS = { r: "regressed", i: "improved", "-": "" };
const MARKS = { worse: "▾", better: "▴", equivalent: "=", "cannot tell": "?" };
const MOST_PINS = 2;
const DOUBLE_CLICK = 300; // milliseconds
const NARROW = 640; // pixels: below it only every third revision is labelled
const ALERT_ROW = 15; // pixels
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: false };

const chart = document.querySelector("#chart");
const plot = document.querySelector("#plot");
const card = document.querySelector("#card");
const coarse = matchMedia("(pointer: coarse)");

let source = null; // the address of the figure shown or awaited
let shown = null; // the payload of /trends/figure.json
let hovered = null; // {series, index}: positions in the payload
let pins = []; // at most two of the same
let lockedAt = -Infinity; // the time of the last click
const asked = new Map(); // by pin: the box of a point's forms, kept with what was typed there
let range = null; // [place, place] in the order of the tree

// Small helpers

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== ""));
  return made;
}

// Colours are names of CSS properties. Texts are left alone: one may look like such a name.
function themed(value, key = "") {
  if (typeof value === "string") {
    return key.endsWith("color") && value.startsWith("var(") ? colour(value) : value;
  }
  if (Array.isArray(value)) return value.map((each) => themed(each, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, themed(each, name)]));
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name.slice(4, -1)).trim();
}

const numbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

function number(value) {
  return Number.isFinite(value) ? numbers.format(value).replace("-", "−") : "–";
}

function percent(value) {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 1 : 2;
  const text = value.toFixed(digits);
  if (Number(text) === 0) return text.replace("-", "");
  return (value > 0 ? "+" : "") + text.replace("-", "−");
}

function width(value) {
  return percent(Math.abs(value)).replace("+", "");
}

function address(path, pairs) {
  const query = pairs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  return query ? `${path}?${query}` : path;
}

// What a point is

function facts(point) {
  const series = shown.series[point.series];
  const place = series.revision[point.index];
  return {
    series,
    place,
    revision: shown.revisions.name[place],
    subject: shown.revisions.subject[place],
    previous: point.index ? shown.revisions.name[series.revision[point.index - 1]] : "",
    ...measured(point),
    n: series.n[point.index],
    percent: series.percent[point.index],
    error: series.error[point.index],
    verdict: VERDICTS[series.verdict[point.index]],
    flag: FLAGS[series.flag[point.index]],
    found: series.found.find((one) => one.at === point.index),
  };
}

// As measured: from the columns, or from the trace where that draws what was measured.
function measured({ series: which, index }) {
  const series = shown.series[which];
  if (series.value) {
    return { value: series.value[index], low: series.low[index], high: series.high[index] };
  }
  const { y, error_y: bars } = traceOf(which);
  const above = bars?.array[index] ?? NaN;
  const below = bars?.arrayminus ? bars.arrayminus[index] : above;
  return { value: y[index], low: y[index] - below, high: y[index] + above };
}

function same(one, other) {
  return one && other && one.series === other.series && one.index === other.index;
}

function commitPage(revision) {
  const tree = encodeURIComponent(shown.tree);
  return `/commits/${tree}/${encodeURIComponent(revision)}/`;
}

function side(point) {
  const { series, revision } = facts(point);
  return [shown.tree, revision, series.hardware, series.mode, shown.metric].join(":");
}

function inOrder(points) {
  return [...points].sort((one, other) => facts(one).place - facts(other).place);
}

function comparePage(points) {
  const [a, b] = points.map(side);
  return address("/compare/", [["a", a], ["b", b]]);
}

// The figure

// Called for every swap htmx makes; only another figure is fetched.
async function load() {
  const wanted = document.querySelector("[data-figure]").dataset.figure;
  chart.hidden = !wanted; // nothing to draw: the notice above says why
  if (wanted === source) return;
  source = wanted;
  if (!wanted) return;
  const payload = await fetchJson(wanted);
  if (!payload || wanted !== source) return;
  shown = payload;
  readAddress();
  draw();
  showRange();
}

async function fetchJson(address) {
  try {
    const response = await fetch(address, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return await response.json();
  } catch (error) {
    document.querySelector("#range").textContent = `The chart could not be loaded: ${error.message}.`;
    return null;
  }
}

function draw() {
  const first = !plot.classList.contains("js-plotly-plot");
  if (first) plot.replaceChildren();
  const { data, layout } = themed(shown.figure);
  layout.font.family = getComputedStyle(document.body).fontFamily;
  if (coarse.matches) layout.dragmode = false;
  if (plot.clientWidth < NARROW) thinLabels(layout.xaxis);
  layout.shapes = range ? [rangeShape(layout)] : [];
  layout.selections = [];
  // Plotly dims what is not selected; the marked range is told by its band alone.
  for (const trace of data) trace.unselected = { marker: { opacity: 1 } };
  Plotly.react(plot, data, layout, CONFIG);
  if (first) listen();
  placeMarks();
  placeAlerts();
}

function thinLabels(axis) {
  for (const key of ["tickvals", "ticktext"]) {
    if (axis[key]) axis[key] = axis[key].filter((_, index) => index % 3 === 1);
  }
}

function rangeShape(layout) {
  const [from, to] = range.map((place) => along(place));
  const half = layout.xaxis.type === "linear" ? 0.5 : 0;
  return {
    type: "rect",
    xref: "x",
    yref: "paper",
    x0: from - half,
    x1: to + half,
    y0: 0,
    y1: 1,
    fillcolor: colour("var(--muted)"),
    opacity: 0.15,
    line: { width: 0 },
    layer: "below",
  };
}

function along(place) {
  for (const [number, series] of shown.series.entries()) {
    const index = series.revision.indexOf(place);
    if (index >= 0) return traceOf(number)?.x[index] ?? place;
  }
  return place;
}

function traceOf(seriesNumber) {
  const { id } = shown.series[seriesNumber];
  return shown.figure.data.find((trace) => trace.meta === id);
}

function pointOf(event) {
  const found = event.points?.find((point) => point.data.meta !== undefined);
  if (!found) return null;
  const series = shown.series.findIndex((each) => each.id === found.data.meta);
  return { series, index: found.pointNumber };
}

function pixels(point) {
  const trace = traceOf(point.series);
  const axes = plot._fullLayout;
  if (!trace || !axes || trace.x[point.index] === null) return null;
  return {
    x: axes.xaxis._offset + axes.xaxis.d2p(trace.x[point.index]),
    y: axes.yaxis._offset + axes.yaxis.d2p(trace.y[point.index]),
  };
}

function listen() {
  plot.on("plotly_hover", (event) => hover(pointOf(event)));
  plot.on("plotly_unhover", () => hover(null));
  plot.on("plotly_click", onClick);
  plot.on("plotly_selected", (event) => mark(event?.range?.x));
  plot.on("plotly_afterplot", placeMarks);
  plot.on("plotly_afterplot", placeAlerts);
}

// The card

function hover(point) {
  hovered = point;
  showCard();
}

// Plotly may tell one click twice, and people click twice: that locks, it does not open.
function onClick(event) {
  if (event.event.timeStamp - lockedAt < DOUBLE_CLICK) return;
  lockedAt = event.event.timeStamp;
  choose(pointOf(event));
}

function choose(point) {
  if (!point) return;
  if (pins.some((pin) => same(pin, point))) {
    window.location.assign(commitPage(facts(point).revision));
    return;
  }
  pins = pins.length < MOST_PINS ? [...pins, point] : [point];
  hovered = null;
  writeAddress();
  showCard();
}

function unlock() {
  pins = [];
  writeAddress();
  showCard();
}

function showCard() {
  const point = hovered ?? pins.at(-1);
  card.hidden = !point;
  card.classList.toggle("locked", !hovered && pins.length > 0);
  if (point) {
    card.replaceChildren(...cardContent(point));
    placeCard(point);
  }
  placeMarks();
}

function cardContent(point) {
  const its = facts(point);
  const spread = Number.isFinite(its.high) ? ` (${number(its.low)} to ${number(its.high)})` : "";
  const rows = [
    element("p", {}, element("strong", { class: "revision" }, its.revision), ` ${its.subject}`),
    element("p", { class: "muted" }, its.series.mode, " · ", its.series.hardware, ...simulated(its)),
    element("p", {}, element("span", { class: "value" }, number(its.value)), ` ${shown.unit}`),
    element("p", { class: "muted" }, `n = ${its.n}${spread}`),
    changeLine(its),
    ...(its.found ? findingLines(its.found) : []),
  ];
  if (!hovered) {
    rows.push(actions(point, its));
    if (chart.dataset.ask) rows.push(asks(point));
  }
  return rows;
}

function simulated(its) {
  return its.series.simulated ? [" ", element("span", { class: "tag" }, "simulated")] : [];
}

function changeLine(its) {
  if (!its.verdict) return element("p", { class: "muted" }, "nothing before it to compare with");
  const size = `Δ ${percent(its.percent)}${its.error === null ? "" : ` ± ${width(its.error)}`} %`;
  const name = its.verdict.replace(" ", "-");
  const flagged = its.flag && !its.found ? `, ${its.flag}` : "";
  const words = `${MARKS[its.verdict]} ${its.verdict} by ministat${flagged}`;
  return element("p", {}, `${size} `, element("span", { class: name }, words));
}

function findingLines(found) {
  const ends = found.low === null ? "" : ` [${percent(found.low)}, ${percent(found.high)}]`;
  const sure = found.probability > 0.99 ? "> 99" : Math.round(100 * found.probability);
  const size = `${MARKS[found.verdict]} ${percent(found.percent)}${ends} %`;
  return [
    element(
      "p",
      { class: "found" },
      element("strong", { class: found.verdict }, size),
      ` ${found.state}, ${sure} % sure; after ${found.suspects[0]} up to ${found.suspects[1]}`,
    ),
    ...(found.alert ? [alertLine(found.alert)] : []),
    element("p", { class: "muted" }, found.why),
  ];
}

function alertLine([number, state]) {
  return element("p", {}, link(`/alerts/${number}/`, `Alert ${number}`), `, ${state}`);
}

function actions(point, its) {
  const links = [element("a", { href: commitPage(its.revision) }, "Commit")];
  if (its.previous) {
    const before = { series: point.series, index: point.index - 1 };
    links.push(link(comparePage([before, point]), `Compare with ${its.previous}`));
  }
  if (pins.length === MOST_PINS) {
    const [earlier, later] = inOrder(pins);
    const words = `Compare ${facts(earlier).revision} with ${facts(later).revision}`;
    links.push(link(comparePage([earlier, later]), words));
  } else {
    links.push(element("span", { class: "muted" }, "click another point to compare"));
  }
  const close = element("button", { type: "button", class: "plain" }, "Unlock");
  close.addEventListener("click", unlock);
  return element("p", { class: "actions" }, ...links, close);
}

// The forms that ask agents to measure, for those who may: made by the server, once for each point.
function asks(point) {
  const pin = pinText(point);
  if (!asked.has(pin)) {
    const box = element("div", { class: "asks" });
    asked.set(pin, box);
    fillAsks(box, pin);
  }
  return asked.get(pin);
}

async function fillAsks(box, pin) {
  const [series, revision] = pin.split("@");
  const from = address(chart.dataset.ask, [["series", series], ["revision", revision]]);
  try {
    const response = await fetch(from, { headers: { "HX-Request": "true" } });
    if (response.redirected) throw new Error("sign in again");
    if (!response.ok) throw new Error(`status ${response.status}`);
    const made = new DOMParser().parseFromString(await response.text(), "text/html");
    box.replaceChildren(...made.body.children);
  } catch (error) {
    asked.delete(pin);
    box.textContent = `What can be measured here could not be loaded: ${error.message}.`;
  }
  if (box.isConnected) placeCard(pins.at(-1));
}

// Back to the chart as it is now, with what is locked.
function onAsk({ target }) {
  if (target.elements.next) target.elements.next.value = location.pathname + location.search;
}

function link(href, words) {
  return element("a", { href }, words);
}

function placeCard(point) {
  const at = pixels(point);
  if (!at) return;
  const left = at.x > chart.clientWidth / 2;
  card.style.top = `${Math.max(0, at.y - card.offsetHeight - 12)}px`;
  const x = left ? at.x - card.offsetWidth - 12 : at.x + 12;
  card.style.left = `${Math.max(0, Math.min(x, chart.clientWidth - card.offsetWidth))}px`;
}

function placeMarks() {
  for (const ring of chart.querySelectorAll(".ring")) ring.remove();
  const marked = hovered ? [...pins, hovered] : pins;
  for (const point of marked) {
    const at = pixels(point);
    if (!at) continue;
    const ring = element("span", { class: "ring" });
    ring.style.left = `${at.x}px`;
    ring.style.top = `${at.y}px`;
    chart.append(ring);
  }
}

// The labels of alerts, at the foot of their lines. Narrow charts have room for the number alone:
// the state is in the card and in the table of findings.
function placeAlerts() {
  for (const old of chart.querySelectorAll(".alert-label")) old.remove();
  const { xaxis, yaxis } = plot._fullLayout;
  for (const { number, state, href, x, row } of shown.alerts) {
    const words = plot.clientWidth < NARROW ? `${number}` : `${number} ${state}`;
    const label = element("a", { class: "alert-label", href, title: `Alert ${number}: ${state}` }, words);
    label.style.left = `${xaxis._offset + xaxis.d2p(x)}px`;
    label.style.top = `${yaxis._offset + yaxis._length - ALERT_ROW * (row + 1)}px`;
    chart.append(label);
  }
}

// The marked range

function mark(ends) {
  if (!ends) return;
  const [low, high] = ends.map((end) => (typeof end === "string" ? Date.parse(`${end}Z`) : end));
  const places = new Set();
  shown.series.forEach((series, number) => {
    traceOf(number)?.x.forEach((x, index) => {
      if (x !== null && x >= low && x <= high) places.add(series.revision[index]);
    });
  });
  range = places.size ? [Math.min(...places), Math.max(...places)] : null;
  writeAddress();
  draw();
  showRange();
}

function showRange() {
  const box = document.querySelector("#range");
  box.replaceChildren();
  if (!range) return;
  const names = range.map((place) => shown.revisions.name[place]);
  const rows = shown.series.map(rangeRow).filter(Boolean);
  const head = ["Mode", "Hardware", "revisions", `mean, ${shown.unit}`, "sd, %", "min", "max"];
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
  const sides = names.map((name, end) => ["ab"[end], `${shown.tree}:${name}`]);
  const clear = element("button", { type: "button", class: "plain" }, "Clear");
  clear.addEventListener("click", () => {
    range = null;
    writeAddress();
    draw();
    showRange();
  });
  const links = [link(`?${only}`, "Show only these"), link(address("/compare/", sides), "Compare the ends"), clear];
  return element("ul", { class: "links" }, ...links.map((each) => element("li", {}, each)));
}

function rangeRow(series, which) {
  const inside = [...series.revision.keys()].filter(
    (index) => series.revision[index] >= range[0] && series.revision[index] <= range[1],
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

// The address

function writeAddress() {
  const query = new URLSearchParams(window.location.search);
  query.delete("pin");
  query.delete("range");
  for (const pin of pins) query.append("pin", pinText(pin));
  if (range) query.set("range", range.map((place) => shown.revisions.name[place]).join(".."));
  const text = String(query).replaceAll("%40", "@").replaceAll("%2F", "/");
  history.replaceState(history.state, "", text ? `?${text}` : window.location.pathname);
}

function readAddress() {
  const query = new URLSearchParams(window.location.search);
  pins = query.getAll("pin").map(readPin).filter(Boolean).slice(0, MOST_PINS);
  const ends = (query.get("range") ?? "").split("..");
  const places = ends.map((name) => shown.revisions.name.indexOf(name));
  range = places.length === 2 && places.every((place) => place >= 0) ? places : null;
  hovered = null;
  showCard();
}

function pinText(point) {
  const { series, revision } = facts(point);
  return `${series.id}@${revision}`;
}

function readPin(text) {
  const [id, name] = text.split("@");
  const series = shown.series.findIndex((each) => each.id === Number(id));
  if (series < 0) return null;
  const place = shown.revisions.name.indexOf(name);
  const index = shown.series[series].revision.indexOf(place);
  return index < 0 ? null : { series, index };
}

// The keyboard

function step(key) {
  const at = hovered ?? pins.at(-1);
  if (!at) return { series: 0, index: shown.series[0].revision.length - 1 };
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const last = shown.series[at.series].revision.length - 1;
    const index = at.index + (key === "ArrowLeft" ? -1 : 1);
    return { series: at.series, index: Math.max(0, Math.min(last, index)) };
  }
  const count = shown.series.length;
  const series = (at.series + (key === "ArrowUp" ? -1 : 1) + count) % count;
  return { series, index: nearest(series, facts(at).place) };
}

function nearest(series, place) {
  const places = shown.series[series].revision;
  let best = 0;
  places.forEach((each, index) => {
    if (Math.abs(each - place) < Math.abs(places[best] - place)) best = index;
  });
  return best;
}

function onKey(event) {
  if (!shown?.series.length || event.target !== chart) return;
  if (event.key.startsWith("Arrow")) hover(step(event.key));
  else if (event.key === "Enter") choose(hovered ?? pins.at(-1));
  else if (event.key === "Escape") {
    hovered = null;
    unlock();
  } else return;
  event.preventDefault();
}

// What the form changes beyond the series: another tree or metric has other hardware and modes

function onFormChange(event) {
  if (event.target.name !== "tree" && event.target.name !== "metric") return;
  const form = event.currentTarget;
  const pairs = [["tree", form.elements.tree.value]];
  if (event.target.name === "metric") pairs.push(["metric", event.target.value]);
  window.location.assign(address(form.getAttribute("action"), pairs));
}

chart.addEventListener("keydown", onKey);
card.addEventListener("submit", onAsk);
document.querySelector("#controls").addEventListener("change", onFormChange);
document.documentElement.addEventListener("themechange", () => shown && draw());
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "evidence") load();
});
load();
