// The list of the series is the legend: values at the revision pointed at, order, highlight, hiding.

import { number } from "./text.js";

const rows = () => [...document.querySelectorAll("#series > [data-series]")];

// The values of the revision pointed at, else of B, else the newest.
export function tellValues(state) {
  const { chart } = state;
  const at = state.pointed ?? state.b?.at ?? null;
  document.querySelector("#at").textContent = at === null ? "newest" : `at ${chart.revisions.name[at]}`;
  for (const row of rows()) {
    const one = chart.series.find(({ id }) => id === Number(row.dataset.series));
    if (!one) continue;
    const index = at === null ? one.value.length - 1 : one.at.get(at);
    row.querySelector(".v").textContent = index === undefined ? "–" : number(one.value[index]);
  }
}

const leading = (text) => Number.parseFloat(text) || Infinity;

const ORDERS = {
  name: (one, other) => one.name.localeCompare(other.name),
  value: (one, other) => (other.value.at(-1) ?? -Infinity) - (one.value.at(-1) ?? -Infinity),
  level: (one, other) => levelOf(other) - levelOf(one),
  change: (one, other) => changeOf(one) - changeOf(other),
  detects: (one, other) => leading(one.detects) - leading(other.detects),
};

function levelOf(series) {
  return series.levels.at(-1)?.[3] ?? -Infinity;
}

// The last proven change; what has none comes last.
function changeOf(series) {
  return series.found.findLast((one) => one.proven)?.percent ?? Infinity;
}

export function sortRows({ chart, sort }) {
  const order = ORDERS[sort] ? [...chart.series].sort(ORDERS[sort]) : chart.series;
  const places = new Map(order.map((one, place) => [one.id, place]));
  const sorted = rows().sort((one, other) => places.get(Number(one.dataset.series)) - places.get(Number(other.dataset.series)));
  document.querySelector("#series").append(...sorted);
}

export function showHidden({ hidden }) {
  for (const row of rows()) {
    row.querySelector("button").setAttribute("aria-pressed", String(!hidden.has(Number(row.dataset.series))));
  }
}

// Fades all but one series; null: none.
export function highlight(id) {
  for (const one of document.querySelectorAll("#plot .series")) {
    one.classList.toggle("faded", id !== null && Number(one.dataset.id) !== id);
  }
  for (const row of rows()) row.classList.toggle("pointed", Number(row.dataset.series) === id);
}

export function listenList(does) {
  const list = document.querySelector("#series");
  const idOf = (event) => {
    const row = event.target.closest("[data-series]");
    return row ? Number(row.dataset.series) : null;
  };
  list.addEventListener("click", (event) => idOf(event) !== null && does.toggle(idOf(event)));
  list.addEventListener("pointerover", (event) => highlight(idOf(event)));
  list.addEventListener("pointerleave", () => highlight(null));
  list.addEventListener("focusin", (event) => highlight(idOf(event)));
  list.addEventListener("focusout", () => highlight(null));
  const box = document.querySelector("#sort");
  box.hidden = false;
  box.addEventListener("change", () => does.sort(box.value));
}
