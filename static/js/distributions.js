// Quantile curves and maps of histograms: has Plotly take the server's drawings over, also of rows and
// cards that come later.

import { parsed } from "./explorer/plot.js";

const IS_TOUCH = matchMedia("(pointer: coarse)").matches;
const HINT = IS_TOUCH
  ? "Tap for value, quantile and count."
  : "Point for value, quantile and count; drag to zoom, double click for all.";
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
  box.on("plotly_doubleclick", () => draw(panel));
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
