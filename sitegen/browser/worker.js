/* Python in a module worker: fetches the packs beside this file, starts Pyodide, answers requests.

   main -> worker  {id, text}                          text: JSON for the entry function
   worker -> main  {progress: {stage, loaded, total}}  bytes as they cross the network; stage: download | start
                   {ready: true}  or  {failed: {code, detail}}, once
                   {id, ok: true, text}  or  {id, ok: false, error: {type, message, traceback}}
                   {id, waiting: true|false}           the request waits for a later pack; its clock should stop
                   {id, failed: {code, detail}}        a later pack could not be had; the worker goes on
                   {id, crashed: detail}               this worker is of no more use

   Everything is fetched from this file's own folder and from the base, whose names are hashes of their contents, so
   versions cannot mix and any cached copy is good. Only public API of Pyodide is used. Nothing needs eval, blob: or inline code: the
   policy `script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'` is enough. */

const here = new URL("./", import.meta.url);
const base = new URL("./"/* the base */, here); // written by the build: the folder with Pyodide and NumPy
const own = new Set(["manifest.json", "project.pack"]); // beside this file, with a pack for each lesson; the rest is in the base
const address = (name) => new URL(name, own.has(name) ? here : base);
const retry = new URL(import.meta.url).search !== ""; // asked again after a failure: do not trust the cache
const cache = retry ? "reload" : "force-cache";
const LINES = 200; // of printed output in one run; an endless loop must not fill the console

class Failure extends Error {
  constructor(code, detail) {
    super(detail);
    Object.assign(this, { code, detail });
  }
}

// ---- Downloads ----

const networkFetch = self.fetch.bind(self);
let loaded = 0;
let total = 0; // until the manifest is here
let reported = 0;
const cutOff = new Map(); // name -> what the network said

function report(stage, bytes = 0, always = false) {
  loaded += bytes;
  const now = performance.now();
  if (!always && now - reported < 40) return;
  reported = now;
  postMessage({ progress: { stage, loaded, total } });
}

async function request(name, mode = cache) {
  let response;
  try {
    response = await networkFetch(address(name), { cache: mode, credentials: "same-origin" });
  } catch (error) {
    throw new Failure("download", `${name}: ${error.message}`);
  }
  if (response.ok) return response;
  if (mode !== "reload") return request(name, "reload"); // browsers keep a 404 too
  throw new Failure("download", `${name}: HTTP ${response.status}`);
}

/** A pack's contents as a Response, decompressed while it arrives; the type is ours, whatever the server says. */
async function contents(name, type = "application/octet-stream") {
  const reader = (await request(name)).body.getReader();
  const arriving = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        report("download", value.byteLength);
        controller.enqueue(value);
      } catch (error) {
        cutOff.set(name, error.message); // later errors do not tell the line's fault from the file's
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const plain = arriving.pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain, { headers: { "Content-Type": type } });
}

async function bytes(name) {
  try {
    return new Uint8Array(await (await contents(name)).arrayBuffer());
  } catch (error) {
    throw broken(name, error);
  }
}

function broken(name, error) {
  if (error instanceof Failure) return error;
  if (cutOff.has(name)) return new Failure("download", `${name}: ${cutOff.get(name)}`);
  return new Failure("damaged", `${name}: ${error.message}`);
}

/** Import a script of this folder; if that fails, ask the server why. */
async function script(name) {
  try {
    return await import(address(name));
  } catch (error) {
    const response = await request(name);
    const type = response.headers.get("Content-Type") ?? "none";
    if (!/javascript|ecmascript/.test(type)) throw new Failure("mime", `${name}: the server labels it ${type}`);
    throw new Failure("start", `${name}: ${error.message}`);
  }
}

// ---- Start ----

function check() {
  for (const name of ["WebAssembly", "DecompressionStream"]) {
    if (!(name in self)) throw new Failure("unsupported", name);
  }
  try {
    new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)); // the shortest module there is
  } catch (error) {
    throw new Failure("csp", error.message);
  }
}

/** Write a pack (its form is told in runtime.py) into Pyodide's files. */
function unpack(pack, FS) {
  const view = new DataView(pack.buffer, pack.byteOffset);
  let start = 4 + view.getUint32(0, true);
  const folders = new Set();
  for (const [path, size] of JSON.parse(new TextDecoder().decode(pack.subarray(4, start)))) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!folders.has(folder)) FS.mkdirTree(folder);
    folders.add(folder);
    FS.writeFile(path, pack.subarray(start, start + size), { canOwn: true });
    start += size;
  }
}

/** Answer what Pyodide fetches by itself from what is already on its way. */
function serve(answers) {
  self.fetch = (input, init) => {
    const { href } = new URL(input?.url ?? input, base);
    const name = href.startsWith(base.href) ? href.slice(base.href.length) : "";
    return answers[name]?.() ?? networkFetch(input, init);
  };
}

/** Compiling begins with the first bytes of the download, long before Pyodide is there to ask for it. */
function compile() {
  const compiled = contents("wasm.pack", "application/wasm")
    .then((response) => WebAssembly.compileStreaming(response))
    .catch((error) => { throw broken("wasm.pack", error); });
  const streaming = WebAssembly.instantiateStreaming;
  WebAssembly.instantiateStreaming = async (_, imports) => {
    WebAssembly.instantiateStreaming = streaming; // this once
    const module = await compiled;
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
  return compiled;
}

let pyodide, python, settings;
let lines = 0;
const print = (line) => { if (lines++ < LINES) console.log(line); };

async function start() {
  check();
  report("download", 0, true);
  const manifest = request("manifest.json").then((response) => response.json());
  const measured = manifest.then(({ sizes }) => {
    total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
    report("download", 0, true);
    return sizes;
  });
  const arrives = async (name) => {
    const module = await script(name);
    report("download", (await measured)[name]);
    return module;
  };
  const compiled = compile();
  const stdlib = bytes("stdlib.pack");
  const packs = Promise.all([bytes("numpy.pack"), bytes("project.pack")]);
  const scripts = Promise.all([arrives("pyodide.js"), arrives("pyodide.asm.js")]);

  const launched = (async () => {
    settings = await manifest;
    for (const pack of settings.later) if (pack.own) own.add(pack.file);
    const [{ loadPyodide }] = await scripts;
    serve({
      "pyodide.asm.wasm": async () => new Response(), // `compile` has it
      [settings.stdlib]: async () => new Response(await stdlib),
      "lock.json": async () => new Response(JSON.stringify(settings.lock)),
    });
    return loadPyodide({
      indexURL: base.href,
      stdLibURL: new URL(settings.stdlib, base).href,
      lockFileURL: new URL("lock.json", base).href,
      stdout: print,
      stderr: print,
    });
  })();
  Promise.all([compiled, stdlib, packs, scripts]).then(() => report("start", 0, true), () => {});
  // Pyodide keeps silent for ever if one of its own files fails, so they are waited for by themselves.
  const [, , [numpy, project], , instance] = await Promise.all([compiled, stdlib, packs, scripts, launched]);
  pyodide = instance;
  unpack(numpy, pyodide.FS);
  unpack(project, pyodide.FS);
  pyodide.runPython(`import sys; sys.path.insert(0, "${settings.project}")`);
  python = pyodide.pyimport("_boot");
  const later = Object.fromEntries(settings.later.map(({ module, name }) => [module, name]));
  python.prepare(JSON.stringify({ later, absent: settings.absent }));
  const said = await settled(() => python.load(settings.entry));
  if (said[0] === "!") throw new Failure("start", JSON.parse(said.slice(1)).traceback);
}

/** Call into Python; when it asks for packs that are not here yet, fetch them and call again. */
async function settled(call, waiting = () => {}) {
  for (;;) {
    const said = call();
    if (said[0] !== "+") return said;
    waiting(true);
    await fetchLater(JSON.parse(said.slice(1)));
    waiting(false);
  }
}

async function fetchLater(names) {
  for (const name of names) {
    const { file, size } = settings.later.find((pack) => pack.name === name);
    [loaded, total] = [0, size];
    report("download", 0, true);
    unpack(await bytes(file), pyodide.FS);
    python.arrived(name);
  }
}

// ---- Requests ----

async function answer({ id, text }) {
  lines = 0;
  const said = await settled(() => python.run(text), (waiting) => postMessage({ id, waiting }));
  if (said[0] === "=") return { id, ok: true, text: said.slice(1) };
  return { id, ok: false, error: JSON.parse(said.slice(1)) };
}

const started = start();
started.then(
  () => postMessage({ ready: true }),
  (error) => {
    const { code = "start", detail = String(error?.stack ?? error) } = error instanceof Failure ? error : {};
    postMessage({ failed: { code, detail } });
  },
);

self.onmessage = async ({ data }) => {
  await started;
  try {
    postMessage(await answer(data));
  } catch (error) {
    const { id } = data;
    if (error instanceof Failure) postMessage({ id, failed: { code: error.code, detail: error.detail } });
    else postMessage({ id, crashed: String(error?.message ?? error) }); // Pyodide itself has died
  }
};
