// The docked card: everything about B, beside the chart and never over it.

import { sideText } from "./address.js";
import { address, element, link, number, percent } from "./text.js";

const KINDS = { level: "", excursion: "excursion, ", slow: "slow change, ", noise: "change of noise, ", modes: "change of modes, " };
const MARKS = { worse: "▾ ", better: "▴ " };
const asked = new Map(); // by side: the box of a point's forms, kept with what was typed there

export function showCard(chart) {
  const card = document.querySelector("#card");
  const { b } = chart.state;
  card.hidden = !b;
  if (b) card.replaceChildren(...content(chart, b));
}

function content(chart, side) {
  const { series, revisions } = chart.meta;
  const focus = series.find((one) => one.id === side.id);
  const found = series.flatMap((one) =>
    [...one.found, ...one.marks].filter((each) => one.revision[each.at] === side.at).flatMap((each) => foundLines(one, each)));
  const name = element("strong", { class: "revision" }, revisions.name[side.at]);
  return [
    element("p", { class: "title" }, name, ` ${revisions.subject[side.at]}`),
    ...pointLines(chart, focus, side.at),
    ...found,
    actions(chart, focus, side),
    ...(chart.panel.dataset.ask ? [asks(chart, side)] : []),
  ];
}

function pointLines(chart, series, at) {
  const simulated = series.simulated ? [" ", element("span", { class: "tag" }, "simulated")] : [];
  const name = element("p", { class: "muted" }, `${series.mode} · ${series.hardware}`, ...simulated);
  const here = chart.valueAt(series, at);
  if (!here) return [name, element("p", { class: "muted" }, "not measured here")];
  const spread = here.low === null ? "" : ` (${number(here.low)} to ${number(here.high)})`;
  const before = chart.valueAt(series, series.revision[here.index - 1]);
  // Two points against each other are second to a change of level, and named so.
  const change = before?.value ? `; ${percent((100 * (here.value - before.value)) / before.value)} % to the point before` : "";
  const excluded = series.left_out?.[here.index];
  const apart = series.apart?.[here.index];
  return [
    name,
    element("p", {}, element("span", { class: "value" }, number(here.value)), ` ${chart.meta.unit}`),
    element("p", { class: "muted" }, `n = ${here.n}${spread}${change}`),
    ...(excluded ? [element("p", { class: "muted" }, excluded)] : []),
    ...(apart ? [element("p", {}, element("strong", { class: "lab" }, "! lab? its runs disagree:"), ` ${apart.map(number).join(", ")}`)] : []),
  ];
}

function foundLines(series, found) {
  const size = element("strong", { class: found.verdict }, `${MARKS[found.verdict] ?? ""}${found.size}`);
  const range = found.kind === "level" ? `, ${found.chance} likely to be real; began after ${found.suspects[0]}, at the latest in ${found.suspects[1]}` : "";
  return [
    element("p", { class: "found" }, size, ` ${series.name}, ${KINDS[found.kind]}${found.state}${range}`),
    ...(found.alert ? [element("p", {}, link(`/alerts/${found.alert[0]}/`, `Alert ${found.alert[0]}`), `, ${found.alert[1]}`)] : []),
    element("p", { class: "muted" }, found.why),
  ];
}

export function commitPage(meta, at) {
  return `/commits/${encodeURIComponent(meta.tree)}/${encodeURIComponent(meta.revisions.name[at])}/`;
}

function actions({ meta, panel }, series, side) {
  const [names, index] = [meta.revisions.name, series.revision.indexOf(side.at)];
  const buttons = [button(commitPage(meta, side.at), "Open commit")];
  if (index > 0) {
    const ends = [series.revision[index - 1], side.at].map((at) => [meta.tree, names[at], series.hardware, series.mode, meta.metric].join(":"));
    buttons.push(button(address("/compare/", [["a", ends[0]], ["b", ends[1]]]), `Compare with ${names[series.revision[index - 1]]}`));
  }
  if (index >= 0) {
    const pairs = [["part", "runs"], ["hardware", series.hardware], ["mode", series.mode]];
    buttons.push(button(`${address(commitPage(meta, side.at), pairs)}#runs`, "Its runs"));
  }
  if (panel.dataset.note) {
    const pairs = [["kind", "note"], ["tree", meta.tree], ["hardware", series.hardware], ["first", names[side.at]]];
    buttons.push(button(address(panel.dataset.note, pairs), "Add a note"));
  }
  return element("p", { class: "actions" }, ...buttons, element("kbd", {}, "Esc"));
}

function button(href, words) {
  return element("a", { class: "btn", href }, words);
}

// Where A and B are compared: what the chart shows of them, as narrow as the series have in common.
export function comparePage({ meta, state: { a, b, hidden } }) {
  const shown = meta.series.filter((one) => !hidden.has(one.id));
  const only = (key) => (new Set(shown.map((one) => one[key])).size === 1 ? shown[0][key] : "");
  const hardware = only("hardware");
  const mode = hardware && only("mode");
  const rest = mode ? [hardware, mode, meta.metric] : hardware ? [hardware] : [];
  const sides = [a, b].map(({ at }) => [meta.tree, meta.revisions.name[at], ...rest].join(":"));
  return address("/compare/", [["a", sides[0]], ["b", sides[1]]]);
}

// The forms that ask agents to measure, for those who may: made by the server, once for each point.
function asks({ meta, panel }, side) {
  const key = sideText(meta, side);
  if (!asked.has(key)) {
    const box = element("div", { class: "asks" });
    asked.set(key, box);
    fill(box, key, address(panel.dataset.ask, [["series", side.id], ["revision", meta.revisions.name[side.at]]]));
  }
  return asked.get(key);
}

async function fill(box, key, from) {
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
