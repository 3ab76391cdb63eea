/**
 * The active paths of a network: the arcs along which evidence affects the target, given the known nodes.
 *
 * @param {{name: string, parents: string[]}[]} nodes
 * @param {string} target
 * @param {Set<string>} known
 * @returns {{nodes: Set<string>, arcs: Set<string>}} the reached nodes and arcs, an arc as `parent\0child`
 */
export function openPaths(nodes, target, known) {
  const parents = new Map(nodes.map((node) => [node.name, node.parents]));
  /** @type {Map<string, string[]>} */
  const children = new Map(nodes.map((node) => [node.name, []]));
  for (const node of nodes) for (const parent of node.parents) children.get(parent)?.push(node.name);
  const above = new Set(known); // known nodes and their ancestors: a collider among them is open
  const waiting = [...known];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const parent of parents.get(name) ?? []) {
      if (!above.has(parent)) {
        above.add(parent);
        waiting.push(parent);
      }
    }
  }
  /** @type {[string, boolean][]} a node, and whether it was reached from a child */
  const queue = [[target, true]];
  const seen = new Set(), reached = new Set(), arcs = new Set();
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [name, fromChild] = next, key = `${name}\0${fromChild}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (!known.has(name)) reached.add(name);
    const up = fromChild ? !known.has(name) : above.has(name), down = !known.has(name);
    if (up) {
      for (const parent of parents.get(name) ?? []) {
        arcs.add(`${parent}\0${name}`);
        queue.push([parent, true]);
      }
    }
    if (down) {
      for (const child of children.get(name) ?? []) {
        arcs.add(`${name}\0${child}`);
        queue.push([child, false]);
      }
    }
  }
  return { nodes: reached, arcs };
}
