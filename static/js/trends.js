// The trend chart: drawn from JSON, with a hover card that locks, two pins to compare, a marked
// range with its statistics, and the keyboard. What one sees is always in the address.

import { choose, hover, showCard, unlock } from "./trends/card.js";
import { chart, draw, placeAlerts, placeMarkers, placeMarks, plot, pointOf } from "./trends/chart.js";
import { facts, readAddress, view } from "./trends/points.js";
import { mark, showRange } from "./trends/range.js";
import { address } from "./trends/text.js";

const DOUBLE_CLICK = 300; // milliseconds

let source = null; // the address of the figure shown or awaited
let isListening = false;
let lockedAt = -Infinity; // the time of the last click

// Called for every swap htmx makes; only another figure is fetched.
async function load() {
  const wanted = document.querySelector("[data-figure]").dataset.figure;
  chart.hidden = !wanted; // nothing to draw: the notice above says why
  if (wanted === source) return;
  source = wanted;
  if (!wanted) return;
  const payload = await fetchJson(wanted);
  if (!payload || wanted !== source) return;
  view.shown = payload;
  readAddress();
  showCard();
  draw();
  if (!isListening) listen();
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

function listen() {
  isListening = true;
  plot.on("plotly_hover", (event) => hover(pointOf(event)));
  plot.on("plotly_unhover", () => hover(null));
  plot.on("plotly_click", onClick);
  plot.on("plotly_selected", (event) => mark(event?.range?.x));
  plot.on("plotly_afterplot", placeMarks);
  plot.on("plotly_afterplot", placeAlerts);
  plot.on("plotly_afterplot", placeMarkers);
}

// Plotly may tell one click twice, and people click twice: that locks, it does not open.
function onClick(event) {
  if (event.event.timeStamp - lockedAt < DOUBLE_CLICK) return;
  lockedAt = event.event.timeStamp;
  choose(pointOf(event));
}

// The point to which an arrow key leads.
function step(key) {
  const at = view.hovered ?? view.pins.at(-1);
  if (!at) return { series: 0, index: view.shown.series[0].revision.length - 1 };
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const last = view.shown.series[at.series].revision.length - 1;
    const index = at.index + (key === "ArrowLeft" ? -1 : 1);
    return { series: at.series, index: Math.max(0, Math.min(last, index)) };
  }
  const count = view.shown.series.length;
  const series = (at.series + (key === "ArrowUp" ? -1 : 1) + count) % count;
  return { series, index: nearest(series, facts(at).place) };
}

function nearest(series, place) {
  const places = view.shown.series[series].revision;
  let best = 0;
  places.forEach((each, index) => {
    if (Math.abs(each - place) < Math.abs(places[best] - place)) best = index;
  });
  return best;
}

function onKey(event) {
  if (!view.shown?.series.length || event.target !== chart) return;
  if (event.key.startsWith("Arrow")) hover(step(event.key));
  else if (event.key === "Enter") choose(view.hovered ?? view.pins.at(-1));
  else if (event.key === "Escape") {
    view.hovered = null;
    unlock();
  } else return;
  event.preventDefault();
}

// What the form changes beyond the series: another tree or metric has other hardware and modes.
function onFormChange(event) {
  if (event.target.name !== "tree" && event.target.name !== "metric") return;
  const form = event.currentTarget;
  const pairs = [["tree", form.elements.tree.value]];
  if (event.target.name === "metric") pairs.push(["metric", event.target.value]);
  window.location.assign(address(form.getAttribute("action"), pairs));
}

chart.addEventListener("keydown", onKey);
document.querySelector("#controls").addEventListener("change", onFormChange);
document.documentElement.addEventListener("themechange", () => view.shown && draw());
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "evidence") load();
});
load();
