// What is shown and chosen, what a point of it is, and how the address says so.

import { address } from "./text.js";

const VERDICTS = { w: "worse", b: "better", e: "equivalent", c: "cannot tell", l: "lab?", "-": "" };
const FLAGS = { r: "regressed", i: "improved", "-": "" };
export const MOST_PINS = 2;

// A point is {series, index}: positions in the payload.
export const view = {
  shown: null, // the payload of /trends/figure.json
  hovered: null, // a point
  pins: [], // at most two points
  range: null, // [place, place] in the order of the tree
};

export function facts(point) {
  const series = view.shown.series[point.series];
  const place = series.revision[point.index];
  return {
    series,
    place,
    revision: view.shown.revisions.name[place],
    subject: view.shown.revisions.subject[place],
    previous: point.index ? view.shown.revisions.name[series.revision[point.index - 1]] : "",
    ...measured(point),
    n: series.n[point.index],
    percent: series.percent[point.index],
    error: series.error[point.index],
    verdict: VERDICTS[series.verdict[point.index]],
    flag: FLAGS[series.flag[point.index]],
    found: series.found.find((one) => one.at === point.index),
    apart: series.apart?.[point.index],
    leftOut: series.left_out?.[point.index],
  };
}

// As measured: from the columns, or from the trace where that draws what was measured.
export function measured({ series: which, index }) {
  const series = view.shown.series[which];
  if (series.value) {
    return { value: series.value[index], low: series.low[index], high: series.high[index] };
  }
  const { y, error_y: bars } = traceOf(which);
  const above = bars?.array[index] ?? NaN;
  const below = bars?.arrayminus ? bars.arrayminus[index] : above;
  return { value: y[index], low: y[index] - below, high: y[index] + above };
}

export function traceOf(seriesNumber) {
  const { id } = view.shown.series[seriesNumber];
  return view.shown.figure.data.find((trace) => trace.meta === id);
}

export function same(one, other) {
  return one && other && one.series === other.series && one.index === other.index;
}

export function commitPage(revision) {
  const tree = encodeURIComponent(view.shown.tree);
  return `/commits/${tree}/${encodeURIComponent(revision)}/`;
}

function side(point) {
  const { series, revision } = facts(point);
  return [view.shown.tree, revision, series.hardware, series.mode, view.shown.metric].join(":");
}

export function inOrder(points) {
  return [...points].sort((one, other) => facts(one).place - facts(other).place);
}

export function comparePage(points) {
  const [a, b] = points.map(side);
  return address("/compare/", [["a", a], ["b", b]]);
}

export function writeAddress() {
  const query = new URLSearchParams(window.location.search);
  query.delete("pin");
  query.delete("range");
  for (const pin of view.pins) query.append("pin", pinText(pin));
  if (view.range) {
    const ends = view.range.map((place) => view.shown.revisions.name[place]);
    query.set("range", ends.join(".."));
  }
  const text = String(query).replaceAll("%40", "@").replaceAll("%2F", "/");
  history.replaceState(history.state, "", text ? `?${text}` : window.location.pathname);
}

export function readAddress() {
  const query = new URLSearchParams(window.location.search);
  view.pins = query.getAll("pin").map(readPin).filter(Boolean).slice(0, MOST_PINS);
  const ends = (query.get("range") ?? "").split("..");
  const places = ends.map((name) => view.shown.revisions.name.indexOf(name));
  view.range = places.length === 2 && places.every((place) => place >= 0) ? places : null;
  view.hovered = null;
}

export function pinText(point) {
  const { series, revision } = facts(point);
  return `${series.id}@${revision}`;
}

function readPin(text) {
  const [id, name] = text.split("@");
  const series = view.shown.series.findIndex((each) => each.id === Number(id));
  if (series < 0) return null;
  const place = view.shown.revisions.name.indexOf(name);
  const index = view.shown.series[series].revision.indexOf(place);
  return index < 0 ? null : { series, index };
}
