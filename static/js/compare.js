// The keys of a comparison: j and k from row to row (Enter opens one), x swaps the sides, m is the
// report in Markdown.

const rows = () => [...document.querySelectorAll(".compared > summary")].filter((row) => row.offsetParent);

function isTyping(target) {
  return target instanceof Element && target.closest("input, select, textarea, [contenteditable]");
}

function move(step) {
  const all = rows();
  if (!all.length) return;
  const now = all.indexOf(document.activeElement?.closest(".compared")?.firstElementChild);
  const next = now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(now + step, 0), all.length - 1);
  all[next].focus();
  all[next].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
});
