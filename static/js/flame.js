// The page of a flame graph or of a difference: zooms into frames, searches them, walks them with the
// arrows. The server's drawing is what is zoomed; where frames too narrow for it come to be wide, it
// is asked for the same page at that frame. The state is in the address: root and q.

import { Graph } from "./flame/graph.js";
import { handle, isTyping } from "./keys.js";

const WIDE_REST = 0.004; // of the width: from which on a mark of narrower frames is asked for
const ARROWS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home"]);

class FlameGraph {
  constructor(box) {
    this.box = box;
    this.field = box.querySelector("input[name=q]");
    this.result = box.querySelector("output");
    this.line = box.querySelector(".flame-line");
    this.button = box.querySelector("[data-show-all]");
    this.waiting = null;
    this.field.parentElement.hidden = false;
    this.field.value = new URLSearchParams(location.search).get("q") ?? "";
    this.resized = new ResizeObserver(() => this.graph.show(this.graph.root));
    this.take(box.querySelector("svg.flame[data-all]"));
    this.listen();
  }

  // Makes a drawing of the server one that can be zoomed.
  take(svg) {
    this.resized.disconnect();
    this.graph = new Graph(svg);
    svg.classList.add("is-live");
    svg.setAttribute("role", "group");
    this.stop = null;
    this.graph.show(this.graph.whole);
    this.setStop(this.graph.whole);
    this.search();
    this.resized.observe(svg);
  }

  listen() {
    this.box.addEventListener("click", (event) => this.onClick(event));
    this.box.addEventListener("pointerover", (event) => this.describe(this.graph.at(event.target)));
    this.box.addEventListener("focusin", (event) => this.describe(this.graph.at(event.target)));
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    this.field.addEventListener("input", () => this.search());
    this.field.addEventListener("search", () => this.search()); // its cross
    this.button.addEventListener("click", () => this.showAll());
    document.addEventListener("keydown", (event) => this.onEscape(event), { capture: true });
    handle("0", () => this.showAll());
  }

  onClick(event) {
    const frame = this.graph.at(event.target);
    if (frame) this.zoom(frame.isRest ? frame.caller : frame);
  }

  onKey(event) {
    const frame = this.graph.at(event.target);
    if (!frame || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") this.zoom(frame);
    else if (ARROWS.has(event.key)) this.focus(this.graph.beside(frame, event.key));
    else return;
    event.preventDefault();
  }

  // First what was searched goes, then the zoom, then keys.js does what it does elsewhere.
  onEscape(event) {
    if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
    if (isTyping(event.target) && event.target !== this.field) return;
    if (event.target === this.field && this.field.value) {
      this.field.value = "";
      this.search();
    } else if (this.isZoomed) this.showAll();
    else return;
    event.preventDefault();
  }

  get isZoomed() {
    return this.graph.root !== this.graph.top;
  }

  async zoom(frame) {
    this.waiting?.abort();
    const isDrawn = !(this.graph.serverRoot && frame.depth < this.graph.whole.depth);
    if (isDrawn) {
      this.graph.show(frame);
      this.focus(frame);
    }
    this.write(frame.key);
    const isCoarse = frame !== this.graph.whole && this.graph.widestRest > WIDE_REST;
    if (!isDrawn || isCoarse) await this.ask(frame.key, isDrawn);
  }

  showAll() {
    this.zoom(this.graph.top);
  }

  // The same page with another frame as its root; what is drawn stays where there is no answer.
  async ask(key, isDrawn) {
    this.waiting = new AbortController();
    const { signal } = this.waiting;
    const hadFocus = !isDrawn || this.graph.svg.contains(document.activeElement);
    try {
      const answer = await fetch(location.href, { signal, headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const svg = page.querySelector("[data-flame] svg.flame[data-all]");
      if (!svg) throw new Error("no drawing in the answer");
      const drawn = document.adoptNode(svg);
      this.graph.svg.replaceWith(drawn);
      this.take(drawn);
      if (hadFocus) this.focus(this.graph.byKey.get(key) ?? this.graph.top);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.write(this.graph.root.key);
      this.line.textContent = `The narrower frames could not be loaded: ${error.message}.`;
    }
  }

  // One frame can be reached with Tab, the arrows go from there.
  setStop(frame) {
    if (this.stop) {
      this.stop.element.removeAttribute("tabindex");
      this.stop.element.removeAttribute("role");
    }
    this.stop = frame;
    frame.element.setAttribute("tabindex", "0");
    frame.element.setAttribute("role", "button");
    this.button.hidden = !this.isZoomed;
  }

  focus(frame) {
    if (!frame) return;
    this.setStop(frame);
    frame.element.focus();
  }

  describe(frame) {
    if (frame) this.line.textContent = frame.title.replaceAll("\n", "; ");
  }

  search() {
    const text = this.field.value;
    const { found, share } = this.graph.search(text);
    const frames = found === 1 ? "1 frame" : `${found.toLocaleString("en")} frames`;
    this.result.textContent = text.trim() ? `${frames}, ${share.toFixed(1)} % of all` : "";
    this.write(this.graph.root.key);
  }

  // The address of what is in sight; links with data-take="root q" take these parts of it.
  write(root) {
    const state = { root, q: this.field.value };
    const address = updated(location.href, state, Object.keys(state));
    if (address !== location.href) history.replaceState(history.state, "", address);
    for (const link of document.querySelectorAll("a[data-take]")) {
      link.href = updated(link.href, state, link.dataset.take.split(" "));
    }
  }
}

function updated(href, state, keys) {
  const address = new URL(href, location.href);
  for (const key of keys) {
    if (state[key]) address.searchParams.set(key, state[key]);
    else address.searchParams.delete(key);
  }
  return address.href;
}

const box = document.querySelector("[data-flame]");
if (box?.querySelector("svg.flame[data-all]")) new FlameGraph(box);
