// The list of the series is the legend: a press hides one, two show it alone; order, highlight.

const rows = () => [...document.querySelectorAll("#series > [data-series]")];
const idOf = (row) => Number(row.dataset.series);

// By what the server wrote for each order into the rows; what has no figure comes last.
export function sortRows(order) {
  const figure = (row) => Number.parseFloat(row.dataset[order || "order"]) * (order === "value" || order === "level" ? -1 : 1);
  const byFigure = (one, other) => (figure(one) || Infinity) - (figure(other) || Infinity) || 0;
  const byName = (one, other) => one.dataset.name.localeCompare(other.dataset.name);
  document.querySelector("#series").append(...rows().sort(order === "name" ? byName : byFigure));
}

export function showHidden(hidden) {
  for (const row of rows()) row.querySelector("button").setAttribute("aria-pressed", String(!hidden.has(idOf(row))));
}

// Fades all but one series; null: none.
function highlight(id) {
  for (const one of document.querySelectorAll("#plot .scatterlayer .trace")) {
    const own = /trace(\d+)s\d+/.exec(one.getAttribute("class"))?.[1];
    one.classList.toggle("faded", id !== null && own !== undefined && Number(own) !== id);
  }
  for (const row of rows()) row.classList.toggle("pointed", idOf(row) === id);
}

// does: {hide(ids), sort(order)}
export function listenList(hidden, does) {
  const list = document.querySelector("#series");
  const rowOf = (event) => event.target.closest("[data-series]");
  const hover = (event) => highlight(rowOf(event) ? idOf(rowOf(event)) : null);
  list.addEventListener("click", (event) => {
    if (!rowOf(event)) return;
    const id = idOf(rowOf(event));
    does.hide(event.detail > 1 ? isolated(hidden(), id) : toggled(hidden(), id));
  });
  list.addEventListener("pointerover", hover);
  list.addEventListener("focusin", hover);
  list.addEventListener("pointerleave", () => highlight(null));
  list.addEventListener("focusout", () => highlight(null));
  const box = document.querySelector("#sort");
  box.hidden = false;
  box.addEventListener("change", () => does.sort(box.value));
}

function toggled(hidden, id) {
  const next = new Set(hidden);
  if (!next.delete(id)) next.add(id);
  return next;
}

// All but one hidden; all shown where that is so already (the first press of the two hid or showed it).
function isolated(hidden, id) {
  const others = rows().map(idOf).filter((one) => one !== id);
  return others.every((one) => hidden.has(one)) ? new Set() : new Set(others);
}
