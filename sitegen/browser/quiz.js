/* <quiz-item>: a question of the page. Its options, explanations and right answer are in the HTML (sitegen/quiz.py),
   folded without JavaScript. This script asks first and explains after, hides the result of a "predict first" until the
   reader commits or skips, brings a missed question back in the next section, and keeps progress on this device only. */
import { identify, prepare } from "./numbers.js";
import { words } from "./words.js";

const STORE = "sitegen.quiz";
const say = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
const computing = event => event.isComposing || event.keyCode === 229;   // an input method is choosing characters

// ---- what this device remembers; storage may be forbidden, full, or hold something else

function remembered() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE));
    return kept && typeof kept === "object" && !Array.isArray(kept) ? kept : {};
  } catch { return {}; }
}

let memory = remembered();

function remember(key, entry) {
  if (entry) memory[key] = entry;
  else delete memory[key];
  try { localStorage.setItem(STORE, JSON.stringify(memory)); } catch { /* then it lasts as long as the page */ }
}

function forget(mine = () => true) {
  for (const key of Object.keys(memory)) if (mine(key)) delete memory[key];
  try {
    if (Object.keys(memory).length) localStorage.setItem(STORE, JSON.stringify(memory));
    else localStorage.removeItem(STORE);
  } catch { /* nothing is kept anyway */ }
}

// ---- typed numbers

/** A number as a reader writes it: 0.25, 66.7%, 2/3, 1.9e-5, −8, 124,439,808, full-width digits. NaN if it is none. */
export function number(text) {
  const plain = text.normalize("NFKC").replace(/[−–]/g, "-").replace(/[,\s]/g, "").replace(/。/g, ".").replace(/×10\^?/, "e");
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+\.?\d*))?(%?)$/i.exec(plain);
  if (!match) return NaN;
  return Number(match[1]) / (match[2] ? Number(match[2]) : 1) / (match[3] ? 100 : 1);
}

/** Whether a typed number is the one shown: within the tolerance, or one unit of the last digit shown. */
function agrees(typed, text, shown, tolerance) {
  const value = Number(shown.getAttribute("value"));
  const printed = shown.textContent.trim(), percent = printed.endsWith("%");
  const digits = /\.(\d+)/.exec(printed)?.[1].length ?? 0;
  const unit = /×10/.test(printed) ? Math.abs(value) * 0.05 : 10 ** -digits / (percent ? 100 : 1);
  const rounded = digits || percent || /×10/.test(printed) || number(printed) !== value;
  const allowed = !tolerance ? (rounded ? unit : 0)
    : tolerance.endsWith("%") ? Math.abs(value) * parseFloat(tolerance) / 100 : parseFloat(tolerance);
  const ways = percent && !/[%％/]/.test(text) ? [typed, typed / 100] : [typed];      // 66.7 means 66.7% there
  return ways.some(way => Math.abs(way - value) <= allowed * (1 + 1e-9) + Math.abs(value) * 1e-12);
}

// ---- one question

let count = 0;

class QuizItem extends HTMLElement {
  connectedCallback() {
    if (this.feedback) return;
    identify(this.closest("article") ?? this);
    this.pristine = this.cloneNode(true);
    this.kind = this.dataset.kind;
    this.predict = this.dataset.predict !== undefined;
    this.options = [...this.querySelectorAll(".quiz-option")];
    this.inputs = [...this.querySelectorAll(".quiz-option input")];
    this.answer = this.querySelector(".quiz-answer");
    this.whys = [...this.querySelectorAll(".quiz-why")];
    this.result = this.querySelector(".quiz-result");
    const name = `quiz-${++count}`;
    for (const input of this.inputs) { input.name = name; input.checked = false; }
    this.querySelector(".quiz-options")?.setAttribute("aria-label", this.heading);
    this.hold(true);
    this.feedback = element("div", { "data-feedback": "", role: "status" });
    this.buttons = element("div", { class: "quiz-buttons" });
    if (this.kind === "number") {
      this.field = element("input", { type: "text", class: "quiz-field", inputmode: "text", autocomplete: "off", spellcheck: "false", enterkeyhint: "done", "aria-label": words.quiz_number_label });
      this.buttons.append(this.field);
      this.inputs = [this.field];
    }
    this.commit = this.button("commit", this.kind === "number" ? words.quiz_commit_number : words.quiz_commit, () => this.submit());
    this.skip = this.predict ? this.button("skip", words.quiz_skip, () => this.show(null)) : this.button("show", words.quiz_give_up, () => this.show(null));
    this.again = this.button("again", words.quiz_again_button, () => { this.reset(); this.inputs[0]?.focus(); });
    this.skip.hidden = !this.predict && this.kind !== "number";
    this.again.hidden = true;
    this.answer.before(this.buttons, this.feedback);
    this.answer.hidden = true;
    if (this.result) {
      this.cover = element("p", { class: "quiz-cover" }, words.quiz_hidden);
      this.result.before(this.cover);
      this.result.addEventListener("beforematch", () => this.show(null));    // the browser's own search looks inside
      this.veil(true);
    }
    this.addEventListener("keydown", event => {
      if (event.key !== "Enter" || computing(event) || !event.target.matches("input") || this.done) return;
      event.preventDefault();
      this.submit();
    });
    this.dataset.state = "open";
    this.restore();
  }

  get heading() { return this.querySelector(".quiz-title")?.textContent ?? this.closest("worked-example")?.querySelector(".quiz-title")?.textContent ?? words.quiz_title; }
  get original() { return this.dataset.again ?? this.dataset.quiz; }
  get key() { return `${this.closest("[data-lesson]")?.dataset.lesson ?? location.pathname}/${this.closest(".quiz-warmup") ? "warm-" : ""}${this.original}`; }
  get right() { return this.whys.filter(why => why.dataset.right === "true"); }

  button(act, text, action) {
    const made = element("button", { type: "button", class: "lab-button", "data-act": act }, text);
    made.addEventListener("click", action);
    this.buttons.append(made);
    return made;
  }

  /** Numbers in options are part of their option until it is chosen; then they answer for themselves. */
  hold(held) {
    const [from, to] = held ? ["num", "num-held"] : ["num-held", "num"];
    for (const data of this.querySelectorAll(`.quiz-option data.${from}`)) {
      data.classList.replace(from, to);
      if (held) for (const name of ["role", "tabindex", "aria-haspopup", "aria-description"]) data.removeAttribute(name);
    }
  }

  veil(on) {
    this.result.toggleAttribute("hidden", false);
    if (on) this.result.setAttribute("hidden", "until-found");
    this.cover.hidden = !on;
  }

  /** What a reader sees of an option. */
  text(place) {
    if (this.kind === "number") return this.whys[place]?.querySelector(".quiz-number")?.textContent ?? "";
    const text = this.options[place]?.querySelector(".quiz-text");
    return text ? readable(text) : "";
  }

  submit() {
    if (this.kind === "number") return this.submitNumber();
    const chosen = this.inputs.filter(input => input.checked).map(input => Number(input.value));
    if (!chosen.length) return this.tell("none", words.quiz_choose);
    this.show(chosen);
  }

  submitNumber() {
    const text = this.field.value.trim(), typed = number(text);
    if (Number.isNaN(typed)) { this.field.setAttribute("aria-invalid", "true"); return this.tell("none", words.quiz_number_unreadable); }
    this.field.removeAttribute("aria-invalid");
    const fits = why => {
      const shown = why.querySelector(".quiz-number data[value]");
      return shown && agrees(typed, text, shown, this.dataset.tolerance);
    };
    const right = this.whys.findIndex(why => why.dataset.right === "true" && fits(why));  // before any slip near it
    const place = right >= 0 ? right : this.whys.findIndex(fits);
    if (place >= 0 && this.whys[place].dataset.right === "true") return this.show([place], text);
    this.missed(text);
    this.putBack();
    if (place >= 0) {                                                     // a usual slip: say which, and let the reader go on
      this.tell("wrong", words.quiz_wrong);
      this.feedback.append(this.whys[place]);
    } else this.tell("wrong", words.quiz_number_off);
  }

  /** Answered, or given up (chosen is null): the verdict, the explanation of what was chosen, then the others. */
  show(chosen, typed = "", quiet = false) {
    const right = this.right.map(why => Number(why.dataset.option));
    const is = chosen !== null && chosen.length === right.length && chosen.every(place => right.includes(place));
    const some = chosen !== null && chosen.some(place => right.includes(place));
    const list = places => places.map(place => this.text(place)).join(words.sequence_separator ?? ", ");
    const values = { chosen: chosen ? list(chosen) : "", right: list(right) };
    this.putBack();
    const verdict = chosen === null ? say(this.predict ? words.quiz_skipped : words.quiz_shown, values)
      : this.predict ? `${is ? words.quiz_right : words.quiz_wrong} ${say(is ? words.quiz_gap_right : words.quiz_gap, values)}`
      : is ? words.quiz_right : some ? words.quiz_partly : words.quiz_wrong;
    this.tell(chosen === null ? "shown" : is ? "right" : "wrong", verdict);
    const first = this.whys.filter(why => (chosen ?? right).includes(Number(why.dataset.option)));
    this.feedback.append(...first);
    this.answer.hidden = first.length === this.whys.length;
    this.answer.open = true;
    this.answer.querySelector("summary").textContent = words.quiz_others;
    this.done = true;
    this.hold(false);
    for (const input of this.inputs) {
      if (chosen && this.kind !== "number") input.checked = chosen.includes(Number(input.value));
      input.disabled = true;
    }
    for (const place of right) this.options[place]?.classList.add("is-right");
    this.commit.hidden = this.skip.hidden = true;
    this.again.hidden = false;
    if (this.result) this.veil(false);
    prepare(this);
    if (typed) this.field.value = typed;
    const kept = memory[this.key];
    if (!quiet) {
      if (is && this.dataset.again) remember(this.key, { ...kept, returned: true });
      else if (is) remember(this.key, { chosen, typed, right: kept?.right ?? true });
      else this.missed(typed, chosen);
    }
    this.dispatchEvent(new CustomEvent("quiz-answered", { bubbles: true }));
  }

  /** A wrong first answer is remembered as missed, and the question comes back in the next section. */
  missed(typed, chosen = null) {
    const kept = memory[this.key];
    remember(this.key, { ...kept, chosen, typed, right: kept?.right && !this.dataset.again ? kept.right : false, returned: false });
    this.comeBack();
    this.dispatchEvent(new CustomEvent("quiz-answered", { bubbles: true }));
  }

  comeBack() {
    if (this.predict || this.closest("worked-example, .quiz-warmup")) return;
    const round = Number(this.dataset.round ?? 0) + 1;
    const article = this.closest("article") ?? document;
    if (article.querySelector(`quiz-item[data-again="${CSS.escape(this.original)}"][data-round="${round}"]`)) return;
    const place = endOfNextSection(this);
    if (!place) return;
    const copy = this.pristine.cloneNode(true);
    copy.removeAttribute("id");
    for (const node of copy.querySelectorAll("[id]")) node.removeAttribute("id");
    Object.assign(copy.dataset, { again: this.original, round, quiz: `${this.original}-again-${round}` });
    const title = copy.querySelector(".quiz-title");
    if (title && !this.dataset.again) title.textContent = say(words.quiz_returned, { title: title.textContent });
    place(copy);
  }

  restore() {
    const kept = memory[this.key];
    if (!kept || this.dataset.again) return;
    const known = this.whys.length;
    const chosen = Array.isArray(kept.chosen) && kept.chosen.every(place => Number.isInteger(place) && place >= 0 && place < known) ? kept.chosen : null;
    if (this.kind === "number" && !chosen) {                              // missed, not given up: the field as it was left
      if (typeof kept.typed === "string") this.field.value = kept.typed;
    } else this.show(chosen, typeof kept.typed === "string" ? kept.typed : "", true);
    if (kept.right === false && !kept.returned) queueMicrotask(() => this.isConnected && this.comeBack());
  }

  reset() {
    this.putBack();
    this.done = false;
    this.dataset.state = "open";
    delete this.feedback.dataset.feedback;
    this.feedback.setAttribute("data-feedback", "");
    this.feedback.replaceChildren();
    this.answer.hidden = true;
    this.answer.querySelector("summary").textContent = words.quiz_answer;
    for (const input of this.inputs) { input.disabled = false; input.checked = false; }
    if (this.field) this.field.value = "";
    for (const option of this.options) option.classList.remove("is-right");
    this.commit.hidden = false;
    this.skip.hidden = !this.predict && this.kind !== "number";
    this.again.hidden = true;
    if (this.result) this.veil(true);
    this.hold(true);
  }

  /** Explanations go back under their fold, in order. */
  putBack() { this.answer.append(...this.whys); }

  tell(state, text) {
    this.feedback.dataset.feedback = state;
    if (state !== "none") this.dataset.state = state;
    this.feedback.replaceChildren(element("p", { class: "quiz-verdict" }, text));
  }
}

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Text with formulas as they are read: MathML's own text, without the spaces of its layout. */
const readable = node => node.textContent.replace(/\s+/g, " ").trim();

/** A function that puts a node at the end of the next section that asks questions, or else of this one. */
function endOfNextSection(item) {
  const inner = item.closest(".md-content__inner, article, main") ?? document.body;
  const headings = [...inner.querySelectorAll("h2")];
  const after = (a, b) => Boolean(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING);
  const items = [...inner.querySelectorAll("quiz-item:not([data-again])")];
  const following = headings.filter(heading => after(item, heading));
  const bounded = following.map((heading, i) => [heading, following[i + 1]]);
  const next = bounded.find(([heading, end]) => items.some(other => after(heading, other) && (!end || after(other, end))));
  const end = next ? next[1] : following[0];
  if (end) return copy => end.before(copy);
  const last = next ? inner : item.parentElement;
  return copy => { const bar = last.querySelector(":scope > .quiz-progress"); if (bar) bar.before(copy); else last.append(copy); };
}

// ---- worked examples: what follows an open step waits for it

class WorkedExample extends HTMLElement {
  connectedCallback() {
    if (this.listening) return;
    this.listening = true;
    this.addEventListener("quiz-answered", () => this.follow());
    queueMicrotask(() => this.follow());
  }

  follow() {
    let open = true;
    for (const part of this.children) {
      part.hidden = !open;
      if (part.localName === "quiz-item" && !part.done) open = false;
    }
  }
}

// ---- progress of the page, and a way to clear it

function progress() {
  const article = document.querySelector("article[data-lesson], .md-content__inner");
  const items = [...document.querySelectorAll("quiz-item:not([data-again])")].filter(item => !item.predict);
  let bar = document.querySelector(".quiz-progress");
  if (!article || !items.length) return bar?.remove();
  if (!bar) {
    bar = element("div", { class: "quiz-progress" });
    article.append(bar);
  }
  const answered = items.filter(item => memory[item.key]);
  const right = answered.filter(item => memory[item.key].right === true || memory[item.key].returned === true);
  const values = { total: items.length, answered: answered.length, right: right.length };
  const clear = (act, text, mine) => {
    const made = element("button", { type: "button", class: "lab-button", "data-act": act }, text);
    made.addEventListener("click", () => { forget(mine); clean(); });
    return made;
  };
  const lessons = new Set([...document.querySelectorAll("quiz-item")].map(item => item.key));
  bar.replaceChildren(element("p", {}, say(answered.length ? words.quiz_progress : words.quiz_progress_none, values)));
  if ([...lessons].some(key => memory[key])) bar.append(clear("clear", words.quiz_clear, key => lessons.has(key)));
  if (Object.keys(memory).some(key => !lessons.has(key))) bar.append(clear("clear-all", words.quiz_clear_all));
}

function clean() {
  for (const copy of document.querySelectorAll("quiz-item[data-again]")) copy.remove();
  for (const item of document.querySelectorAll("quiz-item")) item.reset();
  for (const example of document.querySelectorAll("worked-example")) example.follow();
  progress();
}

customElements.get("quiz-item") ?? customElements.define("quiz-item", QuizItem);
customElements.get("worked-example") ?? customElements.define("worked-example", WorkedExample);
document.addEventListener("quiz-answered", progress);
if (window.document$) window.document$.subscribe(progress);
else progress();
