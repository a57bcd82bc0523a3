/* <step-player>: an explainer. The numbered list of frames and captions in the page is all its data; without this
   script it is read as a list. Nothing moves before the reader asks; the clock follows the voice where there is one and
   the speed of reading where there is none. What is shown is a function of `time` alone, so it can be scrubbed. */
import { transition } from "./tween.js";
import { Voice, voiceFor } from "./voice.js";
import { words } from "./words.js";

const CHANGE = 0.9;   // seconds a change of frame takes
const SPEEDS = [0.75, 1, 1.25, 1.5, 2];
const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const say = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function stored(name, value) {   // storage may be blocked, and then throws
  try {
    if (value === undefined) return localStorage.getItem(`step-player-${name}`);
    localStorage.setItem(`step-player-${name}`, value);
  } catch { /* it just is not remembered */ }
  return null;
}

class StepPlayer extends HTMLElement {
  static playing = null;   // one player at a time

  connectedCallback() {
    if (!this.steps) this.#build();
    this.leaving = new AbortController();
    const listen = (target, type, act) => target.addEventListener(type, act, { signal: this.leaving.signal });
    listen(document, "visibilitychange", () => document.hidden && this.pause());
    listen(window, "pagehide", () => this.pause());
    listen(reduced, "change", () => this.draw());
    this.voice = new Voice(words.player_voices.split(" "), () => this.show());
    this.dataset.state = "ready";
    this.draw();
  }

  disconnectedCallback() {
    this.pause();
    this.voice.leave();
    this.leaving.abort();
  }

  #build() {
    this.steps = [...this.querySelectorAll("[data-step]")].map(item => ({
      item, frame: item.querySelector("svg"), caption: item.querySelector("p"),
      seconds: +item.dataset.seconds, sentences: JSON.parse(item.dataset.say),
    }));
    this.starts = this.steps.reduce((starts, step) => [...starts, starts.at(-1) + step.seconds], [0]);
    this.total = this.starts.at(-1);
    const find = name => this.querySelector(name);
    [this.screen, this.range, this.counter, this.note, this.live] =
      [".player-screen", "input[type=range]", ".player-count", ".player-note", ".player-live"].map(find);
    this.buttons = Object.fromEntries([...this.querySelectorAll("button[data-act]")].map(b => [b.dataset.act, b]));
    this.stage = this.steps[0].frame.cloneNode(false);
    this.stage.classList.add("player-stage");
    this.screen.append(this.stage);
    this.terms = find(".player-terms");
    this.time = CHANGE;
    this.at = -1;
    this.sentence = 0;
    this.speed = SPEEDS.find(s => s === +stored("speed")) ?? 1;
    this.talk = stored("voice") !== "off";
    this.range.max = this.total;

    const acts = {
      play: () => (this.playing ? this.pause() : this.play()),
      prev: () => this.go(this.at - 1),
      next: () => this.go(this.at + 1),
      speed: () => this.setSpeed(SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length]),
      voice: () => this.setTalk(!(this.talk && this.voice.ready)),
      full: () => { this.full = !this.full; this.show(); },
    };
    for (const [name, act] of Object.entries(acts)) this.buttons[name].addEventListener("click", act);
    this.range.addEventListener("input", () => { this.scrubbing = true; this.seek(+this.range.value); });
    for (const type of ["change", "pointerup", "pointercancel", "blur"]) {
      this.range.addEventListener(type, () => { if (this.scrubbing) { this.scrubbing = false; this.narrate(); } });
    }
    this.addEventListener("keydown", event => this.#key(event, acts));
  }

  #key(event, acts) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.target.closest("p")) return;
    const act = {
      ArrowRight: acts.next, ArrowLeft: acts.prev, Home: () => this.go(0), End: () => this.go(this.steps.length - 1),
      k: acts.play, " ": event.target.closest("button") ? null : acts.play,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  // ---- asked by the reader

  play() {
    if (this.time >= this.total - 0.01) this.#jump(0);
    if (StepPlayer.playing !== this) StepPlayer.playing?.pause();
    StepPlayer.playing = this;
    this.playing = true;
    this.resting = 0;
    if (this.voice.fault === "refused") this.voice.fault = "";
    this.clock = performance.now();
    this.draw();
    this.narrate();   // here, in the press itself: browsers refuse a voice that starts later
    this.#tick();
  }

  pause() {
    if (StepPlayer.playing === this) StepPlayer.playing = null;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.voice.hush();
    this.show();
  }

  /** To a step, by hand: while playing go on from its start; else show the change and rest. */
  go(step) {
    step = clamp(step, 0, this.steps.length - 1);
    const rest = Math.min(this.starts[step] + CHANGE, this.starts[step + 1] - 0.05);
    const glide = !this.playing && step === this.at + 1 && !reduced.matches;
    this.#jump(this.playing || glide ? this.starts[step] : rest);
    this.resting = glide ? rest : 0;
    this.draw();
    this.narrate();
    if (glide) { this.clock = performance.now(); this.#tick(); }
  }

  seek(time) {
    this.#jump(clamp(time, 0, this.total));
    this.draw();
  }

  #jump(time) {
    this.voice.hush();
    this.sentence = 0;
    this.resting = 0;
    this.time = time;
  }

  setSpeed(speed) {
    this.speed = speed;
    stored("speed", speed);
    this.narrate();
    this.show();
  }

  setTalk(talk) {
    this.talk = talk;
    stored("voice", talk ? "on" : "off");
    this.voice.hush();
    this.voice.fault = "";
    this.narrate();
    this.show();
  }

  // ---- voice and clock

  /** Speak the step from the sentence it has come to. */
  narrate() {
    this.spoken = this.at;
    if (!this.playing || !this.talk) return;
    const step = this.at;
    this.voice.say(this.steps[step].sentences, this.sentence, this.speed, {
      began: i => { this.sentence = i; },
      done: () => {
        this.sentence = this.steps[step].sentences.length;
        this.time = Math.max(this.time, this.starts[step + 1] - 0.35 * this.speed);   // a breath, then on
      },
      failed: () => this.show(),
    });
    this.show();
  }

  #tick() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(now => {
      if (!this.playing && !this.resting) return;
      const passed = clamp((now - this.clock) / 1000, 0, 0.1) * (this.playing ? this.speed : 1);
      this.clock = now;
      if (this.scrubbing) return this.#tick();
      const edge = this.starts[this.at + 1] - 0.02;
      this.time += passed;
      if (this.voice.speaking) this.time = Math.min(this.time, Math.max(edge, this.time - passed));   // wait for the voice
      if (this.resting && this.time >= this.resting) { this.time = this.resting; this.resting = 0; }
      this.draw();
      if (this.playing && this.spoken !== this.at) { this.sentence = 0; this.narrate(); }
      if (this.time >= this.total) this.pause();
      else this.#tick();
    });
  }

  // ---- on the screen

  draw() {
    this.time = clamp(this.time, 0, this.total);
    const step = Math.min(this.starts.findLastIndex(start => start <= this.time + 1e-6), this.steps.length - 1);
    if (step !== this.at) {
      const first = this.at < 0;
      this.at = step;
      this.change = transition(this.steps[step - 1]?.frame, this.steps[step].frame);
      this.stage.replaceChildren(...this.change.nodes);
      this.steps.forEach(({ item }, i) => item.classList.toggle("current", i === step));
      this.dataset.current = step + 1;
      const strong = [...this.steps[step].caption.querySelectorAll("strong")].map(s => s.textContent);
      this.terms.textContent = strong.join(" · ");
      this.full = false;
      if (!first && !(this.playing && this.talk && this.voice.ready)) {   // the voice says it already
        this.live.textContent = `${this.#place()} ${this.steps[step].caption.textContent}`;
      }
    }
    const still = reduced.matches || step === 0;
    this.change.at(still ? 1 : clamp((this.time - this.starts[step]) / CHANGE, 0, 1));
    this.range.value = this.time;
    this.range.style.setProperty("--done", `${(100 * this.time) / this.total}%`);
    this.show();
  }

  #place() { return say(words.player_place, { step: this.at + 1, steps: this.steps.length }); }

  show() {
    const last = this.steps.length - 1, voiced = this.talk && this.voice.ready;
    const label = (name, text) => { this.buttons[name].ariaLabel = text; };
    const ended = this.time >= this.total - 0.01;
    this.dataset.playing = Boolean(this.playing);
    label("play", this.playing ? words.player_pause : ended ? words.player_again : words.player_play);
    this.buttons.prev.ariaDisabled = this.at === 0;
    this.buttons.next.ariaDisabled = this.at === last;
    this.buttons.speed.textContent = `${this.speed}×`;
    label("speed", say(words.player_speed, { speed: this.speed }));
    const there = voiceFor(this.voice.wanted) !== null;
    this.buttons.voice.disabled = !there;
    this.buttons.voice.ariaPressed = voiced;
    label("voice", there ? words.player_voice : words.player_no_voice);
    const note = !there ? words.player_no_voice : this.voice.fault ? words[`player_${this.voice.fault}`] : words.player_voices_differ;
    if (this.note.textContent !== note) this.note.textContent = note;
    const brief = Boolean(this.playing && voiced && this.terms.textContent);   // key terms while the voice speaks
    this.terms.hidden = !brief || Boolean(this.full);
    this.dataset.terms = !this.terms.hidden;
    this.buttons.full.style.visibility = brief ? "" : "hidden";
    this.buttons.full.ariaPressed = Boolean(this.full);
    this.counter.textContent = `${this.at + 1} / ${this.steps.length}`;
    if (this.range.getAttribute("aria-valuetext") !== this.#place()) this.range.setAttribute("aria-valuetext", this.#place());
  }
}

customElements.define("step-player", StepPlayer);
