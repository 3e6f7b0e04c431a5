// Triage by keyboard: j and k move, x chooses, a, e and n act on the chosen or the present alert,
// o opens it, u undoes what was done last. The / of the search belongs to base.js.

const rows = [...document.querySelectorAll("tr[data-alert]")];
const form = document.querySelector("#triage");

function isTyping(target) {
  return target instanceof Element && target.closest("input:not([type=checkbox]), select, textarea");
}

function present() {
  return rows.findIndex((row) => row.contains(document.activeElement));
}

function move(step) {
  const next = Math.min(Math.max(present() + step, 0), rows.length - 1);
  rows[next]?.focus();
}

function choose() {
  const box = rows[present()]?.querySelector("input[type=checkbox]");
  if (box) box.checked = !box.checked;
}

function open() {
  rows[present()]?.querySelector("th a").click();
}

// Enter in a row that has the focus itself; on a link or a box inside it, it is theirs.
function openRow(event) {
  if (event.target === rows[present()]) open();
}

function undo() {
  document.querySelector("form.undo button")?.click();
}

function act(key) {
  const button = form?.querySelector(`button[data-key="${key}"]`);
  if (!button) return;
  const box = rows[present()]?.querySelector("input[type=checkbox]");
  if (!form.querySelector("input[type=checkbox]:checked") && box) box.checked = true;
  if (form.querySelector("input[type=checkbox]:checked")) form.requestSubmit(button);
}

function help() {
  const keys = document.querySelector(".keys");
  keys.open = !keys.open;
  if (keys.open) keys.scrollIntoView({ block: "nearest" });
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  x: choose,
  a: () => act("a"),
  e: () => act("e"),
  n: () => act("n"),
  o: open,
  u: undo,
  "?": help,
  Enter: openRow,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const does = KEYS[event.key];
  if (!does) return;
  if (event.key !== "Enter") event.preventDefault();
  does(event);
});
