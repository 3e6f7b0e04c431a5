// One explorer: a figure of the server under Plotly, and what Plotly cannot know: the address, A and B,
// the marked range, the card. What zooms asks the server for the figure of the part in sight.

import { pictured, read, write } from "./address.js";
import { commitPage, comparePage, listenCard, showCard } from "./card.js";
import { listenList, showHidden, sortRows } from "./list.js";
import { coloured, quick, split } from "./plot.js";
import { showRange } from "./range.js";
import { showTip } from "./tip.js";

const NARROW_BELOW = 640; // pixels, as in webapp/charts/trend/room.py
const LIKE = 0.12; // a figure fits a box that differs by less of its width
const CLOSER = 0.6; // of the part in sight, a press of a key
const [DOUBLE_WITHIN, NEAR] = [350, 15]; // milliseconds and pixels between the presses of a double click
const INK = "var(--ink)";

// Takes the server's drawing over. Throws where Plotly does.
export async function start(panel, figure) {
  const box = panel.querySelector("#live");
  const chart = {
    panel,
    box,
    figure,
    meta: figure.layout.meta,
    state: read(figure.layout.meta),
    pointed: null,
    valueAt: (series, at) => valueAt(chart, series, at),
  };
  let active = false; // the wheel zooms once the chart has been clicked
  let before = null; // A and B as they were before the last choice
  let presses = []; // the last two: where and when
  let asking = null; // the request under way
  let mode = matchMedia("(pointer: coarse)").matches ? false : "zoom"; // a finger scrolls the page

  async function draw() {
    const { data, layout } = coloured({ data: quick(chart.figure.data), layout: marked(chart) });
    const width = box.clientWidth || layout.width;
    await window.Plotly.react(box, data, { ...layout, width, dragmode: mode }, config(chart, does));
    split(box);
  }

  // The figure of the state: kept until another is there.
  async function show(change) {
    Object.assign(chart.state, change);
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    const width = String(Math.round(box.clientWidth));
    const from = pictured(panel.dataset.figure, chart.state, [["theme", "page"], ["width", width]]);
    try {
      const response = await fetch(from, { signal: mine.signal });
      if (!response.ok) throw new Error(`status ${response.status}`);
      adopt(await response.json());
      await draw();
    } catch (error) {
      if (mine.signal.aborted) return;
      panel.querySelector("#hint").textContent = `This part could not be drawn: ${error.message}.`;
    }
    tell();
    panel.dataset.drawn = String(Number(panel.dataset.drawn ?? 0) + 1);
  }

  // Another figure has other revisions where the history is long: what is chosen stays, by its name.
  function adopt(next) {
    const names = chart.meta.revisions.name;
    const now = next.layout.meta.revisions.name;
    const moved = (at) => now.indexOf(names[at]);
    const { state } = chart;
    for (const side of ["a", "b"]) if (state[side]) state[side].at = moved(state[side].at);
    if (state.range) state.range = state.range.map(moved);
    for (const side of ["a", "b"]) if (state[side]?.at < 0) state[side] = null;
    if (state.range?.includes(-1)) state.range = null;
    Object.assign(chart, { figure: next, meta: next.layout.meta, pointed: null });
    state.view = chart.meta.window;
  }

  // What hangs on A, B, the range and the part in sight.
  function tell() {
    const { state, meta } = chart;
    write(meta, state);
    showCard(chart);
    showRange(chart, () => choose({ range: null }));
    showHidden(state.hidden);
    for (const side of ["a", "b"]) {
      panel.querySelector(`#side-${side}`).textContent = state[side] ? meta.revisions.name[state[side].at] : "–";
    }
    const compare = panel.querySelector("#compare");
    compare.hidden = !state.a || !state.b;
    if (!compare.hidden) compare.href = comparePage(chart);
    panel.querySelector("#whole").hidden = !state.view && !state.heights.length;
  }

  function choose(change) {
    before = { a: chart.state.a, b: chart.state.b };
    Object.assign(chart.state, change);
    const { shapes, annotations } = coloured(marked(chart));
    window.Plotly.relayout(box, { shapes, annotations, selections: [] });
    tell();
  }

  // The revisions between two places, as indices in the order of the axis; none: the nearest.
  function between(low, high) {
    const order = ordered(chart.meta);
    const { place } = chart.meta.revisions;
    const inside = order.filter((at) => place[at] >= low && place[at] <= high);
    return inside.length ? inside : [nearest(chart.meta, (low + high) / 2)];
  }

  function look(low, high, heights) {
    const [first, last] = chart.meta.whole;
    const inside = between(low, high);
    const names = [inside[0], inside.at(-1)].map((at) => chart.meta.revisions.name[at]);
    const isWhole = inside.length >= between(first, last).length;
    return show({ view: isWhole ? null : names, heights });
  }

  function onRelayout(change) {
    if ("dragmode" in change) mode = change.dragmode;
    const axes = Object.keys(change).filter((key) => /^[xy]axis\d*\.range/.test(key)).map((key) => key.split(".")[0]);
    if (!axes.length) return;
    const { layout } = box;
    const isMoved = (key) => layout[key].range.some((end, at) => end !== chart.figure.layout[key].range[at]);
    const touched = new Set(axes.filter((key) => key !== "xaxis" && isMoved(key)));
    const kept = chart.state.heights.filter((one) => !touched.has(axisOf(one)));
    const made = [...touched].map((key) => `${key.slice(5) || 1}:${layout[key].range.map((end) => end.toPrecision(8)).join("..")}`);
    look(...layout.xaxis.range, [...kept, ...made]);
  }

  // The revision and the place in the box that an event of a mouse or a finger means.
  function meant(event) {
    const touch = event.changedTouches?.[0] ?? event;
    const room = box.getBoundingClientRect();
    const place = { x: touch.clientX - room.left, y: touch.clientY - room.top };
    const { margin, width, xaxis: { range } } = box.layout;
    const share = (place.x - margin.l) / (width - margin.l - margin.r);
    return { place, at: nearest(chart.meta, range[0] + share * (range[1] - range[0])) };
  }

  function pixel(at) {
    const { margin, width, xaxis: { range } } = box.layout;
    const share = (chart.meta.revisions.place[at] - range[0]) / (range[1] - range[0]);
    return margin.l + share * (width - margin.l - margin.r);
  }

  function pointAt(at, place) {
    chart.pointed = at;
    const cross = panel.querySelector("#cross");
    cross.hidden = at === null;
    panel.querySelector("#tip").hidden = at === null;
    if (at === null) return;
    cross.style.left = `${pixel(at)}px`;
    showTip(panel.querySelector("#tip"), chart, at, place ?? { x: pixel(at), y: box.layout.margin.t });
  }

  // Of the points that Plotly found at a revision the one that is nearest to the pointer.
  function onClick({ points, event }) {
    active = true;
    const { at, place } = meant(event);
    const press = presses.at(-1);
    if (!press || press.isDone || isDouble()) return;
    press.isDone = true;
    const shown = chart.meta.series.filter((one) => points.some(({ data }) => data.meta === one.id) && one.revision.includes(at));
    const height = (one) => {
      const { yaxis } = points.find(({ data }) => data.meta === one.id);
      return Math.abs(yaxis.l2p(chart.valueAt(one, at).value * one.factor) + yaxis._offset - place.y);
    };
    const [one] = shown.sort((a, b) => height(a) - height(b));
    if (one) choose({ [event.shiftKey ? "a" : "b"]: { id: one.id, at } });
  }

  // Plotly counts the mouse that a browser makes of a finger, and two presses at different places.
  function isDouble() {
    const [one, other] = presses;
    return other && other.time - one.time < DOUBLE_WITHIN && Math.abs(other.x - one.x) < NEAR;
  }

  // The first press of a double click has chosen: that is taken back.
  function onDoubleClick() {
    if (!isDouble()) return;
    presses = [];
    if (before) Object.assign(chart.state, before);
    before = null;
    does.whole();
  }

  function onSelected(event) {
    if (!event?.range) return;
    const ends = Object.entries(event.range).find(([key]) => key.startsWith("x"))[1];
    const inside = between(Math.min(...ends), Math.max(...ends));
    choose({ range: [inside[0], inside.at(-1)] });
  }

  const does = {
    // What is whole stays as it is: a press while it is drawn anew would be lost.
    whole: () => (chart.state.view || chart.state.heights.length ? show({ view: null, heights: [] }) : null),
    zoom(factor) {
      const [low, high] = box.layout.xaxis.range;
      const middle = (low + high) / 2;
      return look(middle - ((high - low) / 2) * factor, middle + ((high - low) / 2) * factor, chart.state.heights);
    },
    pan(share) {
      const [low, high] = box.layout.xaxis.range;
      const by = share * (high - low);
      return look(low + by, high + by, chart.state.heights);
    },
    // A revision further along, from the one pointed at, else B, else the newest.
    async step(by) {
      const order = ordered(chart.meta);
      const from = chart.pointed ?? chart.state.b?.at;
      const here = order.indexOf(from ?? order.at(-1));
      const next = order[from === undefined ? here : Math.min(Math.max(here + by, 0), order.length - 1)];
      const [low, high] = box.layout.xaxis.range;
      const place = chart.meta.revisions.place[next];
      const name = chart.meta.revisions.name[next];
      if (place < low || place > high) await does.pan((place - (low + high) / 2) / (high - low));
      pointAt(chart.meta.revisions.name.indexOf(name));
    },
    // By keys: the range grows with the revision pointed at.
    async markTo(by) {
      const { b, range } = chart.state;
      const from = chart.pointed ?? b?.at ?? ordered(chart.meta).at(-1);
      chart.pointed ??= from;
      await does.step(by);
      const fixed = range ? range[range[0] === from ? 1 : 0] : from;
      const { pointed } = chart;
      choose({ range: [fixed, pointed].sort((one, other) => one - other) });
      pointAt(pointed);
    },
    // The point under the crosshair; what is B already opens its commit.
    chooseByKey(isA) {
      const { pointed, state: { b } } = chart;
      if (b && (pointed === null || (!isA && b.at === pointed))) location.assign(commitPage(chart.meta, b.at));
      else if (pointed !== null) choose({ [isA ? "a" : "b"]: { id: focused(chart, pointed).id, at: pointed } });
    },
    // Back to nothing chosen; whether there was anything.
    leave() {
      const { state, pointed } = chart;
      if (!state.a && !state.b && pointed === null && !state.range) return false;
      pointAt(null);
      choose({ a: null, b: null, range: null });
      return true;
    },
    compare: () => chart.state.a && chart.state.b && location.assign(comparePage(chart)),
    point: (at) => pointAt(at),
    closer: () => does.zoom(CLOSER),
    wider: () => does.zoom(1 / CLOSER),
    redraw: draw,
    stop() {
      resized.disconnect();
      window.Plotly.purge(box);
    },
  };

  let width = box.clientWidth;
  const resized = new ResizeObserver(() => {
    if (!box.clientWidth || box.clientWidth === width) return;
    width = box.clientWidth;
    show({});
  });

  box.addEventListener("pointerdown", ({ clientX, timeStamp }) => {
    presses = [...presses.slice(-1), { x: clientX, time: timeStamp }];
  }, { capture: true });
  box.addEventListener("wheel", (event) => active || event.stopPropagation(), { capture: true });
  await draw();
  panel.classList.add("is-live");
  for (const [name, does_] of Object.entries({ relayout: onRelayout, hover: ({ event }) => pointAt(meant(event).at, meant(event).place), unhover: () => pointAt(null), click: onClick, doubleclick: onDoubleClick, selected: onSelected, afterplot: () => split(box) })) {
    box.on(`plotly_${name}`, does_);
  }
  listenList(() => chart.state.hidden, {
    hide: (hidden) => show({ hidden }),
    sort(order) {
      chart.state.sort = order;
      sortRows(order);
      write(chart.meta, chart.state);
    },
  });
  listenCard();
  panel.querySelector("#whole").addEventListener("click", does.whole);
  document.querySelector("#sort").value = chart.state.sort;
  sortRows(chart.state.sort);
  resized.observe(box);
  const fits = Math.abs(box.clientWidth / figure.layout.width - 1) < LIKE && (box.clientWidth < NARROW_BELOW) === (figure.layout.width < NARROW_BELOW);
  if (fits) tell();
  else await show({});
  panel.dataset.drawn ??= "1";
  return does;
}

function axisOf(height) {
  const lane = height.split(":")[0];
  return `yaxis${lane === "1" ? "" : lane}`;
}

function config(chart, does) {
  const take = (kind) => () => location.assign(document.querySelector(`a[data-take="${kind}"]`).href);
  const { Icons } = window.Plotly;
  const own = [
    { name: "whole", title: "Show all", icon: Icons.home, click: does.whole },
    { name: "png", title: "PNG", icon: Icons.camera, click: take("PNG") },
    { name: "svg", title: "SVG", icon: Icons.disk, click: take("SVG") },
  ];
  return {
    displaylogo: false,
    doubleClick: false,
    scrollZoom: true,
    modeBarButtons: [["zoom2d", "pan2d", "select2d"], own],
  };
}

// The layout with A, B and the marked range.
function marked({ figure: { layout }, meta, state }) {
  const { place } = meta.revisions;
  const sides = [["A", state.a, "3px,3px"], ["B", state.b, "solid"]].filter(([, side]) => side && place[side.at] !== null);
  const tall = { yref: "paper", y0: 0, y1: 1, xref: "x" };
  const lines = sides.map(([, side, dash]) => ({
    ...tall, type: "line", x0: place[side.at], x1: place[side.at], line: { color: INK, width: 1, dash },
  }));
  const letters = sides.map(([letter, side]) => ({
    text: letter, x: place[side.at], y: 1, xref: "x", yref: "paper", showarrow: false, yanchor: "middle",
    xanchor: letter === "A" ? "right" : "left", bgcolor: INK, borderpad: 2, font: { size: 11, color: "var(--paper)", weight: 600 },
  }));
  const range = state.range?.map((at) => place[at]);
  const band = range ? [{ ...tall, type: "rect", x0: range[0] - 0.5, x1: range[1] + 0.5, fillcolor: INK, opacity: 0.08, line: { width: 0 } }] : [];
  return {
    ...layout,
    shapes: [...layout.shapes, ...band, ...lines],
    annotations: [...layout.annotations, ...letters],
  };
}

// The indices of the revisions along the axis.
function ordered({ revisions: { place } }) {
  return [...place.keys()].filter((at) => place[at] !== null).sort((one, other) => place[one] - place[other]);
}

function nearest(meta, to) {
  const { place } = meta.revisions;
  return ordered(meta).reduce((best, at) => (Math.abs(place[at] - to) < Math.abs(place[best] - to) ? at : best));
}

// The series that a key chooses at a revision: that of B, else the first measured there.
function focused({ meta, state: { hidden, b } }, at) {
  const measured = meta.series.filter((one) => !hidden.has(one.id) && one.revision.includes(at));
  return measured.find((one) => one.id === b?.id) ?? measured[0];
}

// What a series has at a revision, as measured: its trace has it as drawn.
function valueAt({ figure }, series, at) {
  const index = series.revision.indexOf(at);
  const trace = figure.data.find((one) => one.meta === series.id && one.mode === "markers");
  if (index < 0 || !trace) return null;
  const end = (lengths, way) => (lengths?.[index] == null ? null : (trace.y[index] + way * lengths[index]) / series.factor);
  return {
    index,
    value: trace.y[index] / series.factor,
    low: end(trace.error_y?.arrayminus, -1),
    high: end(trace.error_y?.array, 1),
    n: series.n[index],
  };
}
