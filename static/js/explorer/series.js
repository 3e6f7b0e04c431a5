// One series: band, whiskers, points, levels, changes; as webapp/charts/trend/series_svg.py draws it.

import { MARKS } from "./marks.js";
import { drawn } from "./text.js";

const DASH = 4.5; // half the dash of a run that disagrees, and the radius of its point
const FEW = 120; // with more points in view they are drawn smaller
const RISER_STEP = 8; // pixels between risers of several series at one revision

// frame: {chart, x, y, order: the ids drawn, isCrowded}
export function drawSeries(frame, series) {
  const group = drawn("g", { class: `series series-${series.slot}`, "data-id": series.id });
  const shown = inView(frame, series);
  const path = (css, d, more = {}) => d && group.append(drawn("path", { d, class: css, ...more }));
  const ends = levelEnds(frame, series);
  path("bd", bands(frame, ends));
  path("wh", whiskers(frame, series, shown));
  if (!series.levels.length) path("ln", line(frame, series, shown));
  path("pt", dots(frame, series, shown), { "stroke-width": shown.length <= FEW ? 4.4 : 3 });
  path("lv", levels(frame, ends), series.dash ? { "stroke-dasharray": series.dash } : {});
  group.append(...changes(frame, series), ...apart(frame, series));
  return group;
}

// The indices of the points in view.
export function inView({ x }, { xs }) {
  const shown = [];
  for (let at = 0; at < xs.length; at += 1) {
    if (xs[at] !== null && xs[at] >= x.low && xs[at] <= x.high) shown.push(at);
  }
  return shown;
}

function dots({ x, y }, { xs, ys }, shown) {
  return shown.map((at) => `M${x(xs[at]).toFixed(1)} ${y.clamped(ys[at]).toFixed(1)}h0`).join("");
}

function line({ x, y }, { xs, ys }, shown) {
  if (shown.length < 2) return "";
  return `M${shown.map((at) => `${x(xs[at]).toFixed(1)} ${y.clamped(ys[at]).toFixed(1)}`).join("L")}`;
}

function whiskers({ x, y }, { xs, lows, highs }, shown) {
  return shown
    .filter((at) => Number.isFinite(lows[at]) && Number.isFinite(highs[at]))
    .map((at) => `M${x(xs[at]).toFixed(1)} ${y.clamped(lows[at]).toFixed(1)}V${y.clamped(highs[at]).toFixed(1)}`)
    .join("");
}

// Each level with where it is drawn: neighbours meet halfway, where the riser stands.
function levelEnds({ chart, x }, { levels: found }) {
  const across = (index) => (chart.places[index] === null ? null : x.clamped(chart.places[index]));
  const known = found
    .map((level) => [level, across(level[0]), across(level[1])])
    .filter(([, first, last]) => first !== null && last !== null);
  return known
    .map(([level, first, last], at) => [
      level,
      at ? (known[at - 1][2] + first) / 2 : first,
      at + 1 < known.length ? (last + known[at + 1][1]) / 2 : last,
    ])
    .filter(([, first, last]) => last > first);
}

function levels({ y }, ends) {
  return ends
    .map(([[, , start, end], first, last]) =>
      `M${first.toFixed(1)} ${y.clamped(start).toFixed(1)}L${last.toFixed(1)} ${y.clamped(end).toFixed(1)}`)
    .join("");
}

function bands({ y }, ends) {
  return ends
    .filter(([[, , , , low, high]]) => low !== null && high !== null && low < high)
    .map(([[, , , , low, high], first, last]) =>
      `M${first.toFixed(1)} ${y.clamped(low).toFixed(1)}H${last.toFixed(1)}V${y.clamped(high).toFixed(1)}H${first.toFixed(1)}z`)
    .join("");
}

// Each finding as its kind is drawn; those of one revision stand side by side.
function changes(frame, series) {
  const { order } = frame;
  const count = Math.min(order.length, 5);
  const offset = series.isCost ? 0 : RISER_STEP * ((order.indexOf(series.id) % 5) - (count - 1) / 2);
  const parts = [];
  series.found.forEach((found, number) => {
    const span = spanOf(frame, found, series.found[number + 1], offset);
    if (!span) return;
    parts.push(...MARKS[found.kind](frame, found, span), ...suspects(frame, found));
  });
  for (const found of series.marks) {
    const span = spanOf(frame, found, null, 0);
    if (span) parts.push(...MARKS[found.kind](frame, found, span));
  }
  return parts;
}

// Where a finding stands across: before its revision, at it, until where what was before is carried
// on, and since when it goes on. Null outside of what is in view.
function spanOf({ chart, x }, found, later, offset) {
  const across = (index) => (chart.places[index] === null ? null : x.clamped(chart.places[index]));
  const [point, before] = [across(found.index), across(Math.max(found.index - 1, 0))];
  if (point === null || before === null || point === before) return null;
  const until = later ? (across(later.index) ?? x.end) : x.end;
  return { edge: (before + point) / 2 + offset, point, until, since: across(found.after) ?? before };
}

// The bar on the axis over the revisions among which a change began.
function suspects({ chart, x, y }, { after, last }) {
  const [start, end] = [after, last].map((index) => chart.places[index]);
  if (start === null || end === null) return [];
  const from = x.clamped(start);
  const width = Math.max(x.clamped(end) - from, 4);
  return [drawn("rect", { x: from, y: y.start - 2, width, height: 4, rx: 2, class: "sus" })];
}

function apart({ x, y }, series) {
  const parts = [];
  for (const [at, means] of Object.entries(series.apart ?? {})) {
    const place = series.xs[at];
    if (place === null || place < x.low || place > x.high) continue;
    const [across, height] = [x(place), y.clamped(series.ys[at])];
    const factor = series.factor ?? 1;
    const d = means.map((mean) => `M${across - DASH} ${y.clamped(mean * factor)}h${2 * DASH}`).join("");
    parts.push(
      drawn("path", { d, class: "apart" }),
      drawn("circle", { cx: across, cy: height, r: DASH, class: "apart" }),
      drawn("text", { x: across, y: height - 2 * DASH, class: "apart middle" }, "lab?"),
    );
  }
  return parts;
}
