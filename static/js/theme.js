// Sets the chosen theme before the first paint. A classic script: modules run too late for that.
"use strict";

(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // Storage may be forbidden: the system's preference then decides.
  }
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
})();
