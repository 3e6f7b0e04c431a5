// What hands do on the chart, told in pixels: mouse, touch and pen. A mouse drags a box to zoom, with
// Shift a range; one finger moves the window, two zoom; the wheel zooms, sideways it moves.

const CLICK_WITHIN = 5; // pixels
const DOUBLE_WITHIN = 350; // milliseconds between two taps of a finger
const DOUBLE_NEAR = 15; // pixels
const WHEEL_STEP = 0.0016; // of a pixel of the wheel

// The second press of a double click does not choose: what the first one chose is taken back.
// does: {point, leave, click, zoom, pan, box, range, drag, reset}; each returns whether it did.
export function listen(plot, does) {
  const down = new Map(); // pointer id → where it is
  let start = null; // where a drag began
  let lastTap = { time: -Infinity, x: 0 };
  let presses = 1; // of a mouse in a row, as the system counts them
  const place = (event) => {
    const box = plot.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("a")) return;
    const at = place(event);
    down.set(event.pointerId, at);
    plot.setPointerCapture(event.pointerId);
    start = down.size === 1 ? { ...at, isRange: event.shiftKey, isTouch: event.pointerType === "touch" } : null;
    if (event.shiftKey) event.preventDefault();
  });

  plot.addEventListener("mousedown", (event) => {
    presses = event.detail;
  });

  plot.addEventListener("pointermove", (event) => {
    const at = place(event);
    const before = down.get(event.pointerId);
    if (!before) {
      does.point(at);
      return;
    }
    if (down.size === 2) pinch(event.pointerId, at);
    else if (start?.isTouch) {
      if (Math.abs(at.x - start.x) > CLICK_WITHIN) start.isMoving = true;
      if (start.isMoving) does.pan(before.x - at.x);
    } else if (start && Math.abs(at.x - start.x) > CLICK_WITHIN) does.drag([start.x, at.x], start.isRange);
    down.set(event.pointerId, at);
  });

  function pinch(id, at) {
    const [other] = [...down].filter(([each]) => each !== id).map(([, where]) => where);
    const before = down.get(id);
    const spread = Math.abs(at.x - other.x);
    const former = Math.abs(before.x - other.x);
    if (spread > 1 && former > 1) does.zoom(former / spread, (at.x + other.x) / 2);
  }

  plot.addEventListener("pointerup", (event) => {
    const at = place(event);
    const began = start;
    const wasDown = down.delete(event.pointerId);
    start = null;
    does.drag(null);
    if (!wasDown || !began || began.isMoving) return;
    const isClick = Math.abs(at.x - began.x) <= CLICK_WITHIN;
    if (isClick) tap(at, event);
    else if (began.isRange) does.range([began.x, at.x]);
    else if (!began.isTouch) does.box([began.x, at.x]);
  });

  function tap(at, event) {
    const isSecondTap =
      Math.abs(at.x - lastTap.x) < DOUBLE_NEAR && event.timeStamp - lastTap.time < DOUBLE_WITHIN;
    const isDouble = event.pointerType === "touch" ? isSecondTap : presses > 1;
    lastTap = { time: isDouble ? -Infinity : event.timeStamp, x: at.x };
    if (isDouble && !event.shiftKey) does.reset();
    else does.click(at, event.shiftKey);
  }

  plot.addEventListener("pointercancel", (event) => {
    down.delete(event.pointerId);
    start = null;
    does.drag(null);
  });
  plot.addEventListener("pointerleave", () => down.size || does.leave());
  plot.addEventListener("wheel", onWheel, { passive: false });

  // What changes nothing scrolls the page: all of the history can be wheeled past.
  function onWheel(event) {
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const amount = isSideways ? event.deltaX || event.deltaY : event.deltaY;
    const done = isSideways ? does.pan(amount) : does.zoom(Math.exp(amount * WHEEL_STEP), place(event).x);
    if (done) event.preventDefault();
  }
}
