/* A speech engine for tests, with the faults of public bug reports. `config`:
   voices       [lang, …] of the voices
   appear       "at once" | "late" (with event) | "unannounced" (no event) | "twice" | "never"; late is `after` milliseconds
   behaviour    "speaks" | "silent" (no callback ever) | "endless" (starts, never ends) | "refuses" (not-allowed) | "absent"
   pace         milliseconds a character takes
   pauseEnds    pause() ends the utterance, as on Android */
(config => {
  const log = (window.speechLog = []);
  if (config.behaviour === "absent") {
    delete window.speechSynthesis;
    delete window.SpeechSynthesisUtterance;
    Object.defineProperty(window, "speechSynthesis", { value: undefined });
    Object.defineProperty(window, "SpeechSynthesisUtterance", { value: undefined });
    return;
  }
  class Utterance { constructor(text) { this.text = text; } }
  const engine = new EventTarget();
  const all = config.voices.map((lang, i) => ({ lang, name: `voice ${i}`, localService: true }));
  let voices = config.appear === "at once" ? all : [], queue = [], timer = 0;
  const announce = () => engine.dispatchEvent(new Event("voiceschanged"));
  if (config.appear !== "at once" && config.appear !== "never") {
    setTimeout(() => {
      voices = all;
      if (config.appear !== "unannounced") announce();
      if (config.appear === "twice") setTimeout(announce, 50);
    }, config.after);
  }
  const run = () => {
    const u = queue[0];
    if (!u || config.behaviour === "silent") return;
    timer = setTimeout(() => {
      if (config.behaviour === "refuses") { queue.shift(); u.onerror?.({ error: "not-allowed" }); return run(); }
      u.onstart?.({});
      if (config.behaviour === "endless") return;
      timer = setTimeout(() => { queue.shift(); u.onend?.({}); run(); }, (config.pace * u.text.length) / u.rate);
    }, 30);
  };
  const cancel = () => {
    clearTimeout(timer);
    const cut = queue;
    queue = [];
    setTimeout(() => cut.forEach(u => u.onerror?.({ error: "canceled" })), 5);   // late, as browsers do
  };
  Object.defineProperties(engine, {
    speaking: { get: () => queue.length > 0 && config.behaviour !== "silent" },
    pending: { get: () => queue.length > 1 },
  });
  Object.assign(engine, {
    getVoices: () => voices,
    speak(u) {
      log.push({ call: "speak", text: u.text, lang: u.lang, voice: u.voice?.lang, rate: u.rate, gesture: navigator.userActivation.isActive,
                 inPress: Boolean(window.event && /click|key|change|input|pointer/.test(window.event.type)) });
      queue.push(u);
      if (queue.length === 1) run();
    },
    cancel() { log.push({ call: "cancel" }); cancel(); },
    pause() { log.push({ call: "pause" }); if (config.pauseEnds) cancel(); },
    resume() { log.push({ call: "resume" }); },
  });
  Object.defineProperty(window, "speechSynthesis", { value: engine });
  Object.defineProperty(window, "SpeechSynthesisUtterance", { value: Utterance });
})
