// The rows of a comparison are folds, not table rows: j and k go from one to the next, Enter opens it.

import { handle } from "./keys.js";

const rows = () => [...document.querySelectorAll(".compared > summary")].filter((row) => row.offsetParent);

function move(step) {
  const all = rows();
  if (!all.length) return;
  const now = all.indexOf(document.activeElement?.closest(".compared")?.firstElementChild);
  const next = now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(now + step, 0), all.length - 1);
  all[next].focus();
  all[next].scrollIntoView({ block: "nearest" });
}

handle("j", () => move(1));
handle("k", () => move(-1));
