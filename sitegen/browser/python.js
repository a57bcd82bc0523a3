/* The page's side of Python: one worker for the site, newest request first, nothing that can hang.

     const python = Python.shared({ base });         // base: URL of the folder assets/runtime/<hash>/
     const stop = python.onchange(({ state, progress, error }) => …);
     const answer = await python.ask("attention_lab", { scale: 2 });   // undefined: superseded by a newer request

   `state` is idle | loading | ready | failed and stands on <html data-python>. Every rejection is a PythonError:

     code         when
     file         the page was opened from disk; workers need a web server
     unsupported  the browser lacks what `detail` names
     csp          the page's policy forbids WebAssembly or workers
     download     a file is missing or the line broke off; `detail` names the file
     damaged      a file arrived with other contents
     mime         a script has a type that browsers refuse
     stalled      nothing came for `stall` ms
     start        Python did not start; `detail` is its message
     budget       a run took longer than its budget and was stopped with its worker; Python's state is gone
     crash        the worker died
     python       the code raised: `type`, `detail` and `traceback` are Python's

   `retry()` starts again after a failure, past the browser's cache. */

export class PythonError extends Error {
  constructor(code, detail, { type = "", traceback = "" } = {}) {
    super(`${code}: ${detail}`);
    Object.assign(this, { name: "PythonError", code, detail, type, traceback });
  }
}

export class Python {
  #stall;
  #worker = null;
  #starting = null; // {promise, resolve, reject} from start to ready or failed
  #listeners = new Set();
  #waiting = new Map(); // channel -> job, in the order of asking
  #running = null;
  #id = 0;
  #attempts = 0;
  #watchdog = 0;
  #clock = 0;

  state = "idle";
  progress = null; // {stage: download | start, loaded, total} in bytes; total is 0 until it is known
  error = null;

  /** stall: milliseconds without a sign of life after which a start has failed (three times that once all is here). */
  constructor({ base, stall = 25_000 }) {
    this.base = new URL(base, document.baseURI).href;
    this.#stall = stall;
    addEventListener("pagehide", () => this.#leave());
    this.#set("idle");
  }

  /** The site's one Python. It stays on `window`, so it lives on where pages are swapped without a reload. */
  static shared(options) {
    const base = new URL(options.base, document.baseURI).href;
    if (window.sitegenPython?.base !== base) {
      window.sitegenPython?.stop();
      window.sitegenPython = new Python({ ...options, base });
    }
    return window.sitegenPython;
  }

  /** Listen to state and progress; called with this object. The function returned ends it. */
  onchange(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when Python is ready. After a failure it rejects with that failure until `retry()`. */
  start() {
    if (this.state === "failed") return Promise.reject(this.error);
    if (!this.#starting) {
      this.#starting = withResolvers();
      this.#starting.promise.catch(() => {}); // whoever waits is told; nobody needs to
      this.#launch();
    }
    return this.#starting.promise;
  }

  retry() {
    if (this.state === "failed") {
      this.#reset();
      this.#set("idle");
    }
    return this.start();
  }

  /** The entry's answer to `request` (both JSON-able), or undefined when a newer request on `channel` replaced it.

      A channel has one request in the worker and one waiting at most. With `follow`, an answer that is already being
      computed still arrives although a newer request waits, so that a slider moves along on a slow machine; answers
      come in the order of asking either way, and errors of replaced requests never come. `budget` is in milliseconds
      of the run alone, without waiting and downloading. */
  ask(channel, request, { budget = 4000, follow = false } = {}) {
    const job = { ...withResolvers(), id: ++this.#id, channel, text: JSON.stringify(request), budget, stale: false };
    job.follow = follow;
    if (this.#running?.channel === channel) {
      this.#running.stale = true;
      if (!this.#running.follow) this.#running.resolve(undefined);
    }
    this.#waiting.get(channel)?.resolve(undefined);
    this.#waiting.delete(channel); // the newest goes to the end of the queue
    this.#waiting.set(channel, job);
    if (this.state === "ready") this.#next();
    else this.start().then(() => this.#next(), (error) => this.#drop(job, error));
    return job.promise;
  }

  /** End the worker; requests under way resolve to undefined. The next `ask` starts a new one. */
  stop() {
    this.#leave();
  }

  // ---- The worker's life ----

  #launch() {
    this.progress = { stage: "download", loaded: 0, total: 0 };
    this.#set("loading");
    if (location.protocol === "file:") return this.#fail(new PythonError("file", location.href));
    for (const name of ["Worker", "WebAssembly", "DecompressionStream"]) {
      if (!(name in window)) return this.#fail(new PythonError("unsupported", name));
    }
    const url = new URL("worker.js", this.base);
    if (this.#attempts) url.search = `retry=${this.#attempts}`;
    let worker;
    try {
      worker = new Worker(url, { type: "module", name: "python" });
    } catch (error) {
      return this.#fail(new PythonError("csp", error.message));
    }
    this.#worker = worker;
    this.#watch();
    worker.onmessage = ({ data }) => { if (worker === this.#worker) this.#hear(data); };
    worker.onmessageerror = () => { if (worker === this.#worker) this.#crashed("unreadable message"); };
    worker.onerror = async (event) => {
      event.preventDefault();
      if (worker !== this.#worker) return;
      if (this.state === "ready" || event.message) return this.#crashed(event.message || "the worker ended");
      const error = await refusal(url); // an error without a message: the script itself could not be had
      if (worker === this.#worker) this.#fail(error);
    };
  }

  #hear(data) {
    if (data.progress) {
      this.progress = data.progress;
      this.#watch();
      this.#tell();
    } else if (data.ready) {
      clearTimeout(this.#watchdog);
      this.#set("ready");
      this.#starting.resolve();
    } else if (this.state === "loading" && data.failed) {
      this.#fail(new PythonError(data.failed.code, data.failed.detail));
    } else if (data.id === this.#running?.id) {
      this.#answered(data);
    }
  }

  /** Expect a sign of life. Once all bytes are here there is none until Python runs, which takes a phone a while. */
  #watch() {
    clearTimeout(this.#watchdog);
    const patience = this.progress.stage === "download" ? this.#stall : 3 * this.#stall;
    this.#watchdog = setTimeout(() => {
      const { loaded, total } = this.progress;
      const error = new PythonError("stalled", `nothing came for ${patience} ms after ${loaded} of ${total} bytes`);
      if (this.state === "loading") this.#fail(error);
      else this.#replace(error);
    }, patience);
  }

  #fail(error) {
    this.#end();
    this.error = error;
    this.#set("failed");
    this.#starting?.reject(error);
    for (const job of this.#jobs()) job.reject(error);
  }

  #crashed(detail) {
    const error = new PythonError("crash", detail);
    if (this.state === "loading") this.#fail(error);
    else this.#replace(error);
  }

  /** The running request fails with `error` and its worker ends. The next request starts a new one: at once if it
      waits already. */
  #replace(error) {
    const job = this.#running;
    this.#running = null;
    this.#reset();
    this.#set("idle");
    if (job?.stale) job.resolve(undefined);
    else job?.reject(error);
    if (this.#waiting.size) this.start().then(() => this.#next(), () => {});
  }

  #leave() {
    const jobs = this.#jobs();
    this.#end();
    this.#starting?.reject(new PythonError("crash", "the page was left"));
    this.#starting = null;
    this.error = this.progress = null;
    this.#set("idle");
    for (const job of jobs) job.resolve(undefined);
  }

  #reset() {
    this.#end();
    this.#starting = null;
    if (this.error) this.#attempts++;
    this.error = this.progress = null;
  }

  #end() {
    clearTimeout(this.#watchdog);
    clearTimeout(this.#clock);
    this.#worker?.terminate();
    this.#worker = null;
  }

  // ---- Requests ----

  #next() {
    if (this.#running || this.state !== "ready") return;
    const [job] = this.#waiting.values();
    if (!job) return;
    this.#waiting.delete(job.channel);
    this.#running = job;
    this.#worker.postMessage({ id: job.id, text: job.text });
    this.#time(job);
  }

  #time(job) {
    this.#clock = setTimeout(() => {
      this.#replace(new PythonError("budget", `stopped after ${job.budget} ms`));
    }, job.budget);
  }

  #answered({ ok, text, error, failed, waiting, crashed }) {
    const job = this.#running;
    clearTimeout(this.#clock);
    clearTimeout(this.#watchdog);
    if (waiting !== undefined) return waiting ? this.#watch() : this.#time(job);
    if (crashed !== undefined) return this.#crashed(crashed);
    this.#running = null;
    if (ok) job.resolve(JSON.parse(text));
    else if (job.stale) job.resolve(undefined);
    else if (failed) job.reject(new PythonError(failed.code, failed.detail));
    else job.reject(new PythonError("python", error.message, error));
    this.#next();
  }

  #jobs() {
    const jobs = [...this.#waiting.values(), ...(this.#running ? [this.#running] : [])];
    this.#waiting.clear();
    this.#running = null;
    return jobs;
  }

  #drop(job, error) {
    if (this.#waiting.get(job.channel) === job) this.#waiting.delete(job.channel);
    job.reject(error);
  }

  // ---- State ----

  #set(state) {
    this.state = state;
    document.documentElement.dataset.python = state;
    this.#tell();
  }

  #tell() {
    for (const listener of [...this.#listeners]) listener(this);
  }
}

/** Why a worker's script was refused: browsers do not tell the page, so ask the server. */
async function refusal(url) {
  let response;
  try {
    response = await fetch(url, { cache: "reload" });
  } catch (error) {
    return new PythonError("download", `worker.js: ${error.message}`);
  }
  if (!response.ok) return new PythonError("download", `worker.js: HTTP ${response.status}`);
  const type = response.headers.get("Content-Type") ?? "none";
  if (!/javascript|ecmascript/.test(type)) return new PythonError("mime", `worker.js: the server labels it ${type}`);
  return new PythonError("csp", "worker.js was refused by the browser");
}

function withResolvers() {
  let resolve, reject;
  const promise = new Promise((yes, no) => { [resolve, reject] = [yes, no]; });
  return { promise, resolve, reject };
}
