// The list of the series is the legend: a press hides one, two show it alone, pointing fades the others.

const rows = () => [...document.querySelectorAll("#series > [data-series]")];
const idOf = (row) => row.dataset.series;

export function showHidden(hidden) {
  for (const row of rows()) row.querySelector("button").ariaPressed = String(!hidden.includes(idOf(row)));
}

// Fades all series but the one pointed at, else in focus; also of a chart that was drawn under the pointer.
export function highlight() {
  const row = (state) => document.querySelector(`#series > [data-series]:${state}`);
  const pointed = row("hover") ?? row("focus-within");
  for (const one of document.querySelectorAll("#plot .scatterlayer .trace")) {
    const own = /trace(\d+)s\d+/.exec(one.getAttribute("class"))?.[1];
    one.classList.toggle("faded", Boolean(pointed && own && own !== idOf(pointed)));
  }
  for (const one of rows()) one.classList.toggle("pointed", one === pointed);
}

// `hidden` gives the ids that are hidden, `hide` takes them.
export function listenList(hidden, hide) {
  const list = document.querySelector("#series");
  const idAt = (event) => event.target.closest("[data-series]")?.dataset.series ?? null;
  list.addEventListener("click", (event) => {
    const id = idAt(event);
    if (id) hide(event.detail > 1 ? isolated(hidden(), id) : toggled(hidden(), id));
  });
  for (const name of ["pointerover", "pointerleave", "focusin", "focusout"]) list.addEventListener(name, highlight);
}

function toggled(hidden, id) {
  return hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id];
}

// All but one hidden; all shown where that is so already (the first press of the two hid or showed it).
function isolated(hidden, id) {
  const others = rows().map(idOf).filter((one) => one !== id);
  return others.every((one) => hidden.includes(one)) ? [] : others;
}
