/* From one frame to the next: what has the same key moves, its numbers count; what is new fades in, the rest fades out.
   A transition is a pure function of t from 0 to 1, so that it can be played, scrubbed and left anywhere. */

const NUMBER = /-?\d+(?:\.\d+)?/g;
const clamp = (x, low = 0, high = 1) => Math.min(high, Math.max(low, x));
const eased = t => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);
const moving = t => eased(clamp((t - 0.1) / 0.8));
const decimals = number => (number.split(".")[1] ?? "").length;

/** "M0 0L10 0" and "M0 5L20 0" give t => text; texts of different shape change over half way. */
export function between(a, b, places = 0) {
  if (a === b) return () => b;
  const from = a.match(NUMBER) ?? [], to = b.match(NUMBER) ?? [];
  if (!to.length || from.length !== to.length || a.replace(NUMBER, "#") !== b.replace(NUMBER, "#")) {
    return t => (t < 0.5 ? a : b);
  }
  return t => {
    if (t <= 0) return a;
    if (t >= 1) return b;
    let i = 0;
    return b.replace(NUMBER, n => {
      const value = +from[i] + (n - from[i++]) * t;
      return value.toFixed(Math.max(places, decimals(n))).replace(/^-(?=0(\.0*)?$)/, "");
    });
  };
}

const plain = text => text.replaceAll("−", "-");

/** { nodes, at(t) }: the elements to paint, copies of both frames', and the function that places them. */
export function transition(before, after) {
  const keyed = frame => new Map(frame ? [...frame.querySelectorAll("[data-k]")].map(n => [n.dataset.k, n]) : []);
  const old = keyed(before), next = keyed(after), nodes = [], setters = [];
  const fade = (node, opacity) => setters.push(t => {
    const shown = Math.round(opacity(t) * 1000) / 1000;
    node.setAttribute("opacity", shown);
    node.style.display = shown ? "" : "none";
  });
  for (const [key, node] of old) {
    if (next.has(key)) continue;
    const copy = node.cloneNode(true);
    nodes.push(copy);
    fade(copy, t => 1 - clamp(t / 0.35));
  }
  for (const [key, node] of next) {
    const copy = node.cloneNode(true), was = old.get(key);
    nodes.push(copy);
    if (was?.tagName !== node.tagName) {
      if (before) fade(copy, t => clamp((t - 0.55) / 0.45));
      continue;
    }
    for (const name of new Set([...was.getAttributeNames(), ...node.getAttributeNames()])) {
      const usual = name === "fill-opacity" ? "1" : "";
      const a = was.getAttribute(name) ?? usual, b = node.getAttribute(name) ?? usual;
      if (a === b) continue;
      const value = name === "class" ? t => (t < 0.5 ? a : b) : between(a, b, 1);
      setters.push(t => copy.setAttribute(name, value(moving(t))));
    }
    if (was.textContent !== node.textContent) {
      const value = between(plain(was.textContent), plain(node.textContent));
      const signed = /−/.test(was.textContent + node.textContent);   // a plain hyphen in a name stays one
      setters.push(t => { const text = value(moving(t)); copy.textContent = signed ? text.replaceAll("-", "−") : text; });
    }
  }
  return { nodes, at: t => setters.forEach(set => set(t)) };
}
