// The strip of all revisions below the chart, with a brush: drag a handle for one end of the part in
// sight, its middle to move it, or elsewhere to mark another.

import { linear } from "./scale.js";
import { drawn } from "./text.js";

const HEIGHT = 38;
const HANDLE = 9; // pixels to either side of an end that are its handle
const WIDEST = 4; // pixels of a window below which only its ends can be dragged

export function drawMinimap(box, state, room) {
  const { chart } = state;
  const width = box.clientWidth;
  const x = linear(chart.whole, [room.start, room.end]);
  const image = drawn("svg", { class: "strip", width, height: HEIGHT, "aria-hidden": "true" });
  image.append(drawn("rect", { x: x.start, y: 1, width: x.end - x.start, height: HEIGHT - 2, rx: 4, class: "ground" }));
  for (const one of chart.series) {
    if (one.isDrawable && !state.hidden.has(one.id)) image.append(outline(one, x));
  }
  const brush = drawn("g", { class: "brush" });
  image.append(brush);
  box.replaceChildren(image);
  const map = { box, x, brush };
  placeBrush(map, state);
  return map;
}

// Each series from its own smallest to its own largest value: where it moved, not how much.
function outline({ xs, ys, slot }, x) {
  const shown = ys.map((value, at) => [xs[at], value]).filter(([place]) => place !== null);
  let [low, high] = [Infinity, -Infinity];
  for (const [, value] of shown) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const y = linear([low, high], [HEIGHT - 6, 6]);
  const d = shown.map(([place, value]) => `${x(place).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
  return drawn("path", { d: `M${d || "0 0"}`, class: `outline series-${slot}` });
}

export function placeBrush({ x, brush }, { window: [low, high] }) {
  const [from, to] = [x.clamped(low), x.clamped(high)];
  const frame = { x: from, y: 1, width: Math.max(to - from, 1), height: HEIGHT - 2, rx: 4, class: "sight" };
  const handle = (at) => drawn("rect", { x: at - 2.5, y: 11, width: 5, height: 16, rx: 2.5, class: "handle" });
  brush.replaceChildren(drawn("rect", frame), handle(from), handle(to));
}

// does(window) is called while the brush moves, done() when it is let go.
export function listenMinimap(box, mapOf, stateOf, does, done) {
  let drag = null;
  const across = (event) => event.clientX - box.getBoundingClientRect().left;

  box.addEventListener("pointerdown", (event) => {
    const { x } = mapOf();
    const at = across(event);
    const [from, to] = stateOf().window.map((end) => x.clamped(end));
    const kind = grip(at, from, to, stateOf());
    drag = { kind, at, window: stateOf().window };
    box.setPointerCapture(event.pointerId);
  });

  box.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const { x } = mapOf();
    const [low, high] = drag.window;
    const moved = (across(event) - drag.at) / x.slope;
    if (drag.kind === "low") does([Math.min(low + moved, high), high]);
    else if (drag.kind === "high") does([low, Math.max(high + moved, low)]);
    else if (drag.kind === "middle") does([low + moved, high + moved]);
    else {
      const ends = [x.back(drag.at), x.back(across(event))].sort((one, other) => one - other);
      does(ends);
    }
  });

  for (const kind of ["pointerup", "pointercancel"]) {
    box.addEventListener(kind, () => {
      if (drag) done();
      drag = null;
    });
  }
}

function grip(at, from, to, { chart, window: [low, high] }) {
  if (Math.abs(at - from) <= HANDLE) return "low";
  if (Math.abs(at - to) <= HANDLE) return "high";
  const isWhole = low <= chart.whole[0] && high >= chart.whole[1];
  return at > from + WIDEST && at < to - WIDEST && !isWhole ? "middle" : "new";
}
