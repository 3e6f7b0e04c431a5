// What is on the screen: the chart with its overlay, the strip below it, and everything beside them
// that tells of the state.

import { read, write } from "./address.js";
import { comparePage, showCard } from "./card.js";
import { prepared } from "./data.js";
import { draw, drawOverlay } from "./draw.js";
import { showHidden, sortRows, tellValues } from "./list.js";
import { drawMinimap, placeBrush } from "./minimap.js";

// The state is that of the address; `scene` and `map` are what was drawn last.
export function makeScreen(columns) {
  const plot = document.querySelector("#plot");
  const strip = document.querySelector("#minimap");
  const panel = document.querySelector("#chart");
  const screen = { plot, strip, panel, state: read(prepared(columns)), scene: null, map: null };
  let frame = 0; // of requestAnimationFrame

  screen.draw = () => {
    frame = 0;
    if (!plot.clientWidth) return; // not laid out yet: it will be told of its size
    screen.scene = draw(plot, screen.state);
    if (screen.map) placeBrush(screen.map, screen.state);
    else screen.map = drawMinimap(strip, screen.state, screen.scene.x);
    screen.overlay();
    panel.dataset.drawn = String(Number(panel.dataset.drawn ?? 0) + 1);
  };

  // With the next frame; `anew`: the strip as well.
  screen.redraw = ({ anew = false } = {}) => {
    if (anew) screen.map = null;
    frame ||= requestAnimationFrame(screen.draw);
  };

  screen.overlay = () => screen.scene && drawOverlay(screen.scene, screen.state);

  // What hangs on the revision pointed at.
  screen.tellPointed = () => {
    screen.overlay();
    tellValues(screen.state);
  };

  // What hangs on A, B, the range and hidden series.
  screen.tell = () => {
    const { state } = screen;
    write(state);
    showCard(state);
    tellValues(state);
    tellSides(state);
    document.querySelector("#whole").hidden = isWhole(state);
    screen.overlay();
  };

  screen.toggle = (id) => {
    const { hidden } = screen.state;
    if (!hidden.delete(id)) hidden.add(id);
    showHidden(screen.state);
    screen.redraw({ anew: true });
    screen.tell();
  };

  screen.sort = (order) => {
    screen.state.sort = order;
    sortRows(screen.state);
    write(screen.state);
  };
  return screen;
}

function isWhole({ window: [low, high], chart }) {
  return low <= chart.whole[0] && high >= chart.whole[1];
}

function tellSides(state) {
  for (const side of ["a", "b"]) {
    const name = state[side] ? state.chart.revisions.name[state[side].at] : "–";
    document.querySelector(`#side-${side}`).textContent = name;
  }
  const compare = document.querySelector("#compare");
  compare.hidden = !state.a || !state.b;
  if (!compare.hidden) compare.href = comparePage(state);
}
