// The card of the point under the pointer or of the last one locked.

import { chart, pixels, placeMarks } from "./chart.js";
import {
  MOST_PINS,
  commitPage,
  comparePage,
  facts,
  inOrder,
  pinText,
  same,
  view,
  writeAddress,
} from "./points.js";
import { address, element, link, number, percent, width } from "./text.js";

const MARKS = { worse: "▾", better: "▴", equivalent: "=", "cannot tell": "?" };

const card = document.querySelector("#card");
const asked = new Map(); // by pin: the box of a point's forms, kept with what was typed there

export function hover(point) {
  view.hovered = point;
  showCard();
}

export function choose(point) {
  if (!point) return;
  if (view.pins.some((pin) => same(pin, point))) {
    window.location.assign(commitPage(facts(point).revision));
    return;
  }
  view.pins = view.pins.length < MOST_PINS ? [...view.pins, point] : [point];
  view.hovered = null;
  writeAddress();
  showCard();
}

export function unlock() {
  view.pins = [];
  writeAddress();
  showCard();
}

export function showCard() {
  const point = view.hovered ?? view.pins.at(-1);
  card.hidden = !point;
  card.classList.toggle("locked", !view.hovered && view.pins.length > 0);
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
    element("p", {}, element("span", { class: "value" }, number(its.value)), ` ${view.shown.unit}`),
    element("p", { class: "muted" }, `n = ${its.n}${spread}`),
    ...(its.leftOut ? [element("p", { class: "muted" }, its.leftOut)] : []),
    changeLine(its),
    ...(its.found ? findingLines(its.found) : []),
  ];
  if (!view.hovered) {
    rows.push(actions(point, its));
    if (chart.dataset.ask) rows.push(asks(point));
  }
  return rows;
}

function simulated(its) {
  return its.series.simulated ? [" ", element("span", { class: "tag" }, "simulated")] : [];
}

function changeLine(its) {
  if (its.apart) return apartLine(its.apart);
  if (!its.verdict) return element("p", { class: "muted" }, "nothing before it to compare with");
  const size = `Δ ${percent(its.percent)}${its.error === null ? "" : ` ± ${width(its.error)}`} %`;
  const name = its.verdict.replace(" ", "-");
  const flagged = its.flag && !its.found ? `, ${its.flag}` : "";
  const words = `${MARKS[its.verdict]} ${its.verdict} by ministat${flagged}`;
  return element("p", {}, `${size} `, element("span", { class: name }, words));
}

function apartLine(means) {
  const words = "! lab? its runs disagree:";
  return element("p", {}, element("strong", { class: "lab" }, words), ` ${means.map(number).join(", ")}`);
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
  if (view.pins.length === MOST_PINS) {
    const [earlier, later] = inOrder(view.pins);
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
  if (box.isConnected) placeCard(view.pins.at(-1));
}

// Back to the chart as it is now, with what is locked.
function onAsk({ target }) {
  if (target.elements.next) target.elements.next.value = location.pathname + location.search;
}

function placeCard(point) {
  const at = pixels(point);
  if (!at) return;
  const left = at.x > chart.clientWidth / 2;
  card.style.top = `${Math.max(0, at.y - card.offsetHeight - 12)}px`;
  const x = left ? at.x - card.offsetWidth - 12 : at.x + 12;
  card.style.left = `${Math.max(0, Math.min(x, chart.clientWidth - card.offsetWidth))}px`;
}

card.addEventListener("submit", onAsk);
