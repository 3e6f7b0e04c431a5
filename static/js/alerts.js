// Triage by keyboard, in the inbox and on the page of one alert. In the inbox j and k move, x
// chooses, a, e and n act on the chosen alerts or on the one that has the focus, o opens it. On an
// alert's page a, e and n act on it, j and k go to the next and the previous one. u undoes what was
// done last. The / of the search belongs to base.js.
//
// An act of the inbox swaps its list (htmx). The focus then goes to the row after those that were
// acted on, never to one of them: a key pressed next is not to act on the same alert again. While an
// act is on its way, no other begins.

const inbox = () => document.querySelector("#inbox");
const rows = () => [...document.querySelectorAll("tr[data-alert]")];
let isActing = false;
let following = null; // the alert that gets the focus after the swap; "" for the end of the list

function isTyping(target) {
  const fields = "input:not([type=checkbox]), select, textarea, [contenteditable]";
  return target instanceof Element && target.closest(fields);
}

// Where the focus is: the index of a row, past the last one at the end, before the first elsewhere.
function present() {
  const found = rows().findIndex((row) => row.contains(document.activeElement));
  return found < 0 && document.activeElement?.id === "inbox-end" ? rows().length : found;
}

function move(step) {
  if (!inbox()) return follow(step > 0 ? "next" : "prev");
  if (present() === rows().length && step > 0) return; // at the end: no way back to what was done
  const next = Math.min(Math.max(present() + step, 0), rows().length - 1);
  rows()[next]?.focus();
}

function follow(relation) {
  document.querySelector(`main a[rel=${relation}]`)?.click();
}

function boxOf(row) {
  return row?.querySelector("input[type=checkbox]");
}

function choose() {
  const box = boxOf(rows()[present()]);
  if (box) box.checked = !box.checked;
}

function open() {
  rows()[present()]?.querySelector("th a").click();
}

// Enter in a row that has the focus itself; on a link or a box inside it, it is theirs.
function openRow(event) {
  if (rows().includes(event.target)) open();
}

function act(key) {
  const button = document.querySelector(`main button[data-key="${key}"]`);
  if (!button || isActing) return;
  const box = boxOf(rows()[present()]);
  if (inbox() && box && !chosen().length) box.checked = true;
  if (!inbox() || chosen().length) button.click(); // a click tells htmx which button it was
}

function chosen() {
  return rows().filter((row) => boxOf(row)?.checked);
}

// The row after the last of those that are acted on; "" where there is none.
function rowAfter(acted) {
  const later = rows().slice(rows().indexOf(acted.at(-1)) + 1);
  return later.find((row) => !acted.includes(row))?.dataset.alert ?? "";
}

function focusOn(alert) {
  const row = rows().find((each) => each.dataset.alert === alert);
  (row ?? document.querySelector("#inbox-end"))?.focus();
}

function undo() {
  const button = document.querySelector("button[data-undo]");
  if (button && !isActing) button.click();
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
const HELD = new Set(["j", "k"]); // these may repeat while the key is held

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.defaultPrevented || isTyping(event.target)) return;
  const does = KEYS[event.key];
  if (!does) return;
  if (event.key !== "Enter") event.preventDefault();
  if (!event.repeat || HELD.has(event.key)) does(event);
});

// In the capturing phase, so that it comes before htmx takes the form.
document.addEventListener(
  "submit",
  (event) => {
    if (event.target.id === "triage") following = rowAfter(chosen());
    if (event.target.matches("form.undo")) following = event.target.dataset.first;
  },
  true,
);

document.addEventListener("submit", (event) => {
  if (!inbox() && event.target.method === "post" && !event.defaultPrevented) isActing = true;
});

const isAct = (event) => event.detail.requestConfig.elt.matches("#triage, form.undo");

document.addEventListener("htmx:beforeRequest", (event) => {
  if (isAct(event)) isActing = true;
});

// Another page in answer, such as the one to sign in: go there.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!isAct(event) || event.detail.serverResponse.includes('id="inbox"')) return;
  event.detail.shouldSwap = false;
  if (!event.detail.isError) location.assign(event.detail.xhr.responseURL);
});

document.addEventListener("htmx:afterSwap", () => {
  if (following !== null) focusOn(following);
  following = null;
});

// Only now does htmx know the forms of the new list: a key before would load the page anew. It
// settles in the same task as it swaps (base.html): who sees the new list can act on it.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "inbox") isActing = false;
});

document.addEventListener("htmx:sendError", (event) => {
  if (isAct(event)) fail("the server did not answer. Try again.");
});

document.addEventListener("htmx:responseError", (event) => {
  if (isAct(event)) fail(`the server said ${event.detail.xhr.status}. Load the page again.`);
});

function fail(why) {
  isActing = false;
  following = null;
  const said = document.createElement("p");
  said.textContent = `Not done: ${why}`;
  document.querySelector("#toast").replaceChildren(said);
}

// Where the page was loaded anew after an act, the focus goes on as well.
const acted = rows().filter((row) => row.classList.contains("acted"));
if (acted.length) focusOn(rowAfter(acted));

// Back from another page, as it was left.
addEventListener("pageshow", () => {
  isActing = false;
});
