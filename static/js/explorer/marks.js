// How each kind of finding is drawn: the table of marks, as in webapp/charts/trend/marks.py.

import { drawn, percent } from "./text.js";

const TRIANGLE = 5.5;
const TEXT_ROOM = 70; // pixels
const RING = 7;
const [CALM, WILD] = [4, 11]; // half the bars of the smaller and the larger noise
const BAR_APART = 5;
const [MODE_APART, MODE] = [6, 3];
const ABOVE = -12; // so far a text stands above a line that would strike it through
const SPACE = "\u202f";

// A change of level: riser, triangle and percent; dashes where the old level would be.
function riser({ x, y, isCrowded }, found, { edge: at, until }) {
  const [start, end] = [y.clamped(found.from), y.clamped(found.to)];
  const proven = found.proven ? "" : " candidate";
  const parts = [
    drawn("path", { d: `M${at.toFixed(1)} ${start.toFixed(1)}V${end.toFixed(1)}`, class: `riser ${found.verdict}${proven}` }),
    titled(found, triangle(at, start, end), `tri ${found.verdict}${proven}`),
  ];
  if (isCrowded || !found.proven) return parts;
  const dashes = drawn("path", { d: `M${at.toFixed(1)} ${start.toFixed(1)}H${until.toFixed(1)}`, class: "was" });
  return [dashes, ...parts, ...size({ x, isCrowded }, found, at, (start + end) / 2)];
}

// One revision far off: a diamond around it, and a stem to the level it left.
function excursion(frame, found, { point: at }) {
  const [level, here] = [frame.y.clamped(found.from), frame.y.clamped(found.to)];
  const ring = `M${at.toFixed(1)} ${(here - RING).toFixed(1)}l${RING} ${RING}l-${RING} ${RING}l-${RING}-${RING}z`;
  return [
    drawn("path", { d: `M${at.toFixed(1)} ${level.toFixed(1)}V${here.toFixed(1)}`, class: "stem" }),
    titled(found, ring, `finding-mark excursion ${found.verdict}`),
    ...size(frame, found, at, here),
  ];
}

// A loss or gain by and by: a slope from where it begins, with a triangle at its end.
function slow(frame, found, { since, point }) {
  const [start, end] = [frame.y.clamped(found.from), frame.y.clamped(found.to)];
  const slope = `M${since.toFixed(1)} ${start.toFixed(1)}L${point.toFixed(1)} ${end.toFixed(1)}`;
  return [
    drawn("path", { d: slope, class: `finding-mark slope ${found.verdict}` }),
    titled(found, triangle(point, start, end), `tri ${found.verdict}`),
    ...size(frame, found, (since + point) / 2, (start + end) / 2 + ABOVE),
  ];
}

// Another scatter: a bar for the noise before and one for that after, short and long.
function noise(frame, found, { edge: at }) {
  const level = frame.y.clamped(found.to);
  const grows = (found.ratio ?? 2) > 1;
  const halves = [[-BAR_APART, grows ? CALM : WILD], [BAR_APART, grows ? WILD : CALM]];
  const bars = halves.map(([aside, half]) =>
    `M${(at + aside).toFixed(1)} ${(level - half).toFixed(1)}v${2 * half}m-3 0h6m-6-${2 * half}h6`);
  return [
    titled(found, bars.join(""), `finding-mark noise-bars ${found.verdict}`),
    ...size(frame, found, at + BAR_APART, level - WILD - 4),
  ];
}

// Other shares of two modes: a disc for each, full where more runs are now.
function modes(frame, found, { edge: at }) {
  const level = frame.y.clamped(found.to);
  const sinks = !found.shares || found.shares[1] > found.shares[0];
  const [full, other] = (sinks ? [1, -1] : [-1, 1]).map((way) => disc(at, level + way * MODE_APART));
  return [
    titled(found, full, `finding-mark mode-disc full ${found.verdict}`),
    drawn("path", { d: other, class: `finding-mark mode-disc ${found.verdict}` }),
    ...size(frame, found, at + MODE, level - MODE_APART + ABOVE),
  ];
}

// On its tip at the end, pointing away from the start.
function triangle(at, start, end) {
  const tip = end > start ? -1.5 * TRIANGLE : 1.5 * TRIANGLE;
  return `M${(at - TRIANGLE).toFixed(1)} ${(end + tip).toFixed(1)}h${2 * TRIANGLE}L${at.toFixed(1)} ${end.toFixed(1)}z`;
}

function disc(across, down) {
  const arc = `a${MODE} ${MODE} 0 1 0`;
  return `M${(across - MODE).toFixed(1)} ${down.toFixed(1)}${arc} ${2 * MODE} 0${arc}-${2 * MODE} 0z`;
}

function titled(found, d, css) {
  const title = drawn("title", {}, `${sizeText(found)}, ${found.state}: ${found.why}`);
  return drawn("path", { d, class: css }, title);
}

// How large it is in its own terms: percent, a ratio of noise, shares of the lower mode.
export function sizeText(found) {
  if (found.ratio) return `noise${SPACE}×${SPACE}${found.ratio.toFixed(1)}`;
  if (found.shares) return `lower mode ${found.shares.map((share) => share.toFixed(0)).join(" → ")}${SPACE}%`;
  return `${percent(found.percent ?? NaN)}${SPACE}%`;
}

function size({ x, isCrowded }, found, at, middle) {
  const text = sizeText(found);
  if (isCrowded || text.startsWith("–")) return [];
  const isLeft = at > x.end - TEXT_ROOM;
  const attributes = {
    x: isLeft ? at - 8 : at + 8,
    y: middle + 4,
    class: `strong halo ${found.verdict}${isLeft ? " end" : ""}`,
  };
  return [drawn("text", attributes, text)];
}

// By the kind of the finding; a kind of its own is a function above and an entry here.
export const MARKS = { level: riser, excursion, slow, noise, modes };
