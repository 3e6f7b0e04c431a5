// The tooltip at the pointer: a revision, and what each series has there.

import { element, number } from "./text.js";

const MOST = 12; // series that it lists
const AWAY = 14; // pixels from the pointer

export function showTip(tip, chart, at, place) {
  const { revisions, series } = chart.meta;
  const shown = series.filter((one) => !chart.state.hidden.has(one.id) && chart.valueAt(one, at));
  const when = revisions.time[at] === null ? "" : ` ${new Date(revisions.time[at]).toISOString().slice(0, 10)}`;
  tip.replaceChildren(
    element("p", {}, element("strong", { class: "revision" }, revisions.name[at]), when, element("span", { class: "muted" }, ` ${revisions.author[at]}`)),
    element("p", {}, revisions.subject[at]),
    ...shown.slice(0, MOST).flatMap((one) => lines(chart, one, at)),
    ...(shown.length > MOST ? [element("p", { class: "muted" }, `and ${shown.length - MOST} more`)] : []),
  );
  tip.hidden = false;
  const room = tip.parentElement.getBoundingClientRect();
  const left = place.x + AWAY + tip.offsetWidth > room.width ? place.x - AWAY - tip.offsetWidth : place.x + AWAY;
  tip.style.left = `${Math.max(left, 0)}px`;
  tip.style.top = `${Math.max(Math.min(place.y + AWAY, room.height - tip.offsetHeight), 0)}px`;
}

function lines(chart, series, at) {
  const { value, low, high, n } = chart.valueAt(series, at);
  const within = low === null ? "" : ` (${number(low)} to ${number(high)})`;
  const name = element("span", {}, element("span", { class: `key series-${series.slot}` }), series.name);
  const figures = element("span", { class: "v" }, number(value), element("span", { class: "muted" }, `${within}, n = ${n}`));
  const found = [...series.found, ...series.marks].filter((one) => series.revision[one.at] === at);
  return [
    element("p", { class: "one" }, name, figures),
    ...found.map((one) => element("p", { class: one.verdict }, `${one.size}, ${one.state}`)),
    ...(series.apart?.[series.revision.indexOf(at)] ? [element("p", {}, "lab? its runs disagree")] : []),
  ];
}
