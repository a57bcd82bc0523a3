/* The controls of a lab: what a reader sets by pointer, touch, keyboard or by typing, as a state for Python.

   Native inputs are named after the parameter; a parameter with several numbers has several inputs of its name. Fields
   without a name are a second way to set the slider before them. A typed number may have full-width digits, a decimal
   comma, any minus sign; what is no number in range changes nothing and is put back when the field is left. */
import { words } from "./words.js";

export const say = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
const minus = value => String(value).replace("-", "−");
const composing = event => event.isComposing || event.keyCode === 229;   // an input method is choosing characters

/** The number that a text means, or NaN: "−０，５" is −0.5; with two separators, commas group digits. */
export function readNumber(text) {
  let plain = text.normalize("NFKC").replace(/[−–—﹣]/g, "-").replace(/[。．]/g, ".").replace(/[\s_'’]/g, "");
  const commas = plain.split(",").length - 1;
  plain = commas === 1 && !plain.includes(".") ? plain.replace(",", ".") : plain.replaceAll(",", "");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}

/** value moved by so many steps, within the range, without 0.30000000000000004. */
function stepped(value, steps, low, high, step) {
  const digits = Math.max(...[low, step].map(n => (String(n).split(".")[1] ?? "").length));
  const moved = low + (Math.round((value - low) / step) + steps) * step;
  return Math.min(high, Math.max(low, Number(moved.toFixed(digits))));
}

const range = ({ dataset: { low, high, step } }) => [Number(low), Number(high), Number(step)];

export class Controls {
  /** changed(): a new valid state; refused(text): something typed was put back. */
  constructor(form, { changed, refused }) {
    this.form = form;
    this.changed = changed;
    this.refused = refused;
    this.groups = [...form.querySelectorAll("[data-control]")].map(element => (
      { element, kind: element.dataset.control, name: element.dataset.name, inputs: [...element.querySelectorAll("[name]")] }));
    this.inputs = this.groups.flatMap(group => group.inputs);
    for (const group of this.groups) if (group.kind === "drag") this.plane(group);
    for (const input of form.querySelectorAll("input[type=range]")) {
      input.dataset.step = input.step;
      for (const event of ["pointerdown", "keydown"]) input.addEventListener(event, () => this.onSteps(input));
      this.unharmed(input);
    }
    for (const field of form.querySelectorAll(".lab-entry")) field.addEventListener("keydown", event => this.key(field, event));
    this.keep();
    this.start = this.values();
    form.addEventListener("submit", event => event.preventDefault());
    form.addEventListener("input", event => { if (!composing(event)) this.input(event.target); });
    form.addEventListener("compositionend", event => this.input(event.target));
    form.addEventListener("change", event => this.leave(event.target));
  }

  // ---- values

  /** The value of one native input; of a text field the last that was right. */
  value(input) {
    if (input.type === "checkbox") return input.checked;
    if (input.type === "range") return input.valueAsNumber;
    if (input.matches(".lab-entry")) return Number(input.dataset.kept);
    return input.dataset.kept ?? input.value;
  }

  values() { return this.inputs.map(input => this.value(input)); }

  /** The state as Python takes it: one entry a parameter. */
  state(values = this.values()) {
    const rest = [...values];
    return Object.fromEntries(this.groups.map(({ element, kind, name, inputs }) => {
      const own = rest.splice(0, inputs.length);
      if (kind === "drag") return [name, own];
      if (kind !== "matrix") return [name, own[0]];
      const width = Number(element.dataset.columns);
      return [name, Array.from({ length: own.length / width }, (_, row) => own.slice(row * width, (row + 1) * width))];
    }));
  }

  /** Set every native input. */
  set(values) {
    this.inputs.forEach((input, i) => this.put(input, values[i]));
    this.keep();
  }

  put(input, value) {
    if (input.type === "checkbox") input.checked = value;
    else if (input.type === "range") this.slide(input, value);
    else if (input.matches(".lab-entry")) { input.value = minus(value); input.dataset.kept = value; }
    else input.value = input.dataset.kept = value;
    input.removeAttribute("aria-invalid");
  }

  /** Remember what the fields hold, and show it on everything that mirrors them. */
  keep() {
    for (const input of this.inputs) {
      if (input.type === "range") this.mirror(input);
      else if (input.matches(".lab-entry")) input.dataset.kept = readNumber(input.value);
      else if (input.type === "text") input.dataset.kept = this.tidy(input);
    }
    for (const group of this.groups) if (group.kind === "drag") this.place(group);
  }

  // ---- what a value may be

  /** A text as a value of this input, or an Error whose message is for the reader. */
  read(input, text) {
    const group = input.closest("[data-control]");
    if (input.type === "checkbox") return { on: true, off: false }[text] ?? new Error();
    if (input.type === "range" || input.matches(".lab-entry")) {
      const field = input.type === "range" ? input.nextElementSibling : input;
      const [low, high] = range(field), number = readNumber(text);
      return number >= low && number <= high ? number + 0 : new Error(say(words.lab_refused_number, { low: minus(low), high: minus(high) }));
    }
    if (input.localName === "select") return [...input.options].some(option => option.value === text) ? text : new Error();
    if (input.maxLength >= 0 && text.length > input.maxLength) return new Error();
    if (group.dataset.control !== "tokens") return text;
    const tokens = text.split(/\s+/u).filter(Boolean), { most, longest, vocabulary } = group.dataset;
    if (!tokens.length || tokens.length > most || tokens.some(token => [...token].length > longest)) {
      return new Error(say(words.lab_refused_tokens, { most, longest }));
    }
    const unknown = vocabulary && tokens.find(token => !vocabulary.split(" ").includes(token));
    return unknown ? new Error(say(words.lab_refused_vocabulary, { word: unknown })) : tokens.join(" ");
  }

  tidy(input) { const value = this.read(input, input.value); return value instanceof Error ? input.dataset.kept : value; }

  // ---- what a reader does

  input(target) {
    if (target.type === "checkbox" || target.localName === "select") return this.changed();
    if (target.type === "range") { this.mirror(target); this.moved(target); return this.changed(); }
    const value = this.read(target, target.value);
    target.toggleAttribute("aria-invalid", value instanceof Error);
    if (value instanceof Error) target.setAttribute("aria-invalid", "true");
    if (value instanceof Error || (target.dataset.kept !== undefined && String(value) === target.dataset.kept)) return undefined;
    this.accept(target, value);
    return this.changed();
  }

  /** A right value, typed or stepped to. */
  accept(target, value) {
    target.dataset.kept = value;
    const slider = target.name ? null : target.previousElementSibling;
    if (!slider) return;
    this.slide(slider, value);
    this.spoken(slider);
    this.moved(slider);
  }

  /** A field is left: what is no value is put back. */
  leave(target) {
    if (target.type !== "text") return;
    const value = this.read(target, target.value);
    if (value instanceof Error) this.refused(value.message);
    if (target.matches(".lab-entry")) target.value = minus(target.dataset.kept);
    else if (value instanceof Error) target.value = target.dataset.kept;
    target.removeAttribute("aria-invalid");
  }

  key(field, event) {
    const steps = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!steps || composing(event) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [low, high, step] = range(field);
    const value = stepped(Number(field.dataset.kept), steps, low, high, step);
    field.value = minus(value);
    field.removeAttribute("aria-invalid");
    this.accept(field, value);
    this.changed();
  }

  // ---- sliders

  /** A typed value may lie between the steps; the slider goes back to them when it is moved. */
  slide(slider, value) {
    const [low, high, step] = range(slider.nextElementSibling);
    slider.step = stepped(value, 0, low, high, step) === value ? slider.dataset.step ?? slider.step : "any";
    slider.value = value;
  }

  /** A touch moves a slider at once; when it turns out to scroll the page, the slider goes back. */
  unharmed(slider) {
    let before = null;
    slider.addEventListener("pointerdown", event => { before = event.pointerType === "touch" ? slider.value : null; });
    slider.addEventListener("pointerup", () => { before = null; });
    slider.addEventListener("pointercancel", () => {
      if (before === null || slider.value === before) return;
      slider.value = before;
      this.input(slider);
    });
  }

  onSteps(slider) { if (slider.step === "any") slider.step = slider.dataset.step; }

  mirror(slider) {
    const field = slider.nextElementSibling, value = minus(slider.valueAsNumber);
    field.dataset.kept = slider.valueAsNumber;
    if (field !== document.activeElement || readNumber(field.value) !== slider.valueAsNumber) field.value = value;
    field.removeAttribute("aria-invalid");
    this.spoken(slider);
  }

  spoken(slider) { if (slider.dataset.unit) slider.setAttribute("aria-valuetext", `${minus(slider.valueAsNumber)} ${slider.dataset.unit}`); }

  moved(slider) {
    const group = this.groups.find(({ kind, inputs }) => kind === "drag" && inputs.includes(slider));
    if (group) this.place(group);
  }

  // ---- a point in a plane

  plane(group) {
    const plane = group.element.querySelector("[data-plane]"), handle = plane.querySelector("[data-handle]");
    Object.assign(group, { plane, handle, arrow: plane.querySelector("[data-arrow]") });
    let held = null;   // where on the handle it was taken
    const to = (x, y) => {
      const box = plane.getBoundingClientRect(), [across, along] = group.inputs.map(input => range(input.nextElementSibling));
      this.point(group, [across[0] + (x - box.left) / box.width * (across[1] - across[0]), along[1] - (y - box.top) / box.height * (along[1] - along[0])]);
    };
    // Only the handle takes the finger; a swipe anywhere else on the plane scrolls the page.
    handle.addEventListener("pointerdown", event => {
      if (event.button) return;
      const box = handle.getBoundingClientRect();
      held = [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
      handle.setPointerCapture(event.pointerId);
      event.stopPropagation();
    });
    handle.addEventListener("pointermove", event => { if (held) to(event.clientX - held[0], event.clientY - held[1]); });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) handle.addEventListener(end, () => { held = null; });
    plane.addEventListener("click", event => { if (!event.target.matches("[data-handle]")) to(event.clientX, event.clientY); });
    handle.addEventListener("keydown", event => {
      const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], PageUp: [0, 10], PageDown: [0, -10], Home: [-1e6, 0], End: [1e6, 0] }[event.key] ?? [];
      if (dx === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.point(group, group.inputs.map(input => input.valueAsNumber), [dx, dy]);
    });
  }

  point(group, values, steps = [0, 0]) {
    const before = String(group.inputs.map(input => input.valueAsNumber));
    group.inputs.forEach((input, i) => {
      const [low, high, step] = range(input.nextElementSibling);
      this.onSteps(input);
      input.value = stepped(values[i], steps[i], low, high, step);
      this.mirror(input);
    });
    if (String(group.inputs.map(input => input.valueAsNumber)) === before) return;
    this.place(group);
    this.changed();
  }

  place({ inputs, handle, arrow }) {
    const [x, y] = inputs.map(input => input.valueAsNumber), [across, along] = inputs.map(input => range(input.nextElementSibling));
    const left = `${100 * (x - across[0]) / (across[1] - across[0])}%`, top = `${100 * (along[1] - y) / (along[1] - along[0])}%`;
    Object.assign(handle.style, { left, top });
    handle.setAttribute("aria-valuenow", x);
    handle.setAttribute("aria-valuetext", `${minus(x)}, ${minus(y)}`);
    arrow?.setAttribute("x2", left);
    arrow?.setAttribute("y2", top);
  }
}
