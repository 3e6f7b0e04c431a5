// The revision pointed at, by hand or by key: the crosshair.

import { nearest } from "./data.js";

export function makePointer(screen, sight) {
  function pointAt(index) {
    screen.state.pointed = index;
    screen.tellPointed();
  }

  // The revision and the series nearest to a place on the chart.
  function at({ x, y }) {
    const { state: { chart }, scene } = screen;
    const revision = nearest(chart, scene.x.back(x));
    const lane = scene.lanes.find((one) => y <= one.y.start) ?? scene.lanes.at(-1);
    return { at: revision, id: nearestSeries(lane, revision, y) ?? chart.series[0].id };
  }

  // A revision further along, from where the crosshair is, else B, else the newest.
  function step(by) {
    const { chart: { order, places }, pointed, b } = screen.state;
    const from = pointed ?? b?.at;
    const here = order.indexOf(from ?? order.at(-1));
    const next = from === undefined ? here : Math.min(Math.max(here + by, 0), order.length - 1);
    screen.state.pointed = order[next];
    sight.reach(places[order[next]]);
    screen.tellPointed();
  }

  return { at, step, pointAt, point: (place) => pointAt(place && at(place).at) };
}

function nearestSeries(lane, revision, y) {
  let best = null;
  for (const one of lane.series.filter((each) => !each.isCost)) {
    const index = one.at.get(revision);
    const away = index === undefined ? Infinity : Math.abs(lane.y.clamped(one.ys[index]) - y);
    if (!best || away < best.away) best = { id: one.id, away };
  }
  return best?.id;
}
