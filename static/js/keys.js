// The keys of the whole site: one key, one meaning, on every page. This table is the only place that
// says which; `?` shows it, and tests read it.
//
// A page does more with a key in one of two ways. An element with data-key="a" is clicked (a field
// gets the focus) when that key is pressed. Or its script calls handle("a", (event) => …), which
// comes first. Rows are what has data-row, else the rows of tables that hold a link.
//
// Who has switched letters off in the account (data-single-keys="off" on the page's root) keeps Enter
// and Escape.

const KEYS = [
  { key: "j", text: "next row, next alert", group: "Rows" },
  { key: "k", text: "previous row, previous alert", group: "Rows" },
  { key: "Enter", text: "open the row", group: "Rows" },
  { key: "o", text: "open the row", group: "Rows" },
  { key: "Escape", text: "close what is open, leave the row, back to the list", group: "Rows" },
  { key: "x", text: "select the row", group: "Rows" },
  { key: "a", text: "acknowledge", group: "Alerts" },
  { key: "e", text: "resolve as expected", group: "Alerts" },
  { key: "n", text: "resolve as not real", group: "Alerts" },
  { key: "z", text: "snooze for a week", group: "Alerts" },
  { key: "u", text: "undo what was done last", group: "Alerts" },
  { key: "m", text: "write the reason", group: "Alerts" },
  { key: "b", text: "bisect", group: "Alerts" },
  { key: "[", text: "tested before", group: "Commits" },
  { key: "]", text: "tested after", group: "Commits" },
  { key: "c", text: "compare with the one tested before, or A with B", group: "Commits" },
  { key: "w", text: "swap A and B", group: "Compare" },
  { key: "r", text: "report in Markdown", group: "Compare" },
  { key: "t", text: "trends of this machine", group: "Hardware" },
  { key: "s", text: "split the chart into lanes", group: "Charts" },
  { key: "+", text: "show less of the history", group: "Charts" },
  { key: "-", text: "show more of it", group: "Charts" },
  { key: "0", text: "show all of it", group: "Charts" },
  { key: "f", text: "find a function in the flame graph", group: "Charts" },
  { key: "1", text: "the first candidate", group: "Waiting runs" },
  { key: "2", text: "the second candidate", group: "Waiting runs" },
  { key: "/", text: "find", group: "Everywhere" },
  { key: "?", text: "all keys", group: "Everywhere" },
  { key: "g o", text: "overview", group: "Go to", path: "/" },
  { key: "g a", text: "alerts", group: "Go to", path: "/alerts/" },
  { key: "g h", text: "hardware", group: "Go to", path: "/hardware/" },
  { key: "g t", text: "trends", group: "Go to", path: "/trends/" },
  { key: "g c", text: "commits", group: "Go to", path: "/commits/" },
  { key: "g d", text: "compare (differences)", group: "Go to", path: "/compare/" },
  { key: "g b", text: "bisects", group: "Go to", path: "/bisects/" },
];

const HELD = new Set(["j", "k"]); // these may repeat while the key is held
const SECOND_KEY_MS = 1500; // how long `g` waits for the letter that says where to
const known = new Map(KEYS.map((one) => [one.key, one]));
const pages = new Map(); // key → what this page does with it
let firstKeyAt = -Infinity; // when `g` was pressed

// Have this page do something of its own with a key of the table.
export function handle(key, does) {
  if (!known.has(key)) throw new Error(`the table of keys has no ${key}`);
  pages.set(key, does);
}

export function isTyping(target) {
  const fields = "input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]";
  return target instanceof Element && Boolean(target.closest(fields));
}

export function rows() {
  const marked = [...document.querySelectorAll("main [data-row]")];
  const found = marked.length ? marked : [...document.querySelectorAll("main tbody tr:has(a)")];
  return found.filter((row) => row.checkVisibility());
}

function rowAt() {
  return rows().findIndex((row) => row.contains(document.activeElement));
}

function move(step) {
  const all = rows();
  const row = all[Math.min(Math.max(rowAt() + step, 0), all.length - 1)];
  if (!row) return;
  if (!row.matches("a, button, [tabindex]")) row.tabIndex = -1;
  row.focus();
}

function openRow(event) {
  const row = rows()[rowAt()];
  if (!row || (event.key === "Enter" && event.target !== row)) return;
  (row.matches("a") ? row : row.querySelector("th a, a"))?.click();
}

function select() {
  const box = rows()[rowAt()]?.querySelector("input[type=checkbox]");
  if (box) box.click();
}

// What is open closes; then a field or a row is left; then the page, where it says to where.
function leave() {
  const open = document.querySelector("details.menu[open]");
  const suggestions = document.querySelector("#suggestions");
  if (open) {
    open.open = false;
    open.querySelector("summary").focus();
  } else if (suggestions?.firstElementChild) suggestions.replaceChildren();
  else if (isTyping(document.activeElement) || rowAt() >= 0) document.activeElement.blur();
  else document.querySelector("main a[rel=up]")?.click();
}

function find() {
  const box = document.querySelector("#search");
  box?.focus();
  box?.select();
}

// The element of this page that has the key: a field gets the focus, anything else a click.
function press(key) {
  const element = document.querySelector(`main [data-key="${key}"]:not([disabled])`);
  if (!element) return;
  for (let parent = element.closest("details"); parent; parent = parent.parentElement.closest("details")) {
    if (isTyping(element)) parent.open = true;
  }
  if (isTyping(element)) element.focus();
  else element.click();
}

function go(path) {
  const links = [...document.querySelectorAll(".bar a")];
  links.find((link) => new URL(link.href).pathname.endsWith(path) && isSame(link, path))?.click();
}

// The overview's address ends every other one.
function isSame(link, path) {
  return path !== "/" || link.matches(".brand");
}

function help() {
  document.querySelector("#all-keys")?.remove();
  const dialog = document.createElement("dialog");
  dialog.id = "all-keys";
  dialog.setAttribute("aria-label", "All keys");
  for (const group of new Set(KEYS.map((one) => one.group))) {
    const title = document.createElement("h2");
    title.textContent = group;
    const list = document.createElement("dl");
    for (const one of KEYS.filter((each) => each.group === group)) list.append(...line(one));
    const part = document.createElement("section");
    part.append(title, list);
    dialog.append(part);
  }
  const note = document.createElement("p");
  note.className = "note";
  note.textContent = "Letters can be switched off in the account. Esc closes this.";
  dialog.append(note);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

function line(one) {
  const key = document.createElement("dt");
  for (const part of one.key.split(" ")) {
    const cap = document.createElement("kbd");
    cap.textContent = part === "Escape" ? "Esc" : part;
    key.append(cap, " ");
  }
  const text = document.createElement("dd");
  text.textContent = one.text;
  return [key, text];
}

const DOES = {
  j: () => move(1),
  k: () => move(-1),
  Enter: openRow,
  o: openRow,
  Escape: leave,
  x: select,
  "/": find,
  "?": help,
};

function isOff(key) {
  return key.length === 1 && document.documentElement.dataset.singleKeys === "off";
}

// Two keys: `g` and then where to.
function goesOn(event) {
  const one = known.get(`g ${event.key}`);
  if (event.timeStamp - firstKeyAt > SECOND_KEY_MS || !one) return false;
  go(one.path);
  return true;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.defaultPrevented || isOff(event.key) || document.querySelector("dialog[open]")) return;
  if (isTyping(event.target) && event.key !== "Escape") return;
  if (goesOn(event)) {
    firstKeyAt = -Infinity;
    event.preventDefault();
    return;
  }
  firstKeyAt = event.key === "g" ? event.timeStamp : -Infinity;
  if (!known.has(event.key)) return;
  if (event.key.length === 1) event.preventDefault();
  if (event.repeat && !HELD.has(event.key)) return;
  const does = pages.get(event.key) ?? DOES[event.key] ?? (() => press(event.key));
  does(event);
}

// Once for each page: base.js does.
export function startKeys() {
  document.addEventListener("keydown", onKey);
}
