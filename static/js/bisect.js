// The chart of a bisect: drawn from JSON, and again whenever the page hears of a new version.

const CONFIG = { displayModeBar: false, responsive: true };
const NARROW = 640; // pixels: below it only every third revision is labelled
const chart = document.querySelector("#chart");

let figure = null;
let version = null;

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

function thinLabels(axis) {
  for (const key of ["tickvals", "ticktext"]) {
    axis[key] = axis[key].filter((_, index) => index % 3 === 1);
  }
}

document.documentElement.addEventListener("themechange", () => figure && draw());
document.body.addEventListener("htmx:afterSwap", load);
load();
