// One explorer: the state of a chart, and what becomes of it by hand, key and list.

import { pairs, read, write } from "./address.js";
import { commitPage, comparePage, listenCard, showCard } from "./card.js";
import { nearest, prepared } from "./data.js";
import { draw, drawOverlay } from "./draw.js";
import { listen } from "./gestures.js";
import { listenList, showHidden, sortRows, tellValues } from "./list.js";
import { drawMinimap, listenMinimap, placeBrush } from "./minimap.js";
import { showRange } from "./range.js";

const LEAST_WINDOW = 3; // revisions in sight, at the least
const FETCH_AFTER = 120; // milliseconds without a move, before more of a long history is asked for

export function start(columns) {
  const plot = document.querySelector("#plot");
  const strip = document.querySelector("#minimap");
  const panel = document.querySelector("#chart");
  let state = read(prepared(columns));
  let scene = null;
  let map = null;
  let frame = 0; // of requestAnimationFrame
  let asking = 0; // the timer of a fetch

  function drawAll() {
    frame = 0;
    if (!plot.clientWidth) return; // not laid out yet: it will be told of its size
    scene = draw(plot, state);
    map ? placeBrush(map, state) : (map = drawMinimap(strip, state, scene.x));
    drawOverlay(scene, state);
    panel.dataset.drawn = String(Number(panel.dataset.drawn ?? 0) + 1);
  }

  function redraw({ anew = false } = {}) {
    if (anew) map = null;
    frame ||= requestAnimationFrame(drawAll);
  }

  // Everything that hangs on A, B, range and hidden series.
  function tell() {
    write(state);
    showCard(state);
    tellValues(state);
    for (const side of ["a", "b"]) {
      const name = state[side] ? state.chart.revisions.name[state[side].at] : "–";
      document.querySelector(`#side-${side}`).textContent = name;
    }
    const compare = document.querySelector("#compare");
    compare.hidden = !state.a || !state.b;
    if (!compare.hidden) compare.href = comparePage(state);
    document.querySelector("#whole").hidden = isWhole();
    if (scene) drawOverlay(scene, state);
  }

  function isWhole() {
    return state.window[0] <= state.chart.whole[0] && state.window[1] >= state.chart.whole[1];
  }

  // Shows another part, inside of what there is and not less than a few revisions of it.
  function show([low, high]) {
    const [first, last] = state.chart.whole;
    const least = Math.min(((last - first) / Math.max(state.chart.total, 1)) * LEAST_WINDOW, last - first);
    const length = Math.min(Math.max(high - low, least), last - first);
    const from = Math.min(Math.max(low - (length - (high - low)) / 2, first), last - length);
    const before = state.window;
    state.window = [from, from + length];
    if (before[0] === state.window[0] && before[1] === state.window[1]) return false;
    redraw();
    settle();
    return true;
  }

  // When the window rests: the address, and of a long history the points that it has room for.
  function settle() {
    clearTimeout(asking);
    asking = setTimeout(async () => {
      tell();
      if (!state.chart.isThinned) return;
      const view = pairs(state).filter(([key]) => key === "view");
      const address = new URL(panel.dataset.figure, location.href);
      address.searchParams.delete("view");
      for (const pair of view) address.searchParams.append(...pair);
      const wanted = state.window;
      // Where nothing comes, what is drawn stays: it is coarser, not wrong.
      const response = await fetch(address, { headers: { Accept: "application/json" } }).catch(() => null);
      if (response?.ok && state.window === wanted) replace(prepared(await response.json()));
    }, FETCH_AFTER);
  }

  // The same history with other points of it: what is chosen stays, by its name.
  function replace(chart) {
    const names = state.chart.revisions.name;
    const at = (index) => chart.revisions.name.indexOf(names[index]);
    const moved = (side) => (side && at(side.at) >= 0 ? { ...side, at: at(side.at) } : null);
    const range = state.range?.map(at);
    state = {
      ...state,
      chart,
      a: moved(state.a),
      b: moved(state.b),
      range: range?.every((end) => end >= 0) ? range : null,
      pointed: null,
    };
    redraw({ anew: true });
  }

  function zoom(factor, pixel = (scene.x.start + scene.x.end) / 2) {
    const middle = scene.x.back(Math.min(Math.max(pixel, scene.x.start), scene.x.end));
    const [low, high] = state.window;
    return show([middle - (middle - low) * factor, middle + (high - middle) * factor]);
  }

  function pan(pixels) {
    const moved = pixels / scene.x.slope;
    return show(state.window.map((end) => end + moved));
  }

  function whole() {
    show(state.chart.whole);
  }

  // The revision and the series nearest to a place on the chart.
  function at({ x, y }) {
    const revision = nearest(state.chart, scene.x.back(x));
    const lane = scene.lanes.find((one) => y <= one.y.start) ?? scene.lanes.at(-1);
    let best = null;
    for (const one of lane.series.filter((each) => !each.isCost)) {
      const index = one.at.get(revision);
      const away = index === undefined ? Infinity : Math.abs(lane.y.clamped(one.ys[index]) - y);
      if (!best || away < best.away) best = { id: one.id, away };
    }
    return { at: revision, id: best?.id ?? state.chart.series[0].id };
  }

  function point(place) {
    state.pointed = place === null ? null : at(place).at;
    drawOverlay(scene, state);
    tellValues(state);
  }

  function choose(side, isA) {
    if (!isA && state.b?.at === side.at && state.b.id === side.id) return;
    state[isA ? "a" : "b"] = side;
    tell();
  }

  // A revision further along for the crosshair, from where it is, else B, else the newest.
  function step(by) {
    const { order, places } = state.chart;
    const from = state.pointed ?? state.b?.at;
    const here = order.indexOf(from ?? order.at(-1));
    const next = from === undefined ? here : Math.min(Math.max(here + by, 0), order.length - 1);
    state.pointed = order[next];
    const place = places[state.pointed];
    if (place < state.window[0] || place > state.window[1]) show(state.window.map((end) => end + place - (state.window[0] + state.window[1]) / 2));
    drawOverlay(scene, state);
    tellValues(state);
  }

  function chooseByKey(isA) {
    if (state.pointed === null) {
      if (state.b) location.assign(commitPage(state.chart, state.b.at));
      return;
    }
    const shown = state.chart.series.filter((one) => !state.hidden.has(one.id));
    const focus = shown.find((one) => one.id === state.b?.id && one.at.has(state.pointed))
      ?? shown.find((one) => one.at.has(state.pointed));
    if (!focus) return;
    const side = { at: state.pointed, id: focus.id };
    if (!isA && state.b?.at === side.at) location.assign(commitPage(state.chart, side.at));
    else choose(side, isA);
  }

  function leave() {
    if (!state.a && !state.b && state.pointed === null && !state.range) return false;
    Object.assign(state, { a: null, b: null, pointed: null, range: null });
    showRange(state, clearRange);
    tell();
    return true;
  }

  function mark(ends) {
    const places = ends.map((pixel) => scene.x.back(pixel)).sort((one, other) => one - other);
    const inside = state.chart.order.filter((each) => {
      const place = state.chart.places[each];
      return place >= places[0] && place <= places[1];
    });
    state.range = inside.length ? [inside[0], inside.at(-1)] : null;
    showRange(state, clearRange);
    tell();
  }

  // By keys: the range grows with the crosshair.
  function markTo(by) {
    const from = state.pointed ?? state.b?.at ?? state.chart.order.at(-1);
    step(by);
    const fixed = state.range ? state.range[state.range[0] === from ? 1 : 0] : from;
    state.range = [fixed, state.pointed].sort((one, other) => one - other);
    showRange(state, clearRange);
    tell();
  }

  function clearRange() {
    state.range = null;
    showRange(state, clearRange);
    tell();
  }

  function toggle(id) {
    state.hidden.has(id) ? state.hidden.delete(id) : state.hidden.add(id);
    showHidden(state);
    redraw({ anew: true });
    tell();
  }

  listen(plot, {
    point,
    leave: () => point(null),
    click: (place, isA) => choose(at(place), isA),
    zoom,
    pan,
    reset: whole,
    drag: (ends, isRange) => {
      state.dragged = ends && { ends, isRange };
      drawOverlay(scene, state);
    },
    box: (ends) => show(ends.map((pixel) => scene.x.back(pixel)).sort((one, other) => one - other)),
    range: mark,
  });
  listenMinimap(strip, () => map, () => state, show, settle);
  listenList({
    toggle,
    sort: (order) => {
      state.sort = order;
      sortRows(state);
      write(state);
    },
  });
  listenCard();
  document.querySelector("#whole").addEventListener("click", whole);
  const resized = new ResizeObserver(() => redraw({ anew: true }));
  resized.observe(plot);

  drawAll();
  document.querySelector("#sort").value = state.sort;
  sortRows(state);
  showHidden(state);
  showRange(state, clearRange);
  tell();

  return {
    zoom,
    pan: (share) => pan(share * (scene.x.end - scene.x.start)),
    whole,
    step,
    markTo,
    chooseByKey,
    leave,
    compare: () => state.a && state.b && location.assign(comparePage(state)),
    pointAt: (index) => {
      state.pointed = index;
      drawOverlay(scene, state);
      tellValues(state);
    },
    stop: () => resized.disconnect(),
  };
}
