// The part in sight: zooming, moving, and the points of a long history that it has room for.

import { pairs } from "./address.js";
import { prepared } from "./data.js";

const LEAST_WINDOW = 3; // revisions in sight, at the least
const FETCH_AFTER = 120; // milliseconds without a move, before more of a long history is asked for

// show, zoom and pan return whether anything moved.
export function makeSight(screen) {
  let asking = 0; // the timer of a fetch

  // Shows another part, inside of what there is and not less than a few revisions of it.
  function show(wanted) {
    const { state } = screen;
    const [low, high] = within(state.chart, wanted);
    if (state.window[0] === low && state.window[1] === high) return false;
    state.window = [low, high];
    screen.redraw();
    settle();
    return true;
  }

  // When the window rests: the address, and finer points.
  function settle() {
    clearTimeout(asking);
    asking = setTimeout(() => {
      screen.tell();
      if (screen.state.chart.isThinned) refine();
    }, FETCH_AFTER);
  }

  // Where nothing comes, what is drawn stays: it is coarser, not wrong.
  async function refine() {
    const wanted = screen.state.window;
    const asked = fetch(figure(screen), { headers: { Accept: "application/json" } });
    const response = await asked.catch(() => null);
    if (!response?.ok) return;
    const chart = prepared(await response.json());
    if (screen.state.window !== wanted) return; // it moved on meanwhile
    screen.state = moved(screen.state, chart);
    screen.redraw({ anew: true });
  }

  function zoom(factor, pixel) {
    const { x } = screen.scene;
    const middle = x.back(Math.min(Math.max(pixel ?? (x.start + x.end) / 2, x.start), x.end));
    const [low, high] = screen.state.window;
    return show([middle - (middle - low) * factor, middle + (high - middle) * factor]);
  }

  function pan(pixels) {
    const by = pixels / screen.scene.x.slope;
    return show(screen.state.window.map((end) => end + by));
  }

  // So that a place is in sight: in the middle, where it was not.
  function reach(place) {
    const [low, high] = screen.state.window;
    const by = place - (low + high) / 2;
    if (place < low || place > high) show([low + by, high + by]);
  }

  return { show, settle, zoom, pan, reach, whole: () => show(screen.state.chart.whole) };
}

function within({ whole: [first, last], total }, [low, high]) {
  const least = Math.min(((last - first) / Math.max(total, 1)) * LEAST_WINDOW, last - first);
  const length = Math.min(Math.max(high - low, least), last - first);
  const from = Math.min(Math.max(low - (length - (high - low)) / 2, first), last - length);
  return [from, from + length];
}

function figure({ panel, state }) {
  const address = new URL(panel.dataset.figure, location.href);
  address.searchParams.delete("view");
  for (const [key, value] of pairs(state)) {
    if (key === "view") address.searchParams.append(key, value);
  }
  return address;
}

// The same state on other points of the same history: what is chosen stays, by its name.
function moved(state, chart) {
  const names = state.chart.revisions.name;
  const at = (index) => chart.revisions.name.indexOf(names[index]);
  const sideOf = (side) => (side && at(side.at) >= 0 ? { ...side, at: at(side.at) } : null);
  const range = state.range?.map(at);
  return {
    ...state,
    chart,
    a: sideOf(state.a),
    b: sideOf(state.b),
    range: range?.every((end) => end >= 0) ? range : null,
    pointed: null,
  };
}
