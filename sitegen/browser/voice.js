/* The browser's voice, which may be absent, late, silent, refused or cut off, behind one object.

   Public bug reports of speech on the web made these rules: a voice of the page's language or none at all; every
   utterance short, kept from garbage collection and watched by a clock; speak() in the press itself; cancel() only for
   what we began; never pause() or resume(), which end the utterance on Android and block the queue on macOS. */

const START = 2400;   // milliseconds in which an engine must begin, else it is silent
const AGAIN = 1200;   // after which an utterance that a cancel() swallowed is handed over once more

const engine = () => (window.SpeechSynthesisUtterance && window.speechSynthesis) || null;

/** The best voice by a list of language tags in order of liking; on the device rather than over the network.
    A tag with a hyphen stands for all that begin with it; "zh" alone for itself, since zh-HK speaks another language. */
export function voiceFor(wanted) {
  const all = engine()?.getVoices() ?? [];
  for (const tag of wanted.map(tag => tag.toLowerCase())) {
    const fits = lang => lang === tag || (tag.includes("-") && lang.startsWith(`${tag}-`));
    const fitting = all.filter(v => fits(v.lang.replaceAll("_", "-").toLowerCase()));
    if (fitting.length) return fitting.find(v => v.localService) ?? fitting[0];
  }
  return null;
}

export class Voice {
  #turn = 0;          // callbacks of an earlier turn count for nothing
  #watch = 0;
  speaking = false;
  fault = "";         // why nothing is heard: "silent" or "refused"

  constructor(wanted, onchange) {
    this.wanted = wanted;
    this.onchange = () => { if (this.fault === "silent") this.fault = ""; onchange(); };
    engine()?.addEventListener?.("voiceschanged", this.onchange);
  }

  leave() {
    this.hush();
    engine()?.removeEventListener?.("voiceschanged", this.onchange);
  }

  /** There is a voice, and it has not failed. */
  get ready() { return !this.fault && voiceFor(this.wanted) !== null; }

  /** Silence, at once. */
  hush() {
    this.#turn++;
    clearTimeout(this.#watch);
    if (this.speaking) engine()?.cancel();
    this.speaking = false;
  }

  /** Speak the sentences from index `from` on; `began(i)` at each, then `done()`, or `failed()` where it cannot be. */
  say(sentences, from, rate, { began, done, failed }) {
    this.hush();
    const voice = this.ready && voiceFor(this.wanted);
    if (!voice || from >= sentences.length) return;
    const turn = ++this.#turn, mine = () => turn === this.#turn;
    const fail = fault => { this.fault = fault; this.hush(); failed(); };
    const speak = i => {
      const utterance = this.utterance = new SpeechSynthesisUtterance(sentences[i]);
      Object.assign(utterance, { voice, lang: voice.lang, rate });
      const live = () => mine() && utterance === this.utterance;
      const next = () => {
        if (!live()) return;
        clearTimeout(this.#watch);
        this.utterance = null;
        if (i + 1 < sentences.length) return speak(i + 1);
        this.speaking = false;
        done();
      };
      const stuck = () => {   // it began and never said that it ended
        if (!live()) return;
        next();
        if (!this.speaking) engine().cancel();
      };
      utterance.onstart = () => {
        if (!live()) return;
        clearTimeout(this.#watch);
        this.#watch = setTimeout(stuck, (4000 + 600 * sentences[i].length) / rate);
      };
      utterance.onend = next;
      utterance.onerror = event => { if (live()) fail(event.error === "not-allowed" ? "refused" : "silent"); };
      this.#watch = setTimeout(() => {
        if (!live()) return;
        if (!engine().speaking && !engine().pending) engine().speak(utterance);
        this.#watch = setTimeout(() => live() && fail("silent"), START - AGAIN);
      }, AGAIN);
      this.speaking = true;
      began(i);
      engine().speak(utterance);
    };
    speak(from);
  }
}
