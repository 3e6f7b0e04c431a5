// The chart of a bisect: drawn from JSON, and again whenever the page hears of a new version.

import { NARROW, themed, thinLabels } from "./figures.js";

const CONFIG = { displayModeBar: false, responsive: true };
const chart = document.querySelector("#chart");

let figure = null;
let version = null;

async function load() {
  const wanted = document.querySelector("#live")?.dataset.version;
  if (!wanted || wanted === version) return;
  version = wanted;
  // What cannot be taken back is done to the version that is on the screen.
  for (const field of document.querySelectorAll("input[name=version]")) field.value = wanted;
  try {
    const response = await fetch(chart.dataset.figure, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(`status ${response.status}`);
    figure = await response.json();
    draw();
  } catch (error) {
    chart.textContent = `The chart could not be loaded: ${error.message}.`;
  }
}

function draw() {
  if (!chart.classList.contains("js-plotly-plot")) chart.replaceChildren();
  const { data, layout } = themed(figure);
  layout.font.family = getComputedStyle(document.body).fontFamily;
  if (chart.clientWidth < NARROW) thinLabels(layout.xaxis);
  Plotly.react(chart, data, layout, CONFIG);
}

document.documentElement.addEventListener("themechange", () => figure && draw());
document.body.addEventListener("htmx:afterSwap", load);
load();
