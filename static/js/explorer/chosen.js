// What is chosen in the chart: the points A and B, and the marked range.

import { commitPage, comparePage } from "./card.js";
import { showRange } from "./range.js";

export function makeChosen(screen, pointer) {
  let before = null; // A and B as they were before the last choice

  function choose(side, isA) {
    const { state } = screen;
    before = { a: state.a, b: state.b };
    if (!isA && state.b?.at === side.at && state.b.id === side.id) return;
    state[isA ? "a" : "b"] = side;
    screen.tell();
  }

  function undo() {
    Object.assign(screen.state, before);
    before = null;
    screen.tell();
  }

  // The point under the crosshair; what is B already opens its commit.
  function chooseByKey(isA) {
    const { chart, pointed, b } = screen.state;
    const isOpened = b && (pointed === null || (!isA && b.at === pointed));
    if (isOpened) location.assign(commitPage(chart, b.at));
    const focus = pointed === null ? null : focused(screen.state);
    if (focus && !isOpened) choose({ at: pointed, id: focus.id }, isA);
  }

  function setRange(ends) {
    screen.state.range = ends;
    tellRange();
    screen.tell();
  }

  function tellRange() {
    showRange(screen.state, () => setRange(null));
  }

  // The revisions between two pixels.
  function mark(pixels) {
    const { state: { chart }, scene } = screen;
    const [low, high] = pixels.map(scene.x.back).sort((one, other) => one - other);
    const inside = chart.order.filter((at) => chart.places[at] >= low && chart.places[at] <= high);
    setRange(inside.length ? [inside[0], inside.at(-1)] : null);
  }

  // By keys: the range grows with the crosshair.
  function markTo(by) {
    const { chart, pointed, b, range } = screen.state;
    const from = pointed ?? b?.at ?? chart.order.at(-1);
    pointer.step(by);
    const fixed = range ? range[range[0] === from ? 1 : 0] : from;
    setRange([fixed, screen.state.pointed].sort((one, other) => one - other));
  }

  // Back to nothing chosen; whether there was anything.
  function leave() {
    const { a, b, pointed, range } = screen.state;
    if (!a && !b && pointed === null && !range) return false;
    Object.assign(screen.state, { a: null, b: null, pointed: null });
    setRange(null);
    return true;
  }

  function compare() {
    const { state } = screen;
    if (state.a && state.b) location.assign(comparePage(state));
  }

  return { choose, undo, chooseByKey, mark, markTo, tellRange, leave, compare };
}

// The series that a key chooses at the revision pointed at: that of B, else the first measured there.
function focused({ chart, hidden, pointed, b }) {
  const measured = chart.series.filter((one) => !hidden.has(one.id) && one.at.has(pointed));
  return measured.find((one) => one.id === b?.id) ?? measured[0];
}
