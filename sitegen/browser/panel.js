/* The panel of a number: fetched when the first number is opened (numbers.js finds and opens them).
   What it shows was computed by the build (sitegen/numbers.py); 在这里重算 and 改一改 ask the page's Python. */
import { Python } from "./python.js";
import { words } from "./words.js";

const FIGURE = "svg[role=img], sim-lab, step-player";

const say = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
const reason = error => say(words[`failure_${error?.code}`] ?? "{detail}", { detail: error?.detail ?? String(error) });
const computing = event => event.isComposing || event.keyCode === 229;   // an input method is choosing characters

/** An element; text stays text. */
function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ""));
  return element;
}

/** The site's one Python, or null where the site was built without it. */
function python() {
  const place = document.querySelector("[data-runtime]")?.dataset.runtime;
  return place ? Python.shared({ base: new URL(place, document.baseURI).href }) : null;
}

// ---- what the build wrote

const files = new Map();

function data(number) {
  const url = new URL(number.closest("[data-numbers]").dataset.numbers, document.baseURI).href;
  if (!files.has(url)) {
    const asked = fetch(url).then(answer => {
      if (!answer.ok) throw Object.assign(new Error(), { code: "download", detail: url.split("/").pop() });
      return answer.json();
    }, () => { throw Object.assign(new Error(), { code: location.protocol === "file:" ? "file" : "download", detail: url.split("/").pop() }); });
    asked.catch(() => files.delete(url));
    files.set(url, asked);
  }
  return files.get(url);
}

// ---- what a reader has changed on this page

let changes = new Map();               // "drifted 0" -> { name, index, text, original }
let before = new Map();                // number element -> its text and value as built
let bar = null;

const original = number => before.get(number) ?? { text: number.textContent, value: number.value ?? number.getAttribute("value") };

function put(number, text, value, mark) {
  if (!before.has(number)) before.set(number, { text: number.textContent, value: number.getAttribute("value") });
  number.textContent = text;
  number.setAttribute("value", value);
  number.dataset.changed = mark;
  number.setAttribute("aria-description", say(words.number_was, { value: before.get(number).text }));
}

function putBack(number) {
  const { text, value } = before.get(number);
  number.textContent = text;
  number.setAttribute("value", value);
  delete number.dataset.changed;
  number.setAttribute("aria-description", words.number_hint);
  before.delete(number);
}

function reset() {
  changes.clear();
  for (const number of [...before.keys()]) putBack(number);
  for (const note of document.querySelectorAll(".num-note")) note.remove();
  bar?.remove();
  bar = null;
}

/** Compute every number of the page that depends on a change, and show it. */
async function recompute(known, scope) {
  if (!changes.size) return reset();
  const changed = new Set([...changes.values()].map(change => change.name));
  const indices = new Set(known.statements.flatMap((s, i) => changed.has(s.name) ? [i] : []));
  const depends = expression => {
    const entry = known.expressions[expression];
    return entry && known.closures[entry.closure].statements.some(i => indices.has(i));
  };
  const all = [...scope.querySelectorAll("data[data-expr]")].filter(n => !n.closest("sim-lab, step-player"));
  const touched = all.filter(number => depends(number.dataset.expr));
  const expressions = [...new Set(touched.map(number => number.dataset.expr))];
  const wanted = [...changes.values()].map(({ name, index, text }) => ({ name, index, text }));
  const answer = await python().ask("change", { do: "change", lesson: known.lesson, changes: wanted, expressions });
  if (!answer || !scope.isConnected) return undefined;
  if (answer.refused) throw Object.assign(new Error(answer.refused), { refused: answer.refused, place: answer.place });
  const results = new Map(expressions.map((e, i) => [e, answer.numbers[i]]));
  for (const number of [...before.keys()]) if (!touched.includes(number)) putBack(number);
  for (const number of touched) {
    const { text, value, error } = results.get(number.dataset.expr);
    if (error) put(number, "—", "", "none");
    else put(number, text, value, text === original(number).text ? "same" : "different");
  }
  noteFigures(scope);
  tell(touched.length);
  return touched.length;
}

function noteFigures(scope) {
  const figures = new Set([...scope.querySelectorAll(FIGURE)].map(f => f.closest("figure, sim-lab, step-player") ?? f));
  for (const figure of figures) {
    if (figure.previousElementSibling?.matches(".num-note")) continue;
    figure.before(h("p", { class: "num-note" }, figure.matches("sim-lab") ? words.number_lab_original : words.number_drawn_original));
  }
}

function tell(count) {
  bar ??= document.body.appendChild(h("div", { class: "num-bar", role: "status" }));
  const text = say(words.number_changed, { changes: changes.size, count });
  bar.replaceChildren(h("span", {}, text), h("button", { type: "button", "data-act": "reset", onclick: () => { reset(); panel?.refresh(); } }, words.number_reset));
}

// ---- the panel

let panel = null;

class Panel {
  constructor() {
    this.title = h("p", { class: "num-title", id: "num-panel-title", role: "heading", "aria-level": "2" });
    this.link = h("a", { class: "num-link", "data-link": "", title: words.number_link, "aria-label": words.number_link, onclick: event => this.copy(event) }, "#");
    this.body = h("div", { class: "num-body" });
    this.element = h("div", { id: "num-panel", class: "num-panel md-typeset", popover: "auto", role: "dialog", "aria-labelledby": "num-panel-title", tabindex: "-1" },
      h("div", { class: "num-head" }, this.title, this.link,
        h("button", { type: "button", class: "num-close", "data-act": "close", "aria-label": words.number_close, onclick: () => this.close() }, "×")),
      this.body);
    this.element.addEventListener("toggle", event => { if (event.newState === "closed") this.closed(); });
    this.body.addEventListener("keydown", event => {
      if (event.key === "Enter" && event.target.matches(".num-literal") && !computing(event)) { event.preventDefault(); this.apply(); }
    });
    document.body.append(this.element);
  }

  open(number) {
    if (this.isOpen) this.element.hidePopover();
    this.number = number;
    this.changing = false;
    number.classList.add("num-open");
    this.title.textContent = say(words.number_title, { number: number.textContent });
    this.link.href = `#${number.id}`;
    this.link.hidden = !number.id;
    this.body.replaceChildren(this.full());
    this.element.showPopover();
    this.place();
    this.element.focus({ preventScroll: true });
    this.fill(number);
  }

  async fill(number) {
    try {
      this.known = await data(number);
      if (this.number === number) this.render();
    } catch (error) {
      if (this.number === number) this.body.append(h("p", { class: "num-error", role: "alert" }, say(words.number_failed, { reason: reason(error) })));
    }
    if (this.number === number) this.place();
  }

  get isOpen() { return this.element.matches(":popover-open"); }
  close() { this.element.hidePopover(); }

  closed() {
    this.unlisten?.();
    const number = this.number;
    number?.classList.remove("num-open");
    if (number?.isConnected && (document.activeElement === document.body || this.element.contains(document.activeElement))) number.focus({ preventScroll: true });
  }

  /** Beside the number, where there is more room; a phone has a sheet at the bottom instead (numbers.css). */
  place() {
    const around = this.number.getBoundingClientRect(), { offsetWidth: width } = this.element;
    const { clientWidth, clientHeight } = document.documentElement;
    const left = Math.max(8, Math.min(around.left, clientWidth - width - 8));
    const under = clientHeight - around.bottom - 16, over = around.top - 64;           // the site's header stays free
    this.element.style.setProperty("--room", `${Math.max(under, over, 200)}px`);
    const { offsetHeight: height } = this.element;
    const top = height <= under || under >= over ? around.bottom + 8 : around.top - height - 8;
    this.element.style.setProperty("--left", `${left + scrollX}px`);
    this.element.style.setProperty("--top", `${top + scrollY}px`);
  }

  /** The panel again, after the page's numbers have changed. */
  refresh() { if (this.isOpen && this.known) { this.title.textContent = say(words.number_title, { number: this.number.textContent }); this.render(); } }

  full() {
    const value = this.number.getAttribute("value"), was = before.get(this.number);
    return h("p", { class: "num-full" }, h("span", {}, words.number_value), " ", h("code", { "data-value": "" }, value || "—"),
      was && this.number.dataset.changed === "different" ? h("span", { class: "num-was" }, say(words.number_was, { value: `${was.text}（${was.value}）` })) : null);
  }

  render() {
    const { known, number } = this;
    const entry = known.expressions[number.dataset.expr];
    if (!entry) return this.body.replaceChildren(this.full());
    const closure = known.closures[entry.closure];
    const at = (table, indices) => (indices ?? []).map(i => known[table][i]);
    const statements = at("statements", closure.statements), functions = at("functions", closure.functions);
    const experiments = at("experiments", closure.experiments), facts = at("facts", closure.facts);
    const can = entry.fact === undefined && !experiments.length && statements.length > 0 && python() !== null;
    this.entry = entry;
    this.body.replaceChildren(...[
      this.full(),
      entry.fact === undefined ? null : this.source(known.facts[entry.fact]),
      experiments.length ? this.experiment(experiments, entry) : null,
      this.code(entry, statements),
      can ? this.actions(statements) : null,
      this.formulas(functions),
      this.functions([...statements.filter(s => s.kind === "function").sort((a, b) => experiments.some(e => e.name === b.name) - experiments.some(e => e.name === a.name)).map(s => ({ ...s, file: known.file, link: known.link && `${known.link}#L${s.line}` })), ...functions]),
      facts.length ? h("div", { class: "num-facts" }, h("p", { class: "num-label" }, words.number_facts), facts.map(f => this.source(f))) : null,
    ].filter(Boolean));
  }

  source(fact) {
    const title = fact.link ? h("a", { href: fact.link, rel: "external" }, fact.title) : fact.title;
    return h("div", { class: "num-source", "data-fact": fact.id },
      fact.statement ? h("p", {}, fact.statement + (fact.unit ? ` (${fact.unit})` : "")) : null,
      h("p", { class: "num-from" }, say(words.number_source, { authors: fact.authors, year: fact.year }), h("cite", {}, title), fact.where ? `, ${fact.where}` : ""));
  }

  experiment(experiments, entry) {
    const settings = e => Object.entries(e.settings).map(([name, value]) => `${name} = ${value}`).join(", ");
    const seeds = e => e.seeds.length > 2 ? `${e.seeds[0]} … ${e.seeds.at(-1)}` : e.seeds.join(", ");
    return h("div", { class: "num-experiment" }, experiments.map(e => h("p", { "data-experiment": e.name },
      say(words.number_experiment, { name: e.name, settings: settings(e), count: e.seeds.length, seeds: seeds(e) }))),
      entry.spread ? h("p", { "data-spread": "" }, say(words.number_spread, { least: entry.spread[0], middle: entry.spread[1], most: entry.spread[2] })) : null);
  }

  /** Coloured code; while a reader changes it, its literals are inputs. */
  pieces({ name, pieces }, changing) {
    return pieces.map(([kind, text, index]) => {
      if (index === undefined) return kind ? h("span", { class: kind }, text) : text;
      const key = `${name} ${index}`, now = changes.get(key)?.text ?? text;
      if (!changing) return h("span", { class: changes.has(key) ? `${kind} num-literal-changed` : kind }, now);
      return h("input", { class: "num-literal", value: now, size: Math.max(2, now.length), "data-name": name, "data-index": index, "data-original": text,
        inputmode: "decimal", autocomplete: "off", spellcheck: "false", enterkeyhint: "done", "aria-label": say(words.number_literal, { name, place: index + 1 }),
        oninput: event => { event.target.size = Math.max(2, event.target.value.length); event.target.removeAttribute("aria-invalid"); } });
    });
  }

  code(entry, statements) {
    const values = statements.filter(s => s.kind === "value");
    if (!values.length) return null;
    const last = values.at(-1).name === entry.name ? [] : [h("span", { class: "num-expression" }, entry.name)];
    const lines = values.flatMap((s, i) => [i ? "\n" : "", ...this.pieces(s, this.changing)]);
    return h("div", { class: "highlight num-code", "data-source-code": "" }, h("p", { class: "num-label" }, words.number_code),
      h("pre", { tabindex: "0", "aria-label": words.number_code }, h("code", {}, ...lines, last.length ? "\n" : "", ...last)));
  }

  formulas(functions) {
    if (this.number.closest("[data-numbers]") !== document.querySelector("article[data-numbers]")) return null;
    const all = document.querySelectorAll("article[data-numbers] div.formula");
    const found = [...new Set(functions.flatMap(f => f.formulas))].map(i => all[i]?.querySelector("math")).filter(Boolean);
    return found.length ? h("div", { class: "num-formula" }, h("p", { class: "num-label" }, words.number_formula), found.map(f => h("div", { class: "formula" }, f.cloneNode(true)))) : null;
  }

  functions(list) {
    if (!list.length) return null;
    return h("div", { class: "num-functions" }, h("p", { class: "num-label" }, words.number_functions), list.map(f =>
      h("details", {}, h("summary", {}, h("code", {}, f.name)),
        h("p", { class: "num-from" }, f.link ? h("a", { href: f.link, rel: "external" }, `${f.file}:${f.line}`) : `${f.file}:${f.line}`),
        h("div", { class: "highlight", "data-source-code": "" }, h("pre", { tabindex: "0" }, h("code", {}, ...this.pieces({ ...f, pieces: f.pieces.map(([kind, text]) => [kind, text]) }, false)))))));
  }

  actions(statements) {
    const literals = statements.some(s => s.pieces.some(piece => piece.length === 3));
    const button = (act, text, action) => h("button", { type: "button", class: "lab-button", "data-act": act, onclick: action }, text);
    this.result = h("div", { class: "num-result", role: "status" });
    return h("div", { class: "num-actions" },
      this.changing ? button("apply", words.number_apply, () => this.apply()) : button("run", words.number_run, () => this.run()),
      literals && !this.changing ? button("change", words.number_change, () => this.change()) : null,
      this.changing || changes.size ? button("reset", words.number_reset, () => { reset(); this.changing = false; this.refresh(); }) : null,
      this.result);
  }

  async run() {
    const number = this.number, { text, value } = original(number);
    const answer = await this.ask(() => python().ask("evaluate", { do: "evaluate", lesson: this.known.lesson, expressions: [number.dataset.expr] }));
    if (!answer || this.number !== number) return;
    const [here] = answer.numbers;
    const equal = here.text === text && close(here.value, value);
    const result = equal ? words.number_equal : words.number_different;
    this.result.replaceChildren(h("p", { "data-result": equal ? "equal" : "different" },
      h("strong", {}, `${equal ? "✓" : "✗"} ${result}`), h("br"),
      say(words.number_both, { here: here.text, full: here.value, page: text, built: value })));
  }

  change() {
    this.changing = true;
    this.render();
    const first = this.body.querySelector(".num-literal");
    first?.focus();
    first?.select();
  }

  async apply() {
    const inputs = [...this.body.querySelectorAll(".num-literal")];
    const kept = new Map(changes);
    for (const input of inputs) {
      const { name, index, original: text } = input.dataset, typed = input.value.trim();
      if (typed === text) changes.delete(`${name} ${index}`);
      else changes.set(`${name} ${index}`, { name, index: Number(index), text: typed });
    }
    const order = [...changes.keys()];
    const number = this.number;
    try {
      const count = await this.ask(() => recompute(this.known, number.closest("[data-numbers]")), true);
      if (changes.size && count === undefined) { changes = kept; return; }     // Python failed, and said so
      if (this.number !== number) return;
      this.title.textContent = say(words.number_title, { number: number.textContent });
      this.body.querySelector(".num-full")?.replaceWith(this.full());
      this.result.replaceChildren(h("p", { "data-result-changed": "" }, changes.size ? say(words.number_recomputed, { count }) : words.number_same_again));
    } catch (error) {
      changes = kept;
      const refused = inputs.find(input => `${input.dataset.name} ${input.dataset.index}` === order[error.place]);
      refused?.setAttribute("aria-invalid", "true");
      refused?.focus();
      this.result.replaceChildren(h("p", { class: "num-error" }, words[`number_refused_${error.refused}`] ?? words.number_refused_unreadable));
    }
  }

  /** Ask Python and say meanwhile where it stands; undefined when it failed. */
  async ask(question, passRefusals = false) {
    const site = python();
    const follow = () => {
      if (site.state !== "loading") return;
      const { loaded, total } = site.progress ?? {};
      const amount = total ? ` ${say(words.lab_megabytes, { loaded: (loaded / 1e6).toFixed(1), total: (total / 1e6).toFixed(1) })}` : "";
      this.result.textContent = words.lab_loading + amount;
    };
    this.unlisten?.();
    this.unlisten = site.onchange(follow);
    this.result.textContent = words.number_computing;
    follow();
    try {
      if (site.state === "failed") await site.retry();
      const answer = await question();
      return answer;
    } catch (error) {
      if (passRefusals && error.refused) throw error;
      this.result.replaceChildren(h("p", { class: "num-error" }, say(words.number_failed, { reason: reason(error) })));
      return undefined;
    } finally {
      this.unlisten?.();
    }
  }

  copy(event) {
    event.preventDefault();
    history.replaceState(history.state, "", this.link.href);
    navigator.clipboard?.writeText(this.link.href).then(() => { this.link.textContent = "✓"; setTimeout(() => { this.link.textContent = "#"; }, 1500); }, () => {});
  }
}

/** Equal: within rtol 1e-12 and atol 1e-12; whole numbers beyond 2^53 digit for digit. */
function close(a, b) {
  if (a === b) return true;
  const [x, y] = [Number(a), Number(b)];
  return Math.abs(x - y) <= 1e-12 + 1e-12 * Math.abs(y);
}

export function open(number) { (panel ??= new Panel()).open(number); }

/** Another page has taken the place of the one that was open. */
export function left() {
  if (panel?.isOpen) panel.close();
  if (![...before.keys()].some(number => number.isConnected)) reset();
}
