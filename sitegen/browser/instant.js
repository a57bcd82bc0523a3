/* A lab's table of answers computed at build (sitegen/instant.py tells its form): the tree of a state without Python,
   at once, and only of states that are in it. */

/** The table at this address. */
export async function fetchInstant(url) {
  const response = await fetch(url, { cache: "force-cache" });   // its name is a hash: any copy is good
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const plain = response.body.pipeThrough(new DecompressionStream("gzip"));
  return new Instant(await new Response(plain).arrayBuffer());
}

export class Instant {
  constructor(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    Object.assign(this, JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))));
    this.bytes = new DataView(buffer, 4 + length);
    this.places = this.axes.map(values => new Map(values.map((value, place) => [value, place])));
  }

  /** The tree of a state, given the values of the native inputs in their order; undefined if it is not in the table. */
  tree(values) {
    const at = values.map((value, axis) => this.places[axis]?.get(value));
    if (at.length !== this.axes.length || at.includes(undefined)) return undefined;
    const place = this.whole ? at : this.alongAxes(at);
    if (!place) return undefined;
    if (this.template === null) return this.filled(this.templates[0], place);
    const column = this.columns[this.template];
    return this.filled(this.templates[this.number(column, place)], place);
  }

  /** The place of a state in the list: the start, then what differs from it in one input. */
  alongAxes(at) {
    const different = at.flatMap((place, axis) => place === this.start[axis] ? [] : [axis]);
    if (!different.length) return [0];
    if (different.length > 1) return undefined;
    const [axis] = different;
    const before = this.axes.slice(0, axis).reduce((sum, values) => sum + values.length - 1, 1);
    return [before + at[axis] - (at[axis] > this.start[axis])];
  }

  number({ values, sides, at }, place) {
    const index = sides.reduce((sum, side, axis) => sum * side + (side === 1 ? 0 : place[axis]), 0);
    return values.length > 256 ? this.bytes.getUint16(at + 2 * index, true) : this.bytes.getUint8(at + index);
  }

  filled(tree, place) {
    const text = cell => typeof cell === "number" ? this.columns[cell].values[this.number(this.columns[cell], place)] : cell;
    if (!Array.isArray(tree)) return text(tree);
    const [tag, attributes, ...children] = tree;
    const named = Object.entries(attributes).map(([name, value]) => [name, text(value)]);
    return [tag, Object.fromEntries(named), ...children.map(child => this.filled(child, place))];
  }
}
