// What every page has: its keys, the theme button, forms that are sent once, suggestions below the
// search box, menus that close again, pickers that apply at once.

import { startKeys } from "./keys.js";
import "./typed.js";

const root = document.documentElement;
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;
}

function labelToggle(button) {
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", `Use the ${isDark() ? "light" : "dark"} theme`);
}

function toggleTheme(button) {
  root.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // Not stored: it holds for this page.
  }
  labelToggle(button);
  root.dispatchEvent(new CustomEvent("themechange"));
}

function startTheme() {
  const button = document.querySelector("[data-theme-toggle]");
  if (!button) return;
  button.hidden = false;
  labelToggle(button);
  button.addEventListener("click", () => toggleTheme(button));
  systemDark.addEventListener("change", () => {
    labelToggle(button);
    root.dispatchEvent(new CustomEvent("themechange"));
  });
}

function startSearch() {
  const box = document.querySelector("#search");
  const suggestions = document.querySelector("#suggestions");
  if (!box) return; // a stranger before a closed instance has nothing to search
  document.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") moveInSuggestions(event, box);
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) suggestions.replaceChildren();
  });
}

function moveInSuggestions(event, box) {
  if (!event.target.closest?.(".search")) return;
  const stops = [box, ...document.querySelectorAll("#suggestions a")];
  const step = event.key === "ArrowDown" ? 1 : -1;
  const next = stops[stops.indexOf(document.activeElement) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
}

function startMenus() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
}

// A double click, or a key held down, sends a form once: the second answer would be that things
// changed since, in place of what was done. A second later it is meant.
const AGAIN_MS = 1000;

function startForms() {
  const sent = new WeakMap();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || event.defaultPrevented) return;
    if (event.timeStamp - (sent.get(form) ?? -AGAIN_MS) < AGAIN_MS) event.preventDefault();
    else sent.set(form, event.timeStamp);
  });
}

// What scrolls sideways is reached with the keyboard even where nothing in it can be focused.
const SCROLLS = ".scroll, pre, .panel.steps";

function startScrolling() {
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  const watchAll = () => document.querySelectorAll(SCROLLS).forEach((box) => watch.observe(box));
  watchAll();
  document.addEventListener("htmx:afterSwap", watchAll);
}

// A form with data-applies is sent when a picker in it changes; its button is for those without
// scripts.
function startPickers() {
  for (const button of document.querySelectorAll("[data-without-script]")) button.hidden = true;
  document.addEventListener("change", (event) => {
    event.target.closest?.("form[data-applies]")?.requestSubmit();
  });
}

// The chart library, so that the first look at a trend finds it in the cache; for nobody who saves data.
function fetchAhead() {
  const { content } = document.querySelector('meta[name="ahead"]') ?? {};
  if (!content || navigator.connection?.saveData || document.querySelector("[data-plotly]")) return;
  const link = document.createElement("link");
  Object.assign(link, { rel: "prefetch", as: "script", href: content });
  (window.requestIdleCallback ?? setTimeout)(() => document.head.append(link));
}

// The address of a view as it is now: parts of a page push theirs without loading it anew.
function startViews() {
  document.querySelector(".save-view")?.addEventListener("submit", (event) => {
    event.target.elements.address.value = location.pathname + location.search;
  });
}

startKeys();
startTheme();
startPickers();
startForms();
startSearch();
startMenus();
startViews();
startScrolling();
window.addEventListener("load", fetchAhead);
