// The docked card: everything about B, beside the chart and never over it.

import { sideText } from "./address.js";
import { sizeText } from "./marks.js";
import { address, element, link, number, percent } from "./text.js";

const MARKS = { worse: "▾", better: "▴" };
const asked = new Map(); // by side: the box of a point's forms, kept with what was typed there

export function showCard(state) {
  const card = document.querySelector("#card");
  card.hidden = !state.b;
  if (state.b) card.replaceChildren(...content(state, state.b));
}

function content(state, side) {
  const { chart } = state;
  const focus = chart.series.find((one) => one.id === side.id);
  const revision = chart.revisions.name[side.at];
  const subject = chart.revisions.subject[side.at];
  const changes = chart.series.flatMap((one) => [
    ...one.found.filter((found) => found.index === side.at).map((found) => changeLine(one, found)),
    ...one.marks.filter((found) => found.index === side.at).map((found) => markLine(one, found)),
  ]);
  return [
    element("p", { class: "title" }, element("strong", { class: "revision" }, revision), ` ${subject}`),
    ...pointLines(chart, focus, side.at),
    ...changes.flat(),
    actions(chart, focus, side),
    ...(document.querySelector("#chart").dataset.ask ? [asks(state, side)] : []),
  ];
}

function pointLines(chart, series, at) {
  const index = series.at.get(at);
  const name = element("p", { class: "muted" }, `${series.mode} · ${series.hardware}`, ...simulated(series));
  if (index === undefined) return [name, element("p", { class: "muted" }, "not measured here")];
  const factor = series.factor ?? 1;
  const [low, high] = [series.lows[index] / factor, series.highs[index] / factor];
  const spread = Number.isFinite(low) && series.lows[index] !== null ? ` (${number(low)} to ${number(high)})` : "";
  const excluded = series.left_out?.[index];
  return [
    name,
    element("p", {}, element("span", { class: "value" }, number(series.value[index])), ` ${chart.unit}`),
    element("p", { class: "muted" }, `n = ${series.n[index]}${spread}${beside(series, index)}`),
    ...(excluded ? [element("p", { class: "muted" }, excluded)] : []),
    ...(series.apart?.[index] ? [apartLine(series.apart[index])] : []),
  ];
}

// Two points against each other are second to a change of level, and named so.
function beside(series, index) {
  const [before, here] = [series.value[index - 1], series.value[index]];
  return index && before ? `; ${percent((100 * (here - before)) / before)} % to the point before` : "";
}

function simulated(series) {
  return series.simulated ? [" ", element("span", { class: "tag" }, "simulated")] : [];
}

function apartLine(means) {
  const words = "! lab? its runs disagree:";
  return element("p", {}, element("strong", { class: "lab" }, words), ` ${means.map(number).join(", ")}`);
}

function changeLine(series, found) {
  const ends = found.low === null ? "" : ` [${percent(found.low)}, ${percent(found.high)}]`;
  const sure = found.probability > 0.99 ? "> 99" : Math.round(100 * found.probability);
  const words = ` ${series.name}, ${found.state}, ${sure} % likely to be real; began after ${found.suspects[0]}, at the latest in ${found.suspects[1]}`;
  const size = element("strong", { class: found.verdict }, `${MARKS[found.verdict]} ${percent(found.percent)}${ends} %`);
  return [
    element("p", { class: "found" }, size, words),
    ...(found.alert ? [element("p", {}, link(`/alerts/${found.alert[0]}/`, `Alert ${found.alert[0]}`), `, ${found.alert[1]}`)] : []),
    element("p", { class: "muted" }, found.why),
  ];
}

const KINDS = { excursion: "excursion", slow: "slow change", noise: "change of noise", modes: "change of modes" };

function markLine(series, found) {
  const size = element("strong", { class: found.verdict }, sizeText(found));
  return [
    element("p", { class: "found" }, size, ` ${series.name}, ${KINDS[found.kind]}, ${found.state}`),
    element("p", { class: "muted" }, found.why),
  ];
}

export function commitPage(chart, at) {
  return `/commits/${encodeURIComponent(chart.tree)}/${encodeURIComponent(chart.revisions.name[at])}/`;
}

function actions(chart, series, side) {
  const buttons = [button(commitPage(chart, side.at), "Open commit")];
  const index = series.at.get(side.at);
  if (index) {
    const before = series.revision[index - 1];
    const sides = [before, side.at].map((at) => [chart.tree, chart.revisions.name[at], series.hardware, series.mode, chart.metric].join(":"));
    const words = `Compare with ${chart.revisions.name[before]}`;
    buttons.push(button(address("/compare/", [["a", sides[0]], ["b", sides[1]]]), words));
  }
  if (index !== undefined) {
    const pairs = [["part", "runs"], ["hardware", series.hardware], ["mode", series.mode]];
    buttons.push(button(`${address(commitPage(chart, side.at), pairs)}#runs`, "Its runs"));
  }
  const { note } = document.querySelector("#chart").dataset;
  if (note) {
    const revision = chart.revisions.name[side.at];
    const pairs = [["kind", "note"], ["tree", chart.tree], ["hardware", series.hardware], ["first", revision]];
    buttons.push(button(address(note, pairs), "Add a note"));
  }
  return element("p", { class: "actions" }, ...buttons, element("kbd", {}, "Esc"));
}

function button(href, words) {
  return element("a", { class: "btn", href }, words);
}

// Where A and B are compared: what the chart shows of them, as narrow as the series have in common.
export function comparePage({ chart, a, b, hidden }) {
  const shown = chart.series.filter((one) => !hidden.has(one.id));
  const only = (key) => (new Set(shown.map((one) => one[key])).size === 1 ? shown[0][key] : "");
  const hardware = only("hardware");
  const mode = hardware && only("mode");
  const rest = mode ? [hardware, mode, chart.metric] : hardware ? [hardware] : [];
  const sides = [a, b].map(({ at }) => [chart.tree, chart.revisions.name[at], ...rest].join(":"));
  return address("/compare/", [["a", sides[0]], ["b", sides[1]]]);
}

// The forms that ask agents to measure, for those who may: made by the server, once for each point.
function asks({ chart }, side) {
  const key = sideText(chart, side);
  if (!asked.has(key)) {
    const box = element("div", { class: "asks" });
    asked.set(key, box);
    fill(box, key, [["series", side.id], ["revision", chart.revisions.name[side.at]]]);
  }
  return asked.get(key);
}

async function fill(box, key, pairs) {
  const from = address(document.querySelector("#chart").dataset.ask, pairs);
  try {
    const response = await fetch(from, { headers: { "HX-Request": "true" } });
    if (response.redirected) throw new Error("sign in again");
    if (!response.ok) throw new Error(`status ${response.status}`);
    const made = new DOMParser().parseFromString(await response.text(), "text/html");
    box.replaceChildren(...made.body.children);
  } catch (error) {
    asked.delete(key);
    box.textContent = `What can be measured here could not be loaded: ${error.message}.`;
  }
}

// Back to the chart as it is now, with what is chosen.
export function listenCard() {
  document.querySelector("#card").addEventListener("submit", ({ target }) => {
    if (target.elements.next) target.elements.next.value = location.pathname + location.search;
  });
}
