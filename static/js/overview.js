// The front page: j and k move along the open losses, and pointing at a tile marks the same revision
// in every tile of its tree. Enter opens what has the focus, as links do; the / is base.js's.

const SVG = "http://www.w3.org/2000/svg";

function isTyping(target) {
  return target instanceof Element && target.closest("input, select, textarea, [contenteditable]");
}

function move(step) {
  const items = [...document.querySelectorAll("[data-item]")];
  const at = items.indexOf(document.activeElement);
  items[Math.min(Math.max(at + step, 0), items.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "j") move(1);
  if (event.key === "k") move(-1);
});

function unmark() {
  for (const line of document.querySelectorAll(".wall .cross")) line.remove();
}

function mark(event) {
  unmark();
  const chart = event.target.closest?.(".tile")?.querySelector("svg");
  if (!chart) return;
  const box = chart.getBoundingClientRect();
  const share = (event.clientX - box.left) / box.width;
  if (share < 0 || share > 1) return;
  for (const one of chart.closest(".wall-tree").querySelectorAll(".tile > svg")) {
    const line = document.createElementNS(SVG, "path");
    const { width, height } = one.viewBox.baseVal;
    line.setAttribute("d", `M${share * width} 0V${height}`);
    line.setAttribute("class", "cross");
    one.append(line);
  }
}

const wall = document.querySelector(".wall");
wall?.addEventListener("pointermove", mark);
wall?.addEventListener("pointerleave", unmark);
