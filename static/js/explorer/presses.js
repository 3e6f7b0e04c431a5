// Presses, pinches and the pointer over the chart. They are listened for beside Plotly, which hears
// nothing while it draws.

const [DOUBLE_WITHIN, NEAR, STILL] = [500, 15, 6]; // milliseconds; pixels between two presses, and within one

const apart = (one, other) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);

// does: {press(event), double(), over(event or null), pinch(from, to, isDone)}; `from` and `to` are where two
// fingers are across. Returns a function whose promise is kept once nothing is pressed.
export function listenPresses(box, signal, does) {
  const down = new Map(); // by pointer: the event that began its press
  let waiting = [];
  let last = null; // the press before
  let clicks = 0; // as the system counts them, whose double click may be slower
  let fingers = null;
  const options = { capture: true, passive: false, signal };
  const on = (target, name, listener) => target.addEventListener(name, listener, options);

  on(window, "pointerdown", (event) => {
    if (event.button || (!down.size && !box.contains(event.target)) || event.target.closest("a, .modebar")) return;
    down.set(event.pointerId, event);
    clicks = 0;
  });
  on(box, "mousedown", (event) => { clicks = event.detail; });
  on(window, "pointerup", (event) => {
    const [began, isAlone] = [down.get(event.pointerId), down.size === 1];
    release(event);
    if (!began || !isAlone || fingers || apart(began, event) > STILL) return;
    const isSoon = last && (clicks > 1 || began.timeStamp - last.timeStamp < DOUBLE_WITHIN);
    const isDouble = isSoon && apart(began, last) < NEAR;
    last = isDouble ? null : began;
    does[isDouble ? "double" : "press"](event);
  });
  on(window, "pointercancel", release);
  on(box, "pointermove", (event) => event.pointerType === "touch" || does.over(event.buttons ? null : event));
  on(box, "pointerleave", ({ target }) => target === box && does.over(null));
  on(window, "touchmove", (event) => {
    const { touches } = event;
    if (touches.length !== 2 || !box.contains(touches[0].target)) return;
    const now = [...touches].map(({ clientX }) => clientX);
    fingers ??= { from: now };
    fingers.to = now;
    if (does.pinch(fingers.from, now, false)) event.preventDefault();
  });
  on(window, "touchend", () => {
    if (fingers) does.pinch(fingers.from, fingers.to, true);
    fingers = null;
  });

  // Later, so that Plotly has ended its gesture.
  function release({ pointerId }) {
    down.delete(pointerId);
    setTimeout(() => {
      if (!down.size) waiting.splice(0).forEach((resolve) => resolve());
    });
  }

  return () => new Promise((resolve) => (down.size ? waiting.push(resolve) : resolve()));
}
