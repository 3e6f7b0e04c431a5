// The page of a commit: [ and ] go to the revisions tested before and after, c compares with the one
// before. The strip of neighbours starts with the commit in its middle.

const links = { "[": "a[rel=prev]", "]": "a[rel=next]", c: ".btns .btn.main" };

function isTyping(target) {
  return target instanceof Element && target.closest("input, select, textarea, [contenteditable]");
}

document.addEventListener("keydown", (event) => {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
  const found = plain && links[event.key] && document.querySelector(`main ${links[event.key]}`);
  if (found) found.click();
});

const steps = document.querySelector(".steps");
const here = steps?.querySelector(".here");
if (here) steps.scrollLeft = here.offsetLeft - (steps.clientWidth - here.offsetWidth) / 2;
