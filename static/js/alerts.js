// Triage, in the inbox and on the page of one alert; the keys are those of keys.js.
//
// In the inbox one alert is chosen: its evidence stands beside the rows, and acts by key are about
// it unless some are selected. j and k choose another; its evidence is fetched when they rest.
//
// An act of the inbox swaps its list (htmx). The row after those that were acted on is then chosen,
// never one of them: a key pressed next is not to act on the same alert again. While an act is on
// its way, no other begins.

import { handle } from "./keys.js";

const REST_MS = 120; // how long a row is chosen before its evidence is fetched
const UNDO_MS = 10_000; // how long what was done stands on the page

const inbox = () => document.querySelector("#inbox");
const rows = () => [...document.querySelectorAll("[data-alert]")];
let isActing = false;
let following = null; // the alert that gets the focus after the swap; "" for the end of the list
let checked = null; // the box that a key selected for its act
let resting = 0; // the timer of the evidence
let fading = 0; // the timer of the toast

// The index of the chosen row, past the last one at the end.
function present() {
  const found = rows().findIndex((row) => row.hasAttribute("aria-current"));
  return found < 0 ? rows().length : found;
}

function choose(row) {
  for (const other of rows()) {
    other.classList.toggle("on", other === row);
    if (other === row) other.setAttribute("aria-current", "true");
    else other.removeAttribute("aria-current");
  }
  clearTimeout(resting);
  if (row) resting = setTimeout(() => showEvidence(row.dataset.alert), REST_MS);
}

async function showEvidence(alert) {
  const panel = document.querySelector("#chosen");
  if (!panel?.checkVisibility() || panel.querySelector("[data-chosen]")?.dataset.chosen === alert) return;
  const here = new URL(document.querySelector("#triage").action);
  const query = new URLSearchParams({ here: here.search });
  const address = rowOf(alert).querySelector("a").pathname;
  const answer = await fetch(`${address}evidence/?${query}`).catch(() => null);
  if (!answer?.ok || rows()[present()]?.dataset.alert !== alert) return;
  panel.innerHTML = await answer.text();
  window.htmx?.process(panel);
}

function rowOf(alert) {
  return rows().find((row) => row.dataset.alert === alert);
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

function select() {
  boxOf(rows()[present()])?.click();
}

function open(event) {
  if (event.key === "Enter" && event.target.closest("a, button, summary, input")) return;
  rows()[present()]?.querySelector("a").click();
}

function act(key) {
  const button = document.querySelector(`#triage [data-key="${key}"], #act [data-key="${key}"]`);
  if (!button || isActing) return;
  const box = boxOf(rows()[present()]);
  if (inbox() && box && !selected().length) {
    box.checked = true;
    checked = box;
  }
  if (!inbox() || selected().length) button.click(); // a click tells htmx which button it was
}

function selected() {
  return rows().filter((row) => boxOf(row)?.checked);
}

// The row after the last of those that are acted on; "" where there is none.
function rowAfter(acted) {
  const later = rows().slice(rows().indexOf(acted.at(-1)) + 1);
  return later.find((row) => !acted.includes(row))?.dataset.alert ?? "";
}

function focusOn(alert) {
  const row = rowOf(alert);
  if (!row) choose(null);
  (row ?? document.querySelector("#inbox-end"))?.focus();
}

function undo() {
  const button = document.querySelector("[data-undo], #act [value=undo]");
  if (button && !isActing) button.click();
}

handle("j", () => move(1));
handle("k", () => move(-1));
handle("x", select);
handle("o", open);
handle("Enter", open);
handle("u", undo);
for (const key of ["a", "e", "n", "z"]) handle(key, () => act(key));

document.addEventListener("focusin", (event) => {
  const row = event.target.closest?.("[data-alert]");
  if (row && inbox()) choose(row);
});

// A click beside the link of a row chooses it; where no evidence can stand beside, it opens.
document.addEventListener("click", (event) => {
  const row = event.target.closest?.("[data-alert]");
  if (!row || event.target.closest("a, input")) return;
  if (document.querySelector("#chosen")?.checkVisibility()) row.focus();
  else row.querySelector("a").click();
});

// In the capturing phase, so that it comes before htmx takes the form.
document.addEventListener(
  "submit",
  (event) => {
    if (event.target.id === "triage") following = rowAfter(selected());
    if (event.target.matches(".chosen-acts")) following = rowAfter([rows()[present()]]);
    if (event.target.matches("form.undo")) following = event.target.dataset.first;
  },
  true,
);

document.addEventListener("submit", (event) => {
  if (!inbox() && event.target.method === "post" && !event.defaultPrevented) isActing = true;
});

const isAct = (event) => event.detail.requestConfig.elt.matches("#triage, .chosen-acts, form.undo");

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
  fade();
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
  if (checked) checked.checked = false; // what was selected by hand stays so
  checked = null;
  const said = document.createElement("p");
  said.textContent = `Not done: ${why}`;
  document.querySelector("#toast").replaceChildren(said);
  fade();
}

// What was done goes out of the way after ten seconds; u undoes it all the same.
function fade() {
  const toast = document.querySelector("#toast");
  toast.classList.remove("faded");
  clearTimeout(fading);
  fading = setTimeout(() => toast.classList.add("faded"), UNDO_MS);
}

// What is folded is fetched when it is opened: a part of this page, or a fragment of its own.
document.addEventListener(
  "toggle",
  (event) => {
    const link = event.target.querySelector?.(":scope > .pad > :is([data-opens], [data-fetches])");
    if (event.target.open && link) load(link);
  },
  true,
);

async function load(link) {
  const answer = await fetch(link.href).catch(() => null);
  if (!answer?.ok) return; // the link is still there
  const text = await answer.text();
  const part = link.dataset.opens;
  const room = link.closest(".pad");
  if (part) {
    const page = new DOMParser().parseFromString(text, "text/html");
    room.replaceChildren(...page.querySelector(`#${part} > .pad`).childNodes);
  } else room.innerHTML = text;
}

// Where the page was loaded anew after an act, the focus goes on as well.
const acted = rows().filter((row) => row.classList.contains("acted"));
if (acted.length) focusOn(rowAfter(acted));
if (document.querySelector("#toast")?.childElementCount) fade();

// Back from another page, as it was left.
addEventListener("pageshow", () => {
  isActing = false;
});
