// The chart: lanes of axes and series at the width of the window, and the crosshair over them. The
// server drew the same first (webapp/charts/trend/svg.py): measures and classes are the same.

import { alertMarks, markerLines, markerTexts } from "./around.js";
import { lanesOf } from "./data.js";
import { linear, spread, ticks, yRange } from "./scale.js";
import { drawSeries, inView } from "./series.js";
import { drawn, number, short } from "./text.js";

const WIDE = { left: 76, right: 132, top: 40, foot: 26, one: 400, each: 130, gap: 22, labels: 8 };
const NARROW = { left: 52, right: 12, top: 40, foot: 26, one: 260, each: 110, gap: 22, labels: 3 };
const NARROW_BELOW = 640; // pixels
const MOST_WITH_WORDS = 8;
const LABEL_ROOM = 13;
const HALF_A_NAME = 22; // pixels
const NAME_LONGEST = 12;

// Draws `state` into `plot` and returns what pointing needs: the scale across and the lanes' scales.
export function draw(plot, state) {
  const width = plot.clientWidth;
  const isNarrow = width < NARROW_BELOW;
  const room = isNarrow ? NARROW : WIDE;
  const { chart } = state;
  const x = linear(state.window, [room.left, width - room.right]);
  const lanes = lanesOf(chart, state.hidden);
  const isOne = lanes.length - chart.costs.length <= 1;
  const heights = lanes.map((_, at) => (at === 0 && isOne ? room.one : room.each));
  const base = room.top - room.gap + heights.reduce((sum, high) => sum + high + room.gap, 0);
  const order = lanes.flatMap((lane) => lane.series.filter((one) => !one.isCost).map((one) => one.id));
  const image = drawn("svg", {
    class: "trend",
    width,
    height: base + room.foot,
    viewBox: `0 0 ${width} ${base + room.foot}`,
    role: "group",
    "aria-label": `${chart.title} by revision of ${chart.tree}`,
  });
  const frame = { chart, x, isNarrow, order };
  image.append(...markerLines(frame, room.top, base));
  let top = room.top;
  lanes.forEach((lane, at) => {
    lane.y = linear(rangeOf(frame, lane), [top + heights[at], top]);
    top += heights[at] + room.gap;
    image.append(drawLane({ ...frame, y: lane.y, isCrowded: lane.series.length > MOST_WITH_WORDS }, lane, room));
  });
  image.append(...names(frame, base, room.labels), ...markerTexts(frame, room.top), ...alertMarks(frame, base));
  const overlay = drawn("g", { class: "overlay" });
  image.append(overlay);
  plot.replaceChildren(image);
  return { x, lanes, overlay, top: room.top, base };
}

function rangeOf(frame, lane) {
  const [values, lows, highs] = [[], [], []];
  for (const one of lane.series) {
    for (const at of inView(frame, one)) {
      values.push(one.ys[at]);
      if (Number.isFinite(one.lows[at])) lows.push(one.lows[at]);
      if (Number.isFinite(one.highs[at])) highs.push(one.highs[at]);
    }
    for (const [first, last, start, end] of one.levels) {
      const [from, to] = [frame.chart.places[first], frame.chart.places[last]];
      if (to >= frame.x.low && from <= frame.x.high) values.push(start, end);
    }
    for (const means of Object.values(one.apart ?? {})) values.push(...means.map((mean) => mean * (one.factor ?? 1)));
  }
  return yRange(values, lows, highs);
}

function drawLane(frame, lane, room) {
  const { x, y } = frame;
  const group = drawn("g", { class: "lane" });
  group.append(drawn("text", { x: 4, y: y.end - 6, class: "axis-title" }, lane.title));
  const values = ticks(y.low, y.high, y.start - y.end > room.each ? 5 : 3);
  const lines = values.map((value) => `M${x.start} ${y(value).toFixed(1)}H${x.end}`).join("");
  group.append(drawn("path", { d: lines || "M0 0", class: "grid" }));
  const text = frame.isNarrow ? short : number;
  for (const value of values) {
    group.append(drawn("text", { x: x.start - 8, y: y(value) + 4, class: "tick end" }, text(value)));
  }
  group.append(drawn("path", { d: `M${x.start} ${y.start}H${x.end}`, class: "axis" }));
  for (const one of lane.series) group.append(drawSeries(frame, one));
  if (!frame.isNarrow) group.append(...newest(frame, lane));
  return group;
}

// Name and newest level of each series, right of the axis, as far as there is room.
function newest({ x, y }, lane) {
  const valueOf = (one) => one.levels.at(-1)?.[3] ?? one.ys.at(-1);
  const wanted = lane.series.filter((one) => one.ys.length);
  wanted.sort((one, other) => y(valueOf(one)) - y(valueOf(other)));
  const shown = wanted.slice(0, Math.floor((y.start - y.end) / LABEL_ROOM));
  let free = y.end;
  return shown.map((one, at) => {
    const last = y.start - LABEL_ROOM * (shown.length - at - 1);
    const place = Math.min(Math.max(y.clamped(valueOf(one)), free), last);
    free = place + LABEL_ROOM;
    const name = one.name.length > NAME_LONGEST ? `${one.name.slice(0, NAME_LONGEST - 1)}…` : one.name;
    const attributes = { x: x.end + 8, y: place + 4, class: `label name-${one.slot}`, "data-series": one.id };
    return drawn("text", attributes, `${name} ${short(valueOf(one))}`);
  });
}

function names({ chart, x, isNarrow }, base, about) {
  const shown = chart.order.filter((at) => chart.places[at] >= x.low && chart.places[at] <= x.high);
  return spread(shown.length, about).map((at) => {
    const across = x(chart.places[shown[at]]);
    const isLast = isNarrow && x.end - across < HALF_A_NAME;
    const attributes = { x: across, y: base + 18, class: `mono ${isLast ? "end" : "middle"}` };
    return drawn("text", attributes, chart.revisions.name[shown[at]]);
  });
}

// The crosshair, A and B, and the marked range: redrawn alone while the pointer moves.
export function drawOverlay(scene, state) {
  const { overlay, x, top, base } = scene;
  const parts = [];
  const within = (place) => place !== null && place !== undefined && place >= x.low && place <= x.high;
  if (state.range) {
    const ends = state.range.map((at) => x.clamped(state.chart.places[at]));
    const half = Math.max(Math.abs(x.slope) / 2, 3);
    const box = { x: ends[0] - half, y: top, width: ends[1] - ends[0] + 2 * half, height: base - top };
    parts.push(drawn("rect", { ...box, class: "marked-range" }));
  }
  if (state.dragged) {
    const [from, to] = [...state.dragged.ends].sort((one, other) => one - other);
    const box = { x: from, y: top, width: to - from, height: base - top };
    parts.push(drawn("rect", { ...box, class: state.dragged.isRange ? "marked-range" : "zoom-box" }));
  }
  const sides = [["A", state.a], ["B", state.b]].filter(([, side]) => side && within(state.chart.places[side.at]));
  for (const [letter, side] of sides) parts.push(...line(scene, state, side.at, letter));
  if (state.pointed !== null && within(state.chart.places[state.pointed])) {
    parts.push(...line(scene, state, state.pointed, ""));
  }
  overlay.replaceChildren(...parts);
}

function line({ x, lanes, top, base }, { chart }, at, letter) {
  const across = x(chart.places[at]);
  const parts = [drawn("path", { d: `M${across} ${top}V${base}`, class: `cross ${letter || "moving"}` })];
  for (const lane of lanes) {
    for (const one of lane.series) {
      const index = one.at.get(at);
      if (index === undefined) continue;
      const ring = { cx: across, cy: lane.y.clamped(one.ys[index]), r: 4.2 };
      parts.push(drawn("circle", { ...ring, class: `spot series-${one.slot}` }));
    }
  }
  if (!letter) return parts;
  const left = letter === "A" ? across - 17 : across + 1;
  return [
    ...parts,
    drawn("rect", { x: left, y: top - 17, width: 16, height: 15, rx: 3, class: "side-box" }),
    drawn("text", { x: left + 8, y: top - 5.5, class: "side-letter middle" }, letter),
  ];
}
