/**
 * A part of a large network: a node, its Markov blanket, in three rows.
 *
 * @typedef {import("./network.js").Box} Box
 */

const GAP = 24, ROW = 70, MARGIN = 20, WIDE = 880;

/** The parents, children and other parents of the children of a node. @param {any} spec @param {string} name */
export function blanketOf(spec, name) {
  const own = spec.nodes.find((/** @type {Box} */ node) => node.name === name);
  const children = spec.nodes.filter((/** @type {Box} */ node) => node.parents.includes(name));
  const near = new Set([...own.parents, ...children.flatMap((/** @type {Box} */ child) => child.parents)]);
  near.delete(name);
  const below = new Set(children.map((/** @type {Box} */ child) => child.name));
  const above = spec.nodes.filter((/** @type {Box} */ node) => near.has(node.name) && !below.has(node.name));
  return { above, own, below: children };
}

/** The spec restricted to the nodes around one of them, laid out in rows. @param {any} spec @param {string} name */
export function focusOn(spec, name) {
  const { above, own, below } = blanketOf(spec, name);
  const lines = [...wrapped(above), [own], ...wrapped(below)];
  const widths = lines.map((line) =>
    line.reduce((/** @type {number} */ sum, /** @type {Box} */ node) => sum + node.width + GAP, -GAP)
  );
  const width = Math.max(...widths) + 2 * MARGIN;
  /** @type {Box[]} */
  const nodes = [];
  let top = MARGIN;
  lines.forEach((line, at) => {
    const height = Math.max(...line.map((/** @type {Box} */ node) => node.height));
    let x = (width - widths[at]) / 2;
    for (const node of line) {
      nodes.push({ ...node, x: x + node.width / 2, y: top + height / 2 });
      x += node.width + GAP;
    }
    top += height + ROW;
  });
  const place = new Map(nodes.map((node) => [node.name, node]));
  const edges = spec.edges.filter((/** @type {any} */ edge) => place.has(edge.from) && place.has(edge.to)).map((
    /** @type {any} */ edge,
  ) => ({
    ...edge,
    path: straight(/** @type {Box} */ (place.get(edge.from)), /** @type {Box} */ (place.get(edge.to))),
  }));
  return { ...spec, nodes, edges, width, height: top - ROW + MARGIN };
}

/** Nodes in lines that fit on a page. @param {Box[]} nodes @returns {Box[][]} */
function wrapped(nodes) {
  /** @type {Box[][]} */
  const lines = [];
  let room = 0;
  for (const node of nodes) {
    if ((room -= node.width + GAP) < 0) {
      lines.push([]);
      room = WIDE - node.width;
    }
    lines[lines.length - 1].push(node);
  }
  return lines;
}

/** The nodes of a shortest path between two nodes, along arcs in either direction; null if there is none. @param {any} spec @param {string} from @param {string} to @returns {string[] | null} */
export function pathTo(spec, from, to) {
  /** @type {Map<string, string | null>} */
  const before = new Map([[from, null]]);
  for (const name of before.keys()) { // the map grows during the iteration
    for (const edge of spec.edges) {
      const next = edge.from === name ? edge.to : edge.to === name ? edge.from : null;
      if (next !== null && !before.has(next)) before.set(next, name);
    }
  }
  if (!before.has(to)) return null;
  const path = [];
  for (let at = /** @type {string | null | undefined} */ (to); at; at = before.get(at)) path.unshift(at);
  return path;
}

/** @param {Box} from @param {Box} to */
function straight(from, to) {
  if (from.y === to.y) {
    const right = to.x > from.x ? 1 : -1;
    return `M${from.x + right * from.width / 2} ${from.y} L${to.x - right * to.width / 2} ${to.y}`;
  }
  const down = to.y > from.y ? 1 : -1, y0 = from.y + down * from.height / 2, y1 = to.y - down * to.height / 2;
  const half = (y1 - y0) / 2;
  return `M${from.x} ${y0} C${from.x} ${y0 + half} ${to.x} ${y1 - half} ${to.x} ${y1}`;
}

/** A description of the view. @param {any} spec @param {string} name @returns {string} */
export function nearby(spec, name) {
  const { above, below } = blanketOf(spec, name);
  return `${name} with its Markov blanket, ${above.length + below.length + 1} of ${spec.nodes.length} nodes. ` +
    "Click the name of a node to go there.";
}
