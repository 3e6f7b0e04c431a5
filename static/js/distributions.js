// Quantile curves and maps of histograms: has Plotly take the server's drawings over, also of rows and
// cards that come later.

import { parsed } from "./explorer/plot.js";
import { listenPresses } from "./explorer/presses.js";

const IS_TOUCH = matchMedia("(pointer: coarse)").matches;
const HINT = IS_TOUCH
  ? "Tap for value, quantile and count; pinch to zoom, tap twice for all."
  : "Point for value, quantile and count; drag to zoom, double click for all; with the keyboard +, -, arrows, 0.";
const AXES = ["xaxis", "yaxis"];
const STEP = 0.25; // of the view: how far an arrow moves it
const MOVES = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowDown: [0, -STEP], ArrowUp: [0, STEP] };
const wholes = new WeakMap(); // by box: the ranges of all that there is
const SETTINGS = { displayModeBar: false, showTips: false, doubleClick: false };

// The opacities of a map as shades of the ink, which only the page knows.
function shaded(trace, ink) {
  if (trace.type !== "heatmap") return trace;
  const parts = ink.match(/[\d.]+/g).slice(0, 3).join(", ");
  return { ...trace, colorscale: trace.colorscale.map(([at, opacity]) => [at, `rgba(${parts}, ${opacity})`]) };
}

async function draw(panel) {
  const box = panel.querySelector(".live");
  const { data, layout } = parsed(panel.dataset.figure);
  const width = box.clientWidth;
  const own = { width, height: (layout.height * width) / layout.width, dragmode: IS_TOUCH ? false : "zoom" };
  await window.Plotly.react(box, data.map((one) => shaded(one, layout.meta.color)), { ...layout, ...own }, SETTINGS);
  wholes.set(box, ranges(box));
}

const ranges = (box) => AXES.map((axis) => [...box.layout[axis].range]);

// The ranges [low, high] of both axes, moved back to where they begin within all that there is.
function look(box, wanted) {
  const change = {};
  wholes.get(box).forEach(([first, last], at) => {
    const [least, most] = [Math.min(first, last), Math.max(first, last)];
    const wide = Math.min(Math.abs(wanted[at][1] - wanted[at][0]), most - least);
    const low = Math.min(Math.max(Math.min(...wanted[at]), least), most - wide);
    change[`${AXES[at]}.range`] = first < last ? [low, low + wide] : [low + wide, low];
  });
  return window.Plotly.relayout(box, { ...change, "yaxis.tickmode": "auto" });
}

function zoom(box, factor) {
  look(box, ranges(box).map(([low, high]) => {
    const [middle, half] = [(low + high) / 2, ((high - low) / 2) * factor];
    return [middle - half, middle + half];
  }));
}

// Plotly takes the text back once a tap ends, so that it is asked for again.
function tapped(event) {
  const box = event.currentTarget;
  if (event.isTrusted && event.target.matches(".drag")) setTimeout(() => window.Plotly.Fx.hover(box, event, "xy"));
}

function onKey(event) {
  const box = event.currentTarget;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in MOVES) {
    look(box, ranges(box).map(([low, high], at) => [low, high].map((end) => end + MOVES[event.key][at] * (high - low))));
  } else if (event.key === "+" || event.key === "-") {
    zoom(box, event.key === "+" ? 0.5 : 2);
  } else if (event.key === "0") {
    draw(box.parentElement);
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

// Two fingers stay on the values that they lie on, across.
function pinching(box) {
  let held = null;
  return (from, to, isDone) => {
    held ??= ranges(box);
    const { left, width } = box.querySelector(".nsewdrag").getBoundingClientRect();
    const [[low, high], upright] = held;
    const scale = Math.max((to[1] - to[0]) / (from[1] - from[0]), 0.1);
    const wide = (high - low) / scale;
    const first = low + ((from[0] - left) / width) * (high - low) - ((to[0] - left) / width) * wide;
    look(box, [[first, first + wide], upright]);
    if (isDone) held = null;
    return true;
  };
}

// Without Plotly the server's drawing stays, and the page states so.
async function take(panel) {
  const hint = panel.nextElementSibling;
  try {
    await import(panel.dataset.plotly).catch(() => {
      throw new Error("Plotly could not be loaded");
    });
    await draw(panel);
    if (!panel.classList.contains("is-live")) listen(panel);
    panel.classList.add("is-live");
    hint.textContent = HINT;
  } catch (error) {
    hint.textContent = `Drawn by the server: ${error.message}.`;
  }
}

// The round values of the server are too few for a part.
function listen(panel) {
  const box = panel.querySelector(".live");
  box.on("plotly_relayout", (change) => {
    if ("yaxis.range[0]" in change) window.Plotly.relayout(box, { "yaxis.tickmode": "auto" });
  });
  const all = () => draw(panel);
  listenPresses(box, new AbortController().signal, { press() {}, double: all, over() {}, pinch: pinching(box) });
  if (IS_TOUCH) box.addEventListener("click", tapped);
  box.addEventListener("keydown", onKey);
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", panel.querySelector(".quantiles title").textContent);
}

// What lies in a closed fold has no width, and is drawn once that opens.
const resized = new ResizeObserver((entries) => {
  for (const { target: box } of entries) {
    if (box.clientWidth && box.clientWidth !== box.layout?.width) take(box.parentElement);
  }
});

function watchAll() {
  for (const box of document.querySelectorAll(".distribution .live")) resized.observe(box);
}

document.documentElement.addEventListener("themechange", () => {
  document.querySelectorAll(".distribution.is-live").forEach(draw);
});
for (const name of ["htmx:afterSwap", "htmx:oobAfterSwap"]) document.addEventListener(name, watchAll);
watchAll();
