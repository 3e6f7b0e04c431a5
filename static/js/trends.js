// The page of the trend chart: has Plotly take the server's drawing over, and gives it its keys. What
// the form changes comes as a fragment with a new figure.

import { start } from "./explorer/explorer.js";
import { library } from "./explorer/plot.js";
import { address } from "./explorer/text.js";
import { handle } from "./keys.js";

const HINT = "click a revision for B, shift-click for A; drag to zoom, double click for all";
const KEPT = ["a", "b", "view", "range", "hide", "sort"]; // of the address, when the form changes

let explorer = null;
let shown = null; // the panel that it is in

// Without Plotly the server's drawing stays, and the page states so.
async function load() {
  const panel = document.querySelector("#chart");
  if (panel && panel === shown) return; // htmx tells of each part of one answer
  shown = panel;
  explorer?.stop();
  explorer = null;
  if (!panel) return;
  listen();
  try {
    // Nothing of Plotly delays the first paint.
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    await library(panel.dataset.plotly);
    explorer = await start(panel, JSON.parse(document.querySelector("#figure").dataset.figure));
    panel.querySelector("#hint").textContent = HINT;
  } catch (error) {
    panel.classList.remove("is-live");
    panel.querySelector("#hint").textContent = `Drawn by the server: ${error.message}.`;
  }
}

function listen() {
  const copy = document.querySelector("[data-copy]");
  if (copy && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", () => navigator.clipboard.writeText(location.href));
  }
  for (const row of document.querySelectorAll(".findings [data-change]")) {
    row.addEventListener("pointerenter", () => explorer?.point(Number(row.dataset.change)));
    row.addEventListener("pointerleave", () => explorer?.point(null));
  }
}

const ON_CHART = {
  ArrowLeft: () => explorer.step(-1),
  ArrowRight: () => explorer.step(1),
  ArrowUp: () => explorer.closer(),
  ArrowDown: () => explorer.wider(),
  Home: () => explorer.pan(-1),
  End: () => explorer.pan(1),
};

// With the chart focused; Shift with an arrow marks a range, with Enter sets A.
function onKey(event) {
  const chart = document.querySelector("#chart");
  if (!explorer || event.target !== chart) return;
  if (event.key === "Escape") {
    if (!explorer.leave()) return;
  } else if (event.key === "Enter") explorer.chooseByKey(event.shiftKey);
  else if (event.shiftKey && event.key === "ArrowLeft") explorer.markTo(-1);
  else if (event.shiftKey && event.key === "ArrowRight") explorer.markTo(1);
  else if (ON_CHART[event.key]) ON_CHART[event.key]();
  else return;
  event.preventDefault();
}

// One chart, by mode, by hardware, and again.
function split() {
  const choices = [...document.querySelectorAll("#controls [name=split]")];
  const at = choices.findIndex((one) => one.checked);
  choices[(at + 1) % choices.length]?.click();
}

// What the form changes beyond the series: another tree or metric has other hardware and modes.
function onFormChange(event) {
  if (event.target.name !== "tree" && event.target.name !== "metric") return;
  const form = event.currentTarget;
  const pairs = [["tree", form.elements.tree.value]];
  if (event.target.name === "metric") pairs.push(["metric", event.target.value]);
  window.location.assign(address(form.getAttribute("action"), pairs));
}

// The request of the form carries what is chosen in the chart.
function onRequest(event) {
  if (event.detail.elt.id !== "controls") return;
  const query = new URLSearchParams(location.search);
  for (const key of [...KEPT, "from", "to", "asof"]) {
    const values = query.getAll(key);
    if (values.length) event.detail.parameters[key] = values;
  }
}

handle("[", () => explorer?.step(-1));
handle("]", () => explorer?.step(1));
handle("+", () => explorer?.closer());
handle("-", () => explorer?.wider());
handle("0", () => explorer?.whole());
handle("c", () => explorer?.compare());
handle("s", split);
document.documentElement.addEventListener("themechange", () => explorer?.redraw());
document.addEventListener("keydown", onKey, { capture: true });
document.querySelector("#controls").addEventListener("change", onFormChange);
document.body.addEventListener("htmx:configRequest", onRequest);
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "explorer") load();
});
load();
