// The chart: drawn whole from its figure, with the marks that lie over it.

import { NARROW, colour, themed, thinLabels } from "../figures.js";
import { view, traceOf } from "./points.js";
import { element } from "./text.js";

const ALERT_ROW = 15; // pixels
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: false };

export const chart = document.querySelector("#chart");
export const plot = document.querySelector("#plot");
const coarse = matchMedia("(pointer: coarse)");

export function draw() {
  const first = !plot.classList.contains("js-plotly-plot");
  if (first) plot.replaceChildren();
  const { data, layout } = themed(view.shown.figure);
  layout.font.family = getComputedStyle(document.body).fontFamily;
  if (coarse.matches) layout.dragmode = false;
  if (plot.clientWidth < NARROW) thinLabels(layout.xaxis);
  layout.shapes = view.range ? [rangeShape(layout)] : [];
  layout.selections = [];
  // Plotly dims what is not selected; the marked range is told by its band alone.
  for (const trace of data) trace.unselected = { marker: { opacity: 1 } };
  Plotly.react(plot, data, layout, CONFIG);
  placeMarks();
  placeAlerts();
  placeMarkers();
}

function rangeShape(layout) {
  const [from, to] = view.range.map((place) => along(place));
  const half = layout.xaxis.type === "linear" ? 0.5 : 0;
  return {
    type: "rect",
    xref: "x",
    yref: "paper",
    x0: from - half,
    x1: to + half,
    y0: 0,
    y1: 1,
    fillcolor: colour("var(--muted)"),
    opacity: 0.15,
    line: { width: 0 },
    layer: "below",
  };
}

function along(place) {
  for (const [number, series] of view.shown.series.entries()) {
    const index = series.revision.indexOf(place);
    if (index >= 0) return traceOf(number)?.x[index] ?? place;
  }
  return place;
}

export function pointOf(event) {
  const found = event.points?.find((point) => point.data.meta !== undefined);
  if (!found) return null;
  const series = view.shown.series.findIndex((each) => each.id === found.data.meta);
  return { series, index: found.pointNumber };
}

export function pixels(point) {
  const trace = traceOf(point.series);
  const axes = plot._fullLayout;
  if (!trace || !axes || trace.x[point.index] === null) return null;
  return {
    x: axes.xaxis._offset + axes.xaxis.d2p(trace.x[point.index]),
    y: axes.yaxis._offset + axes.yaxis.d2p(trace.y[point.index]),
  };
}

export function placeMarks() {
  for (const ring of chart.querySelectorAll(".ring")) ring.remove();
  const marked = view.hovered ? [...view.pins, view.hovered] : view.pins;
  for (const point of marked) {
    const at = pixels(point);
    if (!at) continue;
    const ring = element("span", { class: "ring" });
    ring.style.left = `${at.x}px`;
    ring.style.top = `${at.y}px`;
    chart.append(ring);
  }
}

// The labels of alerts, at the foot of their lines. Narrow charts have room for the number alone:
// the state is in the card and in the table of findings.
export function placeAlerts() {
  for (const old of chart.querySelectorAll(".alert-label")) old.remove();
  const { xaxis, yaxis } = plot._fullLayout;
  for (const { number, state, href, x, row } of view.shown.alerts) {
    const words = plot.clientWidth < NARROW ? `${number}` : `${number} ${state}`;
    const label = element("a", { class: "alert-label", href, title: `Alert ${number}: ${state}` }, words);
    label.style.left = `${xaxis._offset + xaxis.d2p(x)}px`;
    label.style.top = `${yaxis._offset + yaxis._length - ALERT_ROW * (row + 1)}px`;
    chart.append(label);
  }
}

// The labels of events and releases, at the top of their lines, on the side that has room. Narrow
// charts have room for the short one: the table below says the rest.
export function placeMarkers() {
  for (const old of chart.querySelectorAll(".marker-label")) old.remove();
  const { xaxis, yaxis } = plot._fullLayout;
  for (const { text, short, title, kind, href, x, row } of view.shown.markers) {
    const words = plot.clientWidth < NARROW ? short : text;
    const label = element("a", { class: `marker-label ${kind}`, href, title }, words);
    label.style.top = `${yaxis._offset + ALERT_ROW * row}px`;
    chart.append(label);
    const at = xaxis._offset + xaxis.d2p(x);
    const fits = at + label.offsetWidth < plot.clientWidth;
    label.style.left = `${fits ? at : at - label.offsetWidth}px`;
  }
}
