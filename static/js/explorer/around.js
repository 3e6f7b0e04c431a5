// What stands beside the points: events, releases and alerts, each with its mark; linked.

import { placeAt } from "./data.js";
import { drawn } from "./text.js";

const ROW = 13;
const ROWS = 3;
const DIAMOND = 4.5;
const [NOTE, FOLD] = [10, 3]; // a sheet with a folded corner
const SQUARE = 16;
const CHARACTER = 6.2; // pixels of a letter of 11 px

export function markerLines({ chart, x }, top, base) {
  const parts = [];
  for (const one of chart.markers) {
    const at = across(chart, x, one.at);
    if (at === null) continue;
    parts.push(drawn("path", { d: `M${at} ${top}V${base}`, class: `marker-line ${one.kind}` }));
    if (one.kind === "release") continue;
    const d = one.kind === "note" ? sheet(at, base) : diamond(at, base);
    parts.push(drawn("path", { d, class: `diamond ${one.kind}` }));
  }
  return parts;
}

function diamond(at, base) {
  return `M${at} ${base - DIAMOND}l${DIAMOND} ${DIAMOND}-${DIAMOND} ${DIAMOND}-${DIAMOND}-${DIAMOND}z`;
}

function sheet(at, base) {
  const side = NOTE - FOLD;
  return `M${at - NOTE / 2} ${base - NOTE / 2}h${side}l${FOLD} ${FOLD}v${side}h-${NOTE}z`;
}

export function markerTexts({ chart, x, isNarrow }, top) {
  const taken = [];
  const parts = [];
  for (const one of [...chart.markers].sort((a, b) => a.at - b.at)) {
    const at = across(chart, x, one.at);
    if (at === null) continue;
    const text = isNarrow ? one.short : one.text;
    const width = CHARACTER * text.length + 8;
    const isLeft = at + width > x.end;
    const [from, to] = isLeft ? [at - width, at] : [at, at + width];
    const row = free(taken, from, to);
    if (row === null) continue;
    const attributes = {
      x: isLeft ? at - 4 : at + 4,
      y: Math.max(top - ROW * (row + 1) + 6, ROW - 3),
      class: `marker ${one.kind}${isLeft ? " end" : ""}`,
    };
    parts.push(linked(one.href, one.title, drawn("text", attributes, text)));
  }
  return parts;
}

export function alertMarks({ chart, x }, base) {
  const taken = [];
  const parts = [];
  for (const one of [...chart.alerts].sort((a, b) => b.open - a.open || a.at - b.at)) {
    const at = across(chart, x, one.at);
    if (at === null) continue;
    const width = 6.5 * String(one.number).length + 9;
    const row = free(taken, at - width / 2, at + width / 2);
    if (row === null) continue;
    const top = base - 6 - (SQUARE + 2) * (row + 1);
    const box = drawn("rect", { x: at - width / 2, y: top, width, height: SQUARE, rx: 3 });
    const text = drawn("text", { x: at, y: top + SQUARE - 4.5, class: "middle" }, String(one.number));
    const mark = linked(one.href, `Alert ${one.number} ${one.state}`, box, text);
    mark.setAttribute("class", one.open ? "alert-mark" : "alert-mark closed");
    parts.push(mark);
  }
  return parts;
}

function free(taken, from, to) {
  for (let row = 0; row < ROWS; row += 1) {
    if (taken.every((one) => one.row !== row || one.to < from || one.from > to)) {
      taken.push({ row, from, to });
      return row;
    }
  }
  return null;
}

function across(chart, x, at) {
  const place = placeAt(chart, at);
  return place === null || place < x.low || place > x.high ? null : x(place);
}

function linked(href, title, ...children) {
  return drawn("a", { href }, drawn("title", {}, title), ...children);
}
