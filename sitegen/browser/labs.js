/* <sim-lab>: a lab of the page, at three speeds; data-state says which it has.

     static   the start state, as the HTML has it
     instant  a table of answers has been fetched when the lab came near (instant.js): a touch is answered in its frame
     live     Python is here and computes every state
     failed   Python could not start; what the table knows is still answered

   A state that the table does not have waits for Python. Until then the lab is marked data-pending: what it shows is the
   result before the change, and it says so. */
import { fromAddress, toAddress } from "./address.js";
import { Controls, say } from "./controls.js";
import { fetchInstant } from "./instant.js";
import { patch } from "./patch.js";
import { Python } from "./python.js";
import { words } from "./words.js";

const PAUSE = 500;          // ms without a touch: then the address is set and the result announced, once
const BUDGET = 1800;        // ms of one run of Python
const FIRST_BUDGET = 12_000;   // of the first, which imports the lesson
const NEAR = "600px 0px";

const megabytes = bytes => (bytes / 1e6).toFixed(1);
const here = new URL("../../../", import.meta.url);   // this file is assets/sitegen/<hash>/labs.js of the site

/** The site's one Python, or null where the site was built without it. */
export function python() {
  const place = document.querySelector("[data-runtime]")?.dataset.runtime;
  if (!place) return null;
  return Python.shared({ base: new URL(place, document.baseURI).href });
}

/** Whether to fetch megabytes unasked: only where the browser says that the line is fast and costs nothing. */
function generous() {
  const line = navigator.connection;
  return Boolean(line) && ["wifi", "ethernet"].includes(line.type) && line.effectiveType === "4g" && !line.saveData;
}

/** Whether to wait with them until a state needs them. */
const thrifty = () => Boolean(navigator.connection?.saveData) || navigator.connection?.type === "cellular";

let cancelled = false;      // the reader has stopped the download: no lab starts it again unasked
const imported = new Set(); // lessons that the running Python has imported

class SimLab extends HTMLElement {
  connectedCallback() {
    if (this.controls) return;
    const form = this.querySelector("form");
    this.output = this.querySelector("[data-output]");
    this.status = this.querySelector("[data-status]");
    this.progress = Object.assign(document.createElement("span"), { ariaHidden: "true", className: "lab-progress" });
    this.status.after(this.progress);
    this.said = Object.assign(document.createElement("p"), { className: "lab-said" });
    this.said.setAttribute("aria-live", "polite");
    this.append(this.said);
    this.buttons = Object.fromEntries([...this.querySelectorAll("[data-act]")].map(b => [b.dataset.act, b]));
    this.controls = new Controls(form, { changed: () => this.change(), refused: text => { this.notice = text; this.follow(); } });
    this.original = this.output.innerHTML;
    this.start = this.shown = this.wanted = this.key();
    this.python = python();
    this.unlisten = this.python?.onchange(() => this.follow());
    for (const event of ["pointerenter", "focusin", "touchstart"]) {
      // Who comes to the buttons by keyboard means the buttons.
      this.addEventListener(event, ({ target }) => target.closest(".lab-foot") || this.approach(), { passive: true });
    }
    this.buttons.retry.onclick = () => this.begin();
    this.buttons.cancel.onclick = () => { cancelled = true; this.python.stop(); this.follow(); };
    this.buttons.reset.onclick = () => { this.controls.set(this.controls.start); this.change(); };
    this.near = new IntersectionObserver(seen => seen.some(entry => entry.isIntersecting) && this.comeNear(), { rootMargin: NEAR });
    this.near.observe(this);
    this.page = location.pathname;
    const linked = fromAddress(this.dataset.lab, this.controls);
    if (linked) {
      this.controls.set(linked);
      this.change(false);
    }
    this.follow();
  }

  disconnectedCallback() {
    this.unlisten?.();
    this.near?.disconnect();
    clearTimeout(this.pause);
    clearTimeout(this.waiting);
  }

  key() { return JSON.stringify(this.controls.values()); }

  // ---- what wakes a lab

  comeNear() {
    this.near.disconnect();
    this.fetchTable();
    if (this.python?.state === "idle" && !cancelled && generous()) this.python.start().catch(() => {});   // follow() tells
  }

  /** The table of ready answers; where it cannot be had, Python answers everything. */
  async fetchTable() {
    if (this.instant || this.fetching || !this.dataset.instant || location.protocol === "file:") return;
    this.fetching = true;
    try {
      this.instant = await fetchInstant(new URL(this.dataset.instant, here));
    } catch { /* asked for again at the next touch */ }
    this.fetching = false;
    if (!this.instant) return;
    if (this.pending) this.change(false);
    this.follow();
  }

  approach() {
    this.fetchTable();
    if (this.python?.state !== "idle" || cancelled || (thrifty() && !this.pending)) return;
    this.python.start().catch(() => {});
  }

  begin() {
    cancelled = false;
    this.notice = "";
    this.python.retry().catch(() => {});
    if (this.pending) this.ask(this.wanted);
    else this.follow();
  }

  // ---- answers

  get pending() { return this.shown !== this.wanted; }

  /** The reader has set a new state. */
  change(byReader = true) {
    const key = this.wanted = this.key();
    this.notice = "";
    this.buttons.reset.hidden = key === this.start;
    const tree = this.instant?.tree(this.controls.values());
    if (tree) this.show(tree, key);
    else if (key === this.start && this.pending) {
      this.output.innerHTML = this.original;
      this.shown = key;
    }
    this.mark();
    if (byReader) {
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.rest(), PAUSE);
    }
    if (this.python && (this.python.state === "ready" || (this.pending && byReader && !cancelled))) this.ask(key);
    else this.follow();
  }

  async ask(key) {
    const { lab, lesson } = this.dataset;
    this.asked = key;
    const request = { do: "lab", lesson, lab, state: this.controls.state() };
    try {
      if (this.python.state !== "ready") this.follow();
      const answer = await this.python.ask(`${lesson}/${lab}`, request, { follow: true, budget: imported.has(lesson) ? BUDGET : FIRST_BUDGET });
      if (answer === undefined) {                                        // a newer touch has taken over, or a cancel
        if (this.asked === key) this.asked = null;
        return;
      }
      imported.add(lesson);
      if (key !== this.wanted && this.instant?.tree(this.controls.values())) return;   // the newer one is shown already
      this.show(answer.tree, key);
      this.mark();
      this.follow();
      if (this.late && !this.pending) this.rest();
    } catch (error) {
      if (this.wanted !== key || this.python.state === "failed") return;   // follow() tells what happened
      this.notice = say(words.lab_error, { reason: reason(error) });
      this.follow();
      this.buttons.retry.hidden = false;
      this.buttons.retry.textContent = words.lab_retry;
    }
  }

  show(tree, key) {
    patch(this.output, ["div", attributesOf(this.output), tree]);
    this.shown = key;
  }

  /** The style dims what is pending, and only what stays so for a moment. */
  mark() {
    this.toggleAttribute("data-pending", this.pending);
    clearTimeout(this.waiting);
    if (this.pending) this.waiting = setTimeout(() => this.pending && this.python?.state === "ready" && this.tell(words.lab_computing), 300);
  }

  /** The reader pauses: the address takes the state, and a screen reader hears what came out. */
  rest() {
    if (!this.isConnected || location.pathname !== this.page) return;
    toAddress(this.dataset.lab, this.controls);
    this.late = this.pending;
    if (this.late) return;                                               // said when the answer is here
    const summary = this.output.querySelector("[data-say]") ?? this.output;
    const text = [...textsBelow(summary)].join(" ").slice(0, 200);
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  // ---- where the lab stands

  follow() {
    const state = this.python?.state ?? "none", { progress, error } = this.python ?? {};
    if (state !== "ready") imported.clear();
    else if (this.pending && this.asked !== this.wanted) this.ask(this.wanted);
    this.dataset.state = state === "ready" ? "live" : state === "failed" ? "failed" : this.instant ? "instant" : "static";
    const { retry } = this.buttons;
    // While it loads, the button that began it stays where it is, so that no press meant for it falls on another.
    retry.hidden = !(state === "failed" || (this.pending && state === "idle") || (state === "loading" && !retry.hidden));
    retry.disabled = state === "loading";
    if (state !== "loading") retry.textContent = state === "failed" ? words.lab_retry : words.lab_begin;
    this.buttons.cancel.hidden = state !== "loading";
    this.progress.textContent = "";
    if (state === "loading") {
      this.tell(this.notice || words.lab_loading);
      if (progress?.total) {
        this.progress.textContent = say(words.lab_megabytes, { loaded: megabytes(progress.loaded), total: megabytes(progress.total) });
      }
    } else if (this.notice) this.tell(this.notice);
    else if (state === "failed") this.tell(say(words.lab_failed, { reason: reason(error) }));
    else if (state === "ready") this.tell(this.pending ? words.lab_computing : words.lab_ready);
    else if (this.pending && state === "none") this.tell(words.lab_unavailable);
    else if (this.pending) this.tell(words.lab_pending);
    else if (this.instant) this.tell(words.lab_instant);
    else if (state === "none") this.tell(words.lab_unavailable);
    else this.tell(cancelled ? words.lab_cancelled : words.lab_idle);
  }

  tell(text) { if (this.status.textContent !== text) this.status.textContent = text; }
}

const attributesOf = node => Object.fromEntries(node.getAttributeNames().map(name => [name, node.getAttribute(name)]));

/** The texts below a node, one after another. */
function* textsBelow(node) {
  const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (walk.currentNode.data.trim() && !walk.currentNode.parentElement.closest("desc")) yield walk.currentNode.data.trim();
}

/** What went wrong, in the reader's language. */
function reason(error) {
  const detail = error?.detail ?? String(error), { code, type = "" } = error ?? {};
  if (code === "python") return say(words[`exception_${type}`] ?? words.exception_other, { type, detail });
  return say(words[`failure_${code}`] ?? "{detail}", { detail });
}

customElements.get("sim-lab") ?? customElements.define("sim-lab", SimLab);
