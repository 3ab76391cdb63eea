/**
 * All posteriors of a network at once: a tree of buckets, one for each variable, passed over upwards and downwards.
 *
 * No table is dropped, whatever is asked: leaving out nodes that seem not to matter changes digits where the rows of a
 * table do not sum to exactly 1. Nothing is divided, so that a 0 stays a 0.
 *
 * @typedef {{vars: number[], data: Float64Array}} Factor
 * @typedef {{variable: number, scope: number[], own: Factor[], parent: number, children: number[], sends: number[]}} Bucket
 * @typedef {{cards: number[], factors: Factor[]}} Tables
 */

export const MOST_CELLS = 1 << 21;

/** @param {number[]} vars @param {number[]} cards @returns {number[]} how far one step of each variable goes */
function strides(vars, cards) {
  const steps = new Array(vars.length);
  let size = 1;
  for (let place = vars.length - 1; place >= 0; place--) {
    steps[place] = size;
    size *= cards[vars[place]];
  }
  return steps;
}

/** @param {number[]} vars @param {number[]} cards */
function cells(vars, cards) {
  return vars.reduce((size, variable) => size * cards[variable], 1);
}

/** A factor where some variables have a state. @param {Factor} factor @param {number[]} cards @param {Map<number, number>} known */
function sliced(factor, cards, known) {
  const steps = strides(factor.vars, cards), vars = factor.vars.filter((each) => !known.has(each));
  if (vars.length === factor.vars.length) return factor;
  let start = 0;
  factor.vars.forEach((each, place) =>
    start += known.has(each) ? steps[place] * /** @type {number} */ (known.get(each)) : 0
  );
  const from = places(vars, cards, vars.map((each) => steps[factor.vars.indexOf(each)]));
  return { vars, data: Float64Array.from(from, (place) => factor.data[start + place]) };
}

/** Where the cells of some variables, the last one first, are in another table. @param {number[]} vars @param {number[]} cards @param {number[]} steps of each variable there @returns {Int32Array} */
function places(vars, cards, steps) {
  let at = Int32Array.of(0);
  vars.forEach((variable, place) => {
    const card = cards[variable], step = steps[place], next = new Int32Array(at.length * card);
    for (let i = 0, to = 0; i < at.length; i++) {
      for (let state = 0; state < card; state++) next[to++] = at[i] + state * step;
    }
    at = next;
  });
  return at;
}

/** The steps in a table of each variable of a scope; 0 for one that it does not have. @param {number[]} scope @param {number[]} vars @param {number[]} cards */
function stepsIn(scope, vars, cards) {
  const own = strides(vars, cards);
  return scope.map((each) => own[vars.indexOf(each)] ?? 0);
}

/** @param {number[]} scope @param {Factor[]} factors @param {number[]} cards @returns {Factor} the product over a scope */
function product(scope, factors, cards) {
  const data = new Float64Array(cells(scope, cards)).fill(1);
  for (const factor of factors) {
    const from = places(scope, cards, stepsIn(scope, factor.vars, cards)), values = factor.data;
    for (let to = 0; to < data.length; to++) data[to] *= values[from[to]];
  }
  return { vars: scope, data };
}

/** A factor over fewer variables, by sums or by the largest. @param {Factor} factor @param {number[]} vars @param {number[]} cards @param {boolean} [largest] */
function marginal(factor, vars, cards, largest = false) {
  const data = new Float64Array(cells(vars, cards)), values = factor.data;
  const to = places(factor.vars, cards, stepsIn(factor.vars, vars, cards));
  if (largest) { for (let from = 0; from < to.length; from++) data[to[from]] = Math.max(data[to[from]], values[from]); }
  else for (let from = 0; from < to.length; from++) data[to[from]] += values[from];
  return { vars, data };
}

/** Divide by the largest, and say its log. @param {Factor} factor @returns {number} */
function scaled(factor) {
  let most = 0;
  for (const each of factor.data) most = Math.max(most, each);
  if (most > 0) { for (let i = 0; i < factor.data.length; i++) factor.data[i] /= most; }
  return Math.log(most);
}

/** The buckets in the order of elimination, each time the variable whose table is the smallest. @param {Tables} tables @returns {Bucket[]} */
function bucketTree(tables) {
  let scopes = tables.factors.map((each) => new Set(each.vars));
  const left = new Set(tables.factors.flatMap((each) => each.vars)), waiting = new Set(tables.factors);
  /** @type {Bucket[]} */
  const buckets = [];
  while (left.size) {
    let variable = -1, least = Infinity;
    for (const each of left) {
      const near = new Set([each]);
      for (const scope of scopes) if (scope.has(each)) { for (const other of scope) near.add(other); }
      const size = cells([...near], tables.cards);
      if (size < least) [least, variable] = [size, each];
    }
    if (least > MOST_CELLS) throw new TooLarge(least);
    const near = new Set([variable]);
    for (const scope of scopes) if (scope.has(variable)) { for (const other of scope) near.add(other); }
    const own = [...waiting].filter((each) => each.vars.includes(variable));
    own.forEach((each) => waiting.delete(each));
    const scope = [...near].sort((a, b) => a - b);
    buckets.push({ variable, scope, own, parent: -1, children: [], sends: scope.filter((each) => each !== variable) });
    scopes = scopes.filter((each) => !each.has(variable));
    if (near.size > 1) scopes.push(new Set([...near].filter((each) => each !== variable)));
    left.delete(variable);
  }
  const place = new Map(buckets.map((each, at) => [each.variable, at]));
  buckets.forEach((each, at) => {
    if (!each.sends.length) return;
    each.parent = Math.min(...each.sends.map((other) => /** @type {number} */ (place.get(other))));
    buckets[each.parent].children.push(at);
  });
  return buckets;
}

/** A network whose tables are too large to be multiplied here. */
export class TooLarge extends Error {
  /** @param {number} size */
  constructor(size) {
    super(`a table of ${size} cells is too large for the page`);
  }
}

/** @param {Tables} tables @param {Map<number, number>} known @param {Map<number, number[]>} soft @returns {Tables} */
function withEvidence(tables, known, soft) {
  const factors = tables.factors.map((each) => sliced(each, tables.cards, known));
  for (const [variable, likelihood] of soft) {
    if (!known.has(variable)) factors.push({ vars: [variable], data: Float64Array.from(likelihood) });
    else factors.push({ vars: [], data: Float64Array.of(likelihood[/** @type {number} */ (known.get(variable))]) });
  }
  return { cards: tables.cards, factors };
}

/**
 * P(state | evidence) of every variable, and the log of the sum of all products that go with the evidence.
 *
 * @param {Tables} tables @param {Map<number, number>} known @param {Map<number, number[]>} [soft]
 * @returns {{posteriors: number[][], logTotal: number}}
 */
export function allPosteriors(tables, known, soft = new Map()) {
  const given = withEvidence(tables, known, soft), buckets = bucketTree(given), cards = given.cards;
  let logTotal = 0;
  for (const each of given.factors) if (!each.vars.length) logTotal += Math.log(each.data[0]);
  /** @type {Factor[]} */
  const up = [];
  for (const each of buckets) {
    const whole = product(each.scope, [...each.own, ...each.children.map((child) => up[child])], cards);
    const message = marginal(whole, each.sends, cards);
    logTotal += scaled(message);
    up.push(message);
  }
  const posteriors = tables.cards.map((card, variable) =>
    Array.from({ length: card }, (_, state) => known.has(variable) ? Number(known.get(variable) === state) : 1 / card)
  );
  /** @type {Factor[]} */
  const down = new Array(buckets.length);
  for (let at = buckets.length - 1; at >= 0; at--) {
    const each = buckets[at], above = each.parent < 0 ? [] : [down[at]];
    for (const child of each.children) {
      const others = each.children.filter((other) => other !== child).map((other) => up[other]);
      down[child] = marginal(
        product(each.scope, [...each.own, ...above, ...others], cards),
        buckets[child].sends,
        cards,
      );
      scaled(down[child]);
    }
    const whole = product(each.scope, [...each.own, ...above, ...each.children.map((child) => up[child])], cards);
    const { data } = marginal(whole, [each.variable], cards);
    const total = data.reduce((sum, value) => sum + value, 0);
    posteriors[each.variable] = Array.from(data, (value) => value / total);
  }
  return { posteriors, logTotal };
}

/**
 * The most probable states of all variables, and the log of their product with the evidence.
 *
 * @param {Tables} tables @param {Map<number, number>} known @param {Map<number, number[]>} [soft]
 * @returns {{states: number[], log: number}}
 */
export function mostProbable(tables, known, soft = new Map()) {
  const given = withEvidence(tables, known, soft), buckets = bucketTree(given), cards = given.cards;
  let log = 0;
  for (const each of given.factors) if (!each.vars.length) log += Math.log(each.data[0]);
  /** @type {Factor[]} */
  const up = [], products = [];
  for (const each of buckets) {
    const whole = product(each.scope, [...each.own, ...each.children.map((child) => up[child])], cards);
    const message = marginal(whole, each.sends, cards, true);
    log += scaled(message);
    products.push(whole);
    up.push(message);
  }
  const states = tables.cards.map((_, variable) => known.get(variable) ?? 0);
  const found = new Map(known);
  for (let at = buckets.length - 1; at >= 0; at--) {
    const { data } = sliced(products[at], cards, new Map([...found].filter(([each]) => each !== buckets[at].variable)));
    let best = 0;
    data.forEach((value, state) => value > data[best] && (best = state));
    states[buckets[at].variable] = best;
    found.set(buckets[at].variable, best);
  }
  return { states, log };
}
