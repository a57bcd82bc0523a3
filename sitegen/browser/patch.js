/* Element trees ["tag", {attributes}, child, …] into the page, changing only what differs,
   so that focus, selection and a drag in progress survive. Text is set as text. */
const SVG = "http://www.w3.org/2000/svg";

function create(tree, inSvg) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const svg = inSvg || tree[0] === "svg";
  const node = svg ? document.createElementNS(SVG, tree[0]) : document.createElement(tree[0]);
  return patch(node, tree, svg);
}

function fits(node, tree) {
  return typeof tree === "string" ? node.nodeType === Node.TEXT_NODE
    : node.nodeType === Node.ELEMENT_NODE && node.localName === tree[0];
}

export function patch(node, tree, svg = node.namespaceURI === SVG) {
  if (typeof tree === "string") {
    if (node.data !== tree) node.data = tree;
    return node;
  }
  const [, attributes, ...children] = tree;
  for (const name of node.getAttributeNames()) if (!(name in attributes)) node.removeAttribute(name);
  for (const [name, value] of Object.entries(attributes)) {
    if (!/^on/i.test(name) && node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  children.forEach((child, i) => {
    const old = node.childNodes[i];
    if (!old) node.append(create(child, svg));
    else if (fits(old, child)) patch(old, child, svg);
    else old.replaceWith(create(child, svg));
  });
  while (node.childNodes.length > children.length) node.lastChild.remove();
  return node;
}
