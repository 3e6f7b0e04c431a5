// How each kind of finding is drawn: the table of marks, as in webapp/charts/trend/marks.py.

import { drawn, percent } from "./text.js";

const TRIANGLE = 5.5;
const TEXT_ROOM = 70; // pixels

// A change of level: riser, triangle and percent; dashes where the old level would be.
function riser({ x, y, isCrowded }, found, at, until) {
  const [start, end] = [y.clamped(found.from), y.clamped(found.to)];
  const proven = found.proven ? "" : " candidate";
  const tip = end > start ? -1.5 * TRIANGLE : 1.5 * TRIANGLE;
  const triangle = `M${(at - TRIANGLE).toFixed(1)} ${(end + tip).toFixed(1)}h${2 * TRIANGLE}L${at.toFixed(1)} ${end.toFixed(1)}z`;
  const title = drawn("title", {}, `${percent(found.percent)} %, ${found.state}: ${found.why}`);
  const parts = [
    drawn("path", { d: `M${at.toFixed(1)} ${start.toFixed(1)}V${end.toFixed(1)}`, class: `riser ${found.verdict}${proven}` }),
    drawn("path", { d: triangle, class: `tri ${found.verdict}${proven}` }, title),
  ];
  if (isCrowded || !found.proven) return parts;
  const dashes = drawn("path", { d: `M${at.toFixed(1)} ${start.toFixed(1)}H${until.toFixed(1)}`, class: "was" });
  return [dashes, ...parts, ...size(x, found, at, (start + end) / 2)];
}

function size(x, found, at, middle) {
  if (found.percent === null) return [];
  const isLeft = at > x.end - TEXT_ROOM;
  const attributes = {
    x: isLeft ? at - 8 : at + 8,
    y: middle + 4,
    class: `strong halo ${found.verdict}${isLeft ? " end" : ""}`,
  };
  return [drawn("text", attributes, `${percent(found.percent)}\u202f%`)];
}

// By the kind of the finding; a kind of its own is a function above and an entry here.
export const MARKS = { level: riser };
