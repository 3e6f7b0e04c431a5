// One explorer: a figure of the server under Plotly, and what Plotly cannot know: the address, A and B,
// the marked range, presses. What zooms asks the server for the figure of the part in sight; what hangs
// on A, B and the range comes as HTML.

import { apply, pictured, write } from "./address.js";
import { highlight, listenList, showHidden } from "./list.js";
import { parsed, quick, split } from "./plot.js";
import { listenPresses } from "./presses.js";
import { showTip } from "./tip.js";

const CHOSEN = ["a", "b", "range"]; // keys of the address
const LIKE = 0.12; // a figure fits a box that differs by less of its width

// Takes the server's drawing over: `text` is its figure. Throws where Plotly does.
export async function start(panel, text) {
  const [box, whole] = [panel.querySelector("#live"), panel.querySelector("#whole")];
  const query = new URLSearchParams(location.search);
  const pins = query.getAll("pin"); // how older addresses name A and B
  const ended = new AbortController();
  let figure, meta; // as drawn
  let pointed = null; // the index of a revision
  let active = false; // the wheel zooms once the chart has been pressed
  let before = {}; // A and B as they were before the last choice
  const [figureAt, partsAt] = [latest(), latest()];
  let [chosen, telling] = ["[]", null]; // what was asked of A, B and the range last, and that request
  let mode = matchMedia("(pointer: coarse)").matches ? false : "zoom"; // a finger scrolls the page

  async function draw() {
    figure = parsed(text);
    ({ meta } = figure.layout);
    const { meta: _, ...layout } = figure.layout;
    const own = { width: box.clientWidth || layout.width, dragmode: mode, hovermode: false };
    // A copy: Plotly writes the ranges of gestures into it.
    await window.Plotly.react(box, quick(figure.data), structuredClone({ ...layout, ...own }), settings);
    for (const layer of box.querySelectorAll(".scatterlayer")) layer.removeAttribute("transform");
    split(box);
    if (fits()) panel.classList.add("is-live"); // until then the server's drawing stays: made for a phone, too
    mark();
    highlight();
  }

  const fits = () => Math.abs(box.clientWidth / figure.layout.width - 1) < LIKE;

  // The figure of what changed: the one before stays until it is there, and while something is pressed.
  async function show(changes) {
    if (!panel.isConnected) return;
    apply(query, changes);
    const more = { theme: "page", width: String(Math.round(box.clientWidth)) };
    for (const key of CHOSEN) more[key] = query.getAll(key); // of a long history these are always drawn
    const isLast = await tried("This part could not be drawn", async () => {
      text = await figureAt(pictured(panel.dataset.figure, query, more), released);
      await draw();
      pointed = null;
      apply(query, { view: meta.window?.join("..") });
    });
    if (!isLast) return;
    tell();
    panel.dataset.drawn = String(Number(panel.dataset.drawn ?? 0) + 1);
  }

  // What hangs on A, B, the range and the part in sight.
  function tell() {
    if (!panel.isConnected) return; // a press has replaced the chart: the address is that of the new one
    write(query);
    showHidden(query.getAll("hide"));
    whole.hidden = !query.has("view") && !query.has("height");
    const keys = CHOSEN.some((key) => query.has(key)) ? [...CHOSEN, "hide"] : [];
    const now = JSON.stringify(keys.map((key) => query.getAll(key)));
    if (now === chosen) return;
    chosen = now;
    telling = tried("What is chosen could not be loaded", async () => {
      window.htmx.swap("#tray", await partsAt(`${panel.dataset.chosen}?${query}`), { swapStyle: "none" });
    }, () => {
      chosen = null; // so that it can be asked again
      for (const part of ["#card", "#range", "#distributions"]) document.querySelector(part).replaceChildren();
    });
  }

  // States on the page what failed; false where a newer request has ended it.
  async function tried(failure, work, clear = () => null) {
    try {
      await work();
    } catch (error) {
      if (error.name === "AbortError") return false;
      panel.querySelector("#hint").textContent = `${failure}: ${error.message}.`;
      clear();
    }
    return true;
  }

  function choose(changes) {
    before = { a: query.get("a"), b: query.get("b") };
    apply(query, changes);
    mark();
    tell();
  }

  // The index of the revision of A or B, -1 where it is not among those drawn.
  const indexOf = (key) => meta.revisions.name.indexOf((query.get(key) ?? "").split("@").slice(1).join("@"));

  // Puts A, B and the marked range over the plot, as far as they are in sight.
  function mark() {
    const { start, wide, low, by } = across();
    const { name, place } = meta.revisions;
    const put = (id, first, last) => {
      const ends = [first, last].map((one) => ((one ?? NaN) - low) / by);
      const [left, right] = ends.map((one) => start + Math.min(Math.max(one, 0), wide));
      const mark = panel.querySelector(id);
      mark.hidden = !(ends[1] >= 0 && ends[0] <= wide);
      Object.assign(mark.style, { left: `${left}px`, width: `${right - left}px` });
    };
    for (const key of ["a", "b"]) put(`#at-${key}`, place[indexOf(key)], place[indexOf(key)]);
    const ends = (query.get("range") ?? "").split("..").map((one) => place[name.indexOf(one)]);
    put("#at-range", Math.min(...ends) - 0.5, Math.max(...ends) + 0.5);
  }

  function nearest(to) {
    const { place, order } = meta.revisions;
    return order.reduce((best, at) => (Math.abs(place[at] - to) < Math.abs(place[best] - to) ? at : best));
  }

  // The revisions between two places, as indices along the axis; none: the nearest.
  function between(low, high) {
    const { place, order } = meta.revisions;
    const inside = order.filter((at) => place[at] >= low && place[at] <= high);
    return inside.length ? inside : [nearest((low + high) / 2)];
  }

  function look(low, high, height = query.getAll("height")) {
    const inside = between(low, high);
    const names = [inside[0], inside.at(-1)].map((at) => meta.revisions.name[at]);
    return show({ view: inside.length >= between(...meta.whole).length ? null : names.join(".."), height });
  }

  function onRelayout(change) {
    if ("dragmode" in change) mode = change.dragmode;
    const axes = Object.keys(change).filter((key) => /^[xy]axis\d*\.range/.test(key)).map((key) => key.split(".")[0]);
    if (!axes.length) return;
    const { layout } = box;
    const isMoved = (key) => layout[key].range.some((end, at) => end !== figure.layout[key].range[at]);
    const touched = new Set(axes.filter((key) => key !== "xaxis" && isMoved(key)).map((key) => key.slice(5) || "1"));
    const kept = query.getAll("height").filter((one) => !touched.has(one.split(":")[0]));
    const ends = (lane) => layout[`yaxis${lane === "1" ? "" : lane}`].range.map((end) => end.toPrecision(8));
    look(...layout.xaxis.range, [...kept, ...[...touched].map((lane) => `${lane}:${ends(lane).join("..")}`)]);
  }

  // Where the plot lies in the box, in pixels, and how many revisions a pixel is.
  function across() {
    const { margin, width, height, xaxis: { range: [low, high] } } = box.layout;
    const [wide, tall] = [width - margin.l - margin.r, height - margin.t - margin.b];
    return { start: margin.l, top: margin.t, wide, tall, low, by: (high - low) / wide };
  }

  // The revision and the place in the box that an event means; null beside the plot.
  function meant({ clientX, clientY }) {
    const { start, top, wide, tall, low, by } = across();
    const room = box.getBoundingClientRect();
    const place = { x: clientX - room.left, y: clientY - room.top };
    const isInside = place.x >= start && place.x <= start + wide && place.y >= top && place.y <= top + tall;
    return isInside ? { place, at: nearest(low + (place.x - start) * by) } : null;
  }

  function pointAt(at, place = null) {
    pointed = at;
    const [cross, tip] = [panel.querySelector("#cross"), panel.querySelector("#tip")];
    cross.hidden = tip.hidden = at === null;
    if (at === null) return;
    const { start, top, low, by } = across();
    const x = start + (meta.revisions.place[at] - low) / by;
    cross.style.left = `${x}px`;
    tip.ariaLive = place ? "off" : "polite"; // who steps by keys may see neither
    showTip(tip, meta.revisions, at, measuredAt(at), place ?? { x, y: top });
  }

  // The series that are shown and measured at a revision, each with what it has there.
  function measuredAt(at) {
    const hidden = query.getAll("hide");
    const shown = meta.series.filter((one) => !hidden.includes(String(one.id)));
    return shown.map((one) => [one, valueAt(figure, one, at)]).filter(([, value]) => value);
  }

  // A point becomes A or B: that of the series of B where there is one, else of the first measured.
  function take(key, at, rows) {
    const focus = (query.get("b") ?? "").split("@")[0];
    const [series] = rows.find(([one]) => String(one.id) === focus) ?? rows[0] ?? [];
    if (series) choose({ [key]: `${series.id}@${meta.revisions.name[at]}` });
  }

  // Of the points at a revision the one that is nearest to the pointer.
  function onPress(event) {
    active = true;
    const found = meant(event);
    if (!found) return;
    const { top, tall } = across();
    const away = ([, { axis, drawn }]) => {
      const { range: [low, high], domain: [foot, head] } = box.layout[`yaxis${axis.slice(1)}`];
      const up = foot + ((head - foot) * (drawn - low)) / (high - low);
      return Math.abs(top + tall * (1 - up) - found.place.y);
    };
    const rows = measuredAt(found.at).sort((one, other) => away(one) - away(other));
    take(event.shiftKey ? "a" : "b", found.at, rows.slice(0, 1));
  }

  // The first press of the two has chosen: that is taken back.
  function onDoublePress() {
    apply(query, before);
    does.whole();
  }

  // Two fingers stay on the revisions that they lie on: the points follow, the figure when both are up.
  function pinch(from, to, isDone) {
    if (mode) return false;
    const { start, wide, low, by } = across();
    const left = box.getBoundingClientRect().left + start;
    const scale = Math.max((to[1] - to[0]) / (from[1] - from[0]), 0.1);
    const moved = to[0] - left - (from[0] - left) * scale;
    for (const layer of box.querySelectorAll(".scatterlayer")) {
      layer.setAttribute("transform", `translate(${moved} 0) scale(${scale} 1)`);
    }
    const first = low - (moved * by) / scale;
    if (isDone) look(first, first + (wide * by) / scale);
    return true;
  }

  function onSelected(event) {
    if (!event?.range) return;
    const ends = Object.entries(event.range).find(([key]) => key.startsWith("x"))[1];
    const inside = between(Math.min(...ends), Math.max(...ends));
    choose({ range: [inside[0], inside.at(-1)].map((at) => meta.revisions.name[at]).join("..") });
    window.Plotly.relayout(box, { selections: [] });
  }

  const here = () => pointed ?? (indexOf("b") < 0 ? null : indexOf("b"));

  const follow = (selector) => Promise.resolve(telling).then(() => document.querySelector(selector)?.click());

  const does = {
    whole: () => show({ view: null, height: null }),
    zoom(factor) {
      const [low, high] = box.layout.xaxis.range;
      const [middle, half] = [(low + high) / 2, ((high - low) / 2) * factor];
      return look(middle - half, middle + half);
    },
    pan(share) {
      const [low, high] = box.layout.xaxis.range;
      return look(low + share * (high - low), high + share * (high - low));
    },
    // A revision further along, from the one pointed at, else B, else the newest.
    async step(by) {
      const from = here();
      const { order } = meta.revisions;
      const along = order.indexOf(from ?? order.at(-1)) + (from === null ? 0 : by);
      const next = order[Math.min(Math.max(along, 0), order.length - 1)];
      const [low, high] = box.layout.xaxis.range;
      const [place, name] = [meta.revisions.place[next], meta.revisions.name[next]];
      if (place < low || place > high) await does.pan((place - (low + high) / 2) / (high - low));
      pointAt(meta.revisions.name.indexOf(name));
    },
    // By keys: the range grows with the revision pointed at.
    async markTo(by) {
      pointed = here() ?? meta.revisions.order.at(-1);
      const from = meta.revisions.name[pointed];
      const range = query.get("range")?.split("..");
      const fixed = range ? range[range[0] === from ? 1 : 0] : from;
      await does.step(by);
      choose({ range: `${fixed}..${meta.revisions.name[pointed]}` });
    },
    // The point under the crosshair; what is B already opens its commit.
    chooseByKey(key) {
      const b = indexOf("b");
      if (b >= 0 && (pointed === null || (key === "b" && b === pointed))) follow("#card .open");
      else if (pointed !== null) take(key, pointed, measuredAt(pointed));
    },
    // Back to nothing chosen; whether there was anything.
    leave() {
      if (pointed === null && !CHOSEN.some((key) => query.has(key))) return false;
      pointAt(null);
      choose({ a: null, b: null, range: null });
      return true;
    },
    compare: () => follow("#compare"),
    // A revision by its name, or none; a part in sight of a long history may lack it.
    point(name) {
      const at = meta.revisions.name.indexOf(name);
      pointAt(at < 0 ? null : at);
    },
    redraw: draw,
    stop() {
      ended.abort();
      resized.disconnect();
      window.Plotly.purge(box);
    },
  };

  const settings = config(does); // the same each time, or Plotly would begin anew
  const resized = new ResizeObserver(() => {
    if (box.clientWidth && box.clientWidth !== box.layout.width) show({});
  });

  const over = (event) => {
    const found = event && meant(event);
    pointAt(found?.at ?? null, found?.place);
  };
  const released = listenPresses(box, ended.signal, { press: onPress, double: onDoublePress, over, pinch });
  box.addEventListener("wheel", (event) => active || event.stopPropagation(), { capture: true, signal: ended.signal });
  apply(query, { pin: null, a: query.get("a") ?? pins.at(-2), b: query.get("b") ?? pins.at(-1) });
  await draw();
  apply(query, { view: meta.window?.join("..") });
  box.on("plotly_relayout", onRelayout);
  box.on("plotly_selected", onSelected);
  box.on("plotly_afterplot", () => split(box));
  listenList(() => query.getAll("hide"), (hide) => show({ hide }));
  whole.addEventListener("click", does.whole);
  document.querySelector("#range").addEventListener("click", ({ target }) => {
    if (target.closest("button")) choose({ range: null });
  });
  resized.observe(box);
  if (fits()) tell();
  else await show({});
  panel.dataset.drawn ??= "1";
  return does;
}

// A function that gives the text at an address, once `isTime` too; a newer call ends the one before.
function latest() {
  let under = null;
  return async (href, isTime = () => null) => {
    under?.abort();
    const { signal } = (under = new AbortController());
    const response = await fetch(href, { signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const text = await response.text();
    await isTime();
    signal.throwIfAborted();
    return text;
  };
}

function config(does) {
  const { Icons } = window.Plotly;
  const button = (title, icon, click) => ({ name: title, title, icon, click });
  const linked = (kind) => document.querySelector(`a[data-take="${kind}"]`).cloneNode();
  const take = (kind) => () => Object.assign(linked(kind), { download: "" }).click();
  const own = [button("PNG", Icons.camera, take("PNG")), button("SVG", Icons.disk, take("SVG"))];
  own.unshift(button("Show all", Icons.home, does.whole));
  const modeBarButtons = [["zoom2d", "pan2d", "select2d"], own];
  // Tips would lie over the chart and take presses.
  return { displaylogo: false, doubleClick: false, showTips: false, scrollZoom: true, modeBarButtons };
}

// What a series has at a revision, as measured and as drawn: its trace has it as drawn.
function valueAt({ data }, series, at) {
  const index = series.revision.indexOf(at);
  const trace = data.find((one) => one.meta === series.id && one.mode === "markers");
  if (index < 0 || !trace) return null;
  const drawn = trace.y[index];
  const end = (lengths, way) => (lengths?.[index] == null ? null : (drawn + way * lengths[index]) / series.factor);
  const [low, high] = [end(trace.error_y?.arrayminus, -1), end(trace.error_y?.array, 1)];
  return { value: drawn / series.factor, low, high, n: series.n[index], drawn, axis: trace.yaxis };
}
