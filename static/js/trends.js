// The page of the trend chart: has Plotly take the server's drawing over, and gives it its keys. What
// the form changes comes as a fragment with a new figure.

import { start } from "./explorer/explorer.js";
import { handle } from "./keys.js";

const HINT = matchMedia("(pointer: coarse)").matches
  ? "tap a revision for B; pinch to zoom, tap twice for all"
  : "click a revision for B, shift-click for A; drag to zoom, double click for all";
const CLOSER = 0.6; // of the part in sight, a press of a key
const KEPT = ["a", "b", "view", "range", "hide", "from", "to", "asof"]; // of the address, when the form changes

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
    await import(panel.dataset.plotly).catch(() => {
      throw new Error("Plotly could not be loaded");
    });
    if (panel !== shown) return; // a press has replaced it meanwhile
    const started = await start(panel, document.querySelector("#figure").dataset.figure);
    if (panel !== shown) {
      started.stop();
      return;
    }
    explorer = started;
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
    row.addEventListener("pointerenter", () => explorer?.point(row.dataset.change));
    row.addEventListener("pointerleave", () => explorer?.point(null));
  }
}

// With the chart focused.
const ON_CHART = {
  ArrowLeft: () => explorer.step(-1),
  ArrowRight: () => explorer.step(1),
  ArrowUp: () => explorer.zoom(CLOSER),
  ArrowDown: () => explorer.zoom(1 / CLOSER),
  Home: () => explorer.pan(-1),
  End: () => explorer.pan(1),
  Enter: () => explorer.chooseByKey("b"),
  Escape: () => explorer.leave(),
  "Shift+ArrowLeft": () => explorer.markTo(-1),
  "Shift+ArrowRight": () => explorer.markTo(1),
  "Shift+Enter": () => explorer.chooseByKey("a"),
};

function onKey(event) {
  const does = ON_CHART[event.shiftKey ? `Shift+${event.key}` : event.key];
  if (explorer && event.target.id === "chart" && does && does() !== false) event.preventDefault();
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
  const query = new URLSearchParams({ tree: form.elements.tree.value });
  if (event.target.name === "metric") query.set("metric", event.target.value);
  window.location.assign(`${form.getAttribute("action")}?${query}`);
}

// The request of the form carries what is chosen in the chart.
function onRequest(event) {
  if (event.detail.elt.id !== "controls") return;
  const query = new URLSearchParams(location.search);
  for (const key of KEPT) {
    const values = query.getAll(key);
    if (values.length) event.detail.parameters[key] = values;
  }
}

handle("[", () => explorer?.step(-1));
handle("]", () => explorer?.step(1));
handle("+", () => explorer?.zoom(CLOSER));
handle("-", () => explorer?.zoom(1 / CLOSER));
handle("0", () => explorer?.whole());
handle("c", () => explorer?.compare());
handle("s", split);
document.documentElement.addEventListener("themechange", () => explorer?.redraw());
document.addEventListener("keydown", onKey, { capture: true });
document.querySelector("#controls").addEventListener("change", onFormChange);
document.body.addEventListener("htmx:configRequest", onRequest);
for (const name of ["htmx:responseError", "htmx:sendError"]) {
  document.body.addEventListener(name, ({ detail }) => {
    const reason = detail.xhr.status ? `status ${detail.xhr.status}` : "no answer";
    document.querySelector("#hint").textContent = `This could not be loaded: ${reason}.`;
  });
}
// A form of the card leads back to the chart as it is now.
document.body.addEventListener("submit", ({ target }) => {
  if (target.closest("#card") && target.elements.next) target.elements.next.value = location.pathname + location.search;
});
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id === "explorer") load();
});
load();
