/* A lab's state in the page's address, as ?lab.parameter=value: a link leads to what its sender saw. The hash belongs to
   headings and numbers. What is wrong there is ignored; other parts of the query are left alone. */

const text = value => value === true ? "on" : value === false ? "off" : String(value);

const key = (lab, { name }) => `${lab}.${name}`;

/** The values that the address gives, in the order of the native inputs; null where it says nothing of this lab. */
export function fromAddress(lab, controls) {
  const query = new URLSearchParams(location.search);
  let found = false;
  const values = controls.groups.flatMap(group => {
    const now = group.inputs.map(input => controls.value(input)), given = query.get(key(lab, group));
    if (given === null || given.length > 2000) return now;
    const parts = group.inputs.length > 1 ? given.split("_") : [given];
    const read = group.inputs.map((input, i) => controls.read(input, parts[i] ?? ""));
    if (parts.length !== group.inputs.length || read.some(value => value instanceof Error)) return now;
    found = true;
    return read;
  });
  return found ? values : null;
}

/** Put the state into the address: only what differs from the start, without a new entry in the history. */
export function toAddress(lab, controls) {
  const url = new URL(location.href), values = controls.values(), start = [...controls.start];
  const rest = [...values];
  for (const group of controls.groups) {
    const now = rest.splice(0, group.inputs.length).map(text), was = start.splice(0, group.inputs.length).map(text);
    if (now.join("_") === was.join("_")) url.searchParams.delete(key(lab, group));
    else url.searchParams.set(key(lab, group), now.join("_"));
  }
  if (url.href === location.href) return;
  try {
    history.replaceState(history.state, "", url);   // its state is the theme's: where the page was scrolled to
  } catch { /* browsers refuse too many at once, and any on a page from disk */ }
}
