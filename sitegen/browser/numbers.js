/* Every number of an article answers for itself: a click, or Enter, opens its panel (panel.js, fetched for the first one
   opened). Numbers are one tab stop a paragraph, arrow keys move within. Without this script the text is just text. */
import { words } from "./words.js";

const NUMBER = "data.num[data-expr]";
const BLOCK = "p, li, dd, dt, table, h1, h2, h3, h4, h5, h6, figcaption, blockquote, summary, .quiz-option";

const computing = event => event.isComposing || event.keyCode === 229;   // an input method is choosing characters
const isOne = node => node instanceof Element && node.matches(NUMBER) && node.closest("[data-numbers]")
  && !node.closest("sim-lab, a[href]");
const numbersOf = scope => [...scope.querySelectorAll(NUMBER)].filter(isOne);
const blockOf = number => number.closest(BLOCK) ?? number.parentElement;

// ---- keyboard and pointer, for the whole page

let panel = null;

async function open(number) {
  panel ??= import("./panel.js");
  panel.catch(() => { panel = null; });                                   // the line broke off: the next click tries again
  (await panel).open(number);
}

/** Numbers are one tab stop a paragraph; arrow keys move within it. */
function step(number, key) {
  const group = numbersOf(blockOf(number)).filter(n => blockOf(n) === blockOf(number) && n.checkVisibility?.() !== false);
  const here = group.indexOf(number);
  const to = { ArrowLeft: here - 1, ArrowUp: here - 1, ArrowRight: here + 1, ArrowDown: here + 1, Home: 0, End: group.length - 1 }[key];
  if (to === undefined) return false;
  group[Math.max(0, Math.min(group.length - 1, to))].focus();
  return true;
}

document.addEventListener("click", event => {
  const number = event.target.closest?.(NUMBER);
  if (!number || !isOne(number)) return;
  const selected = getSelection();
  if (selected && !selected.isCollapsed && selected.containsNode(number, true)) return;   // the reader is copying text
  event.preventDefault();                                                                 // of a <summary> or <label>
  open(number);
});

document.addEventListener("keydown", event => {
  if (!isOne(event.target) || event.altKey || event.ctrlKey || event.metaKey || computing(event)) return;
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(event.target); }
  else if (step(event.target, event.key)) event.preventDefault();
});

document.addEventListener("focusin", event => {
  if (!isOne(event.target) || event.target.tabIndex === 0) return;
  for (const number of numbersOf(blockOf(event.target))) if (blockOf(number) === blockOf(event.target)) number.tabIndex = -1;
  event.target.tabIndex = 0;
});

/** An id from the expression and its occurrence on the page: numbers inserted elsewhere move no link. */
function name(number) {
  let hash = 0x811c9dc5;                                                  // FNV-1a
  for (const character of number.dataset.expr) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193) >>> 0;
  const short = `n-${hash.toString(36)}`;
  let occurrence = 1;
  while (document.getElementById(occurrence > 1 ? `${short}-${occurrence}` : short)) occurrence++;
  number.id = occurrence > 1 ? `${short}-${occurrence}` : short;
}

/** Ids for all numbers inside `scope`, those of options too, while they stand in the order of the page. */
export function identify(scope) {
  for (const number of scope.querySelectorAll("data[data-expr]:not([id])")) if (number.closest("[data-numbers]")) name(number);
}

/** Make the numbers inside `scope` focusable; again for what is added later. */
export function prepare(scope = document) {
  if (!("popover" in HTMLElement.prototype)) return;                   // an old browser: text stays text
  identify(scope);
  const blocks = new Set();
  for (const number of numbersOf(scope)) {
    const block = blockOf(number);
    number.setAttribute("role", "button");
    number.setAttribute("aria-haspopup", "dialog");
    number.setAttribute("aria-description", words.number_hint);
    number.tabIndex = blocks.has(block) ? -1 : 0;
    blocks.add(block);
  }
}

function follow(hash) {
  let id;
  try { id = decodeURIComponent(hash.slice(1)); } catch { return; }
  const number = id.startsWith("n-") ? document.getElementById(id) : null;
  if (!number || !isOne(number)) return;
  for (let around = number.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  number.scrollIntoView({ block: "center" });
  open(number);
}

function arrive() {
  panel?.then(({ left }) => left(), () => {});
  prepare();
  follow(location.hash);
}

addEventListener("hashchange", () => follow(location.hash));
// Material swaps pages without a load and says so on document$, which also tells of the page that is there now.
if (window.document$) window.document$.subscribe(arrive);
else arrive();
