/** The elimination order of the variables of a network, which determines the size of the tables. */

const MOST_TRIED = 300; // variables; with more, only one rule is tried

/** The number of cells of a table of some variables. @param {Iterable<number>} vars @param {number[]} cards */
export function cells(vars, cards) {
  let size = 1;
  for (const each of vars) size *= cards[each];
  return size;
}

/** The neighbours of each variable: those that share a table with it. @param {number[][]} scopes @returns {Map<number, Set<number>>} */
export function neighbours(scopes) {
  const near = new Map();
  for (const scope of scopes) {
    for (const each of scope) {
      if (!near.has(each)) near.set(each, new Set());
      for (const other of scope) if (other !== each) near.get(each).add(other);
    }
  }
  return near;
}

/** Eliminate a variable: its neighbours become adjacent; returns the scope of its bucket. @param {Map<number, Set<number>>} near @param {number} variable @returns {number[]} */
export function eliminated(near, variable) {
  const around = [...(near.get(variable) ?? [])];
  near.delete(variable);
  for (const each of around) {
    const own = /** @type {Set<number>} */ (near.get(each));
    own.delete(variable);
    for (const other of around) if (other !== each) own.add(other);
  }
  return [variable, ...around].sort((a, b) => a - b);
}

/** The weighted number of fill-in pairs of a variable. @param {Map<number, Set<number>>} near @param {number} variable @param {(one: number, other: number) => number} weight */
function fillIn(near, variable, weight) {
  const around = [...(near.get(variable) ?? [])];
  let sum = 0;
  around.forEach((one, at) => {
    const own = /** @type {Set<number>} */ (near.get(one));
    for (let other = 0; other < at; other++) if (!own.has(around[other])) sum += weight(one, around[other]);
  });
  return sum;
}

/** The best elimination order of three rules: min-size, min-fill and weighted min-fill. @param {number[][]} scopes @param {number[]} cards @returns {number[]} */
export function bestOrder(scopes, cards) {
  /** @type {((near: Map<number, Set<number>>, variable: number) => number)[]} */
  const rules = [
    (near, variable) => cells(near.get(variable) ?? [], cards) * cards[variable],
    (near, variable) => fillIn(near, variable, () => 1),
    (near, variable) => fillIn(near, variable, (one, other) => cards[one] * cards[other]),
  ];
  /** @type {number[]} */
  let best = [];
  let least = Infinity;
  for (const rule of cards.length > MOST_TRIED ? rules.slice(0, 1) : rules) {
    const near = neighbours(scopes), order = [];
    let total = 0;
    while (near.size) {
      let variable = -1, lowest = Infinity;
      for (const each of near.keys()) {
        const own = rule(near, each);
        if (own < lowest) [lowest, variable] = [own, each];
      }
      order.push(variable);
      total += cells(eliminated(near, variable), cards);
    }
    if (total < least) [least, best] = [total, order];
  }
  return best;
}
