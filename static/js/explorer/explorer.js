// One explorer: the state of a chart, and what becomes of it by hand, key and list.

import { listenCard } from "./card.js";
import { makeChosen } from "./chosen.js";
import { listen } from "./gestures.js";
import { listenList, showHidden, sortRows } from "./list.js";
import { listenMinimap } from "./minimap.js";
import { makePointer } from "./pointer.js";
import { makeScreen } from "./screen.js";
import { makeSight } from "./sight.js";

// Takes the server's drawing over; returns what the keys of the page do, and how to stop.
export function start(columns) {
  const screen = makeScreen(columns);
  const sight = makeSight(screen);
  const pointer = makePointer(screen, sight);
  const chosen = makeChosen(screen, pointer);
  listen(screen.plot, hands(screen, sight, pointer, chosen));
  listenMinimap(screen.strip, () => screen.map, () => screen.state, sight.show, sight.settle);
  listenList(screen);
  listenCard();
  document.querySelector("#whole").addEventListener("click", sight.whole);
  const resized = new ResizeObserver(() => screen.redraw({ anew: true }));
  resized.observe(screen.plot);
  open(screen, chosen);
  return {
    ...{ zoom: sight.zoom, whole: sight.whole, step: pointer.step, pointAt: pointer.pointAt },
    ...{ markTo: chosen.markTo, chooseByKey: chosen.chooseByKey, leave: chosen.leave, compare: chosen.compare },
    pan: (share) => sight.pan(share * (screen.scene.x.end - screen.scene.x.start)),
    stop: () => resized.disconnect(),
  };
}

function hands(screen, sight, pointer, chosen) {
  const placeOf = (pixel) => screen.scene.x.back(pixel);
  return {
    point: pointer.point,
    leave: () => pointer.pointAt(null),
    click: (place, isA) => chosen.choose(pointer.at(place), isA),
    zoom: sight.zoom,
    pan: sight.pan,
    reset: () => {
      chosen.undo();
      sight.whole();
    },
    drag: (ends, isRange) => {
      screen.state.dragged = ends && { ends, isRange };
      screen.overlay();
    },
    box: (ends) => sight.show(ends.map(placeOf).sort((one, other) => one - other)),
    range: chosen.mark,
  };
}

function open(screen, chosen) {
  screen.draw();
  document.querySelector("#sort").value = screen.state.sort;
  sortRows(screen.state);
  showHidden(screen.state);
  chosen.tellRange();
  screen.tell();
}
