// The page of one machine: filter its modes by typing, t opens its trends. Without it the form asks
// the server for the same.

const form = document.querySelector("#filter");
const box = document.querySelector("#q");

function wordsOf(text) {
  return text.toLowerCase().split(/\s+/u).filter(Boolean);
}

function filter() {
  const words = wordsOf(box.value);
  let found = 0;
  for (const group of document.querySelectorAll("[data-group]")) {
    let here = 0;
    for (const one of group.querySelectorAll("[data-mode]")) {
      one.hidden = !words.every((word) => one.dataset.mode.includes(word));
      here += one.hidden ? 0 : 1;
    }
    group.hidden = here === 0;
    for (const fold of group.querySelectorAll("details.fold")) fold.open = words.length > 0;
    found += here;
  }
  const output = document.querySelector("#found");
  output.textContent = words.length ? `${found} shown` : "";
  const query = words.length ? `?q=${encodeURIComponent(box.value)}` : location.pathname;
  history.replaceState(history.state, "", query);
}

function isTyping(target) {
  return target instanceof Element && target.closest("input, select, textarea, [contenteditable]");
}

function startKeys() {
  const trends = document.querySelector("main .btns a[href*='/trends/']");
  document.addEventListener("keydown", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
    if (event.key === "t" && plain) trends?.click();
  });
}

if (form && !box.defaultValue) {
  form.querySelector("button").hidden = true;
  form.addEventListener("submit", (event) => event.preventDefault());
  box.addEventListener("input", filter);
}
startKeys();
