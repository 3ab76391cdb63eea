/**
 * All posteriors of a network at once: a tree of buckets, one per variable, traversed upwards and downwards.
 *
 * No table is dropped, for any query: dropping nodes that seem irrelevant changes digits if the rows of a table do not
 * sum to exactly 1. Nothing is divided, so that a 0 stays a 0. The elimination order and the index of cells depend on
 * which variables are known, not on their states, so such a plan is made once.
 *
 * @typedef {{vars: number[], data: Float64Array}} Factor
 * @typedef {{cards: number[], factors: Factor[]}} Tables
 * @typedef {{factor: number, at: Int32Array}} Own a table of a bucket, and where its cells are for those of the bucket
 * @typedef {{variable: number, scope: number[], size: number, own: Own[], sends: number[], out: Int32Array, sent: number,
 *   step: number, parent: number, children: number[]}} Bucket
 * @typedef {{buckets: Bucket[], constants: number[], cells: number}} Plan
 */
import { bestOrder, cells, eliminated, neighbours } from "./order.js";

export const MOST_CELLS = 1 << 21;
const MOST_PLANS = 24, KEPT_CELLS = 1 << 21; // cached plans, and the maximum cells of one

/** @param {number[]} vars @param {number[]} cards @returns {number[]} the stride of each variable */
function strides(vars, cards) {
  const steps = new Array(vars.length);
  let size = 1;
  for (let place = vars.length - 1; place >= 0; place--) {
    steps[place] = size;
    size *= cards[vars[place]];
  }
  return steps;
}

/** Where the cells of a scope, the last variable fastest, are in a table of some of its variables. @param {number[]} scope @param {number[]} vars @param {number[]} cards @returns {Int32Array} */
function places(scope, vars, cards) {
  const own = strides(vars, cards), at = new Int32Array(cells(scope, cards));
  let done = 1;
  for (const variable of scope) {
    const card = cards[variable], step = own[vars.indexOf(variable)] ?? 0;
    for (let cell = done - 1; cell >= 0; cell--) {
      const base = at[cell];
      for (let state = card - 1; state >= 0; state--) at[cell * card + state] = base + state * step;
    }
    done *= card;
  }
  return at;
}

/** Multiply a table by another, cell by cell. @param {Float64Array} data @param {Float64Array} values @param {Int32Array} at */
function multiply(data, values, at) {
  for (let cell = 0; cell < data.length; cell++) data[cell] *= values[at[cell]];
}

/** Divide by the largest, and return its log. @param {Float64Array} data @returns {number} */
function scaled(data) {
  let most = 0;
  for (let cell = 0; cell < data.length; cell++) if (data[cell] > most) most = data[cell];
  if (most > 0) { for (let cell = 0; cell < data.length; cell++) data[cell] /= most; }
  return Math.log(most);
}

/** Sums of the cells with the same target. @param {Float64Array} data @param {Int32Array} to @param {number} size */
function sums(data, to, size) {
  const found = new Float64Array(size);
  for (let cell = 0; cell < data.length; cell++) found[to[cell]] += data[cell];
  return found;
}

/** The error for a network whose tables are too large for the page. */
export class TooLarge extends Error {
  /** @param {number} size */
  constructor(size) {
    super(`a table of ${size} cells is too large for the page`);
  }
}

/** The shared plan of all evidence on some variables. @param {number[][]} scopes of the factors @param {number[]} cards @param {number[]} order @returns {Plan} */
function planFor(scopes, cards, order) {
  const waiting = new Set(scopes.keys()), near = neighbours(scopes), left = order.filter((each) => near.has(each));
  const place = new Map(left.map((variable, at) => [variable, at]));
  const buckets = left.map((variable) => {
    const scope = eliminated(near, variable), sends = scope.filter((each) => each !== variable);
    if (cells(scope, cards) > MOST_CELLS) throw new TooLarge(cells(scope, cards));
    const own = [...waiting].filter((factor) => scopes[factor].includes(variable));
    own.forEach((factor) => waiting.delete(factor));
    return {
      variable,
      scope,
      size: cells(scope, cards),
      own: own.map((factor) => ({ factor, at: places(scope, scopes[factor], cards) })),
      sends,
      out: places(scope, sends, cards),
      sent: cells(sends, cards),
      step: strides(scope, cards)[scope.indexOf(variable)],
      parent: sends.length ? Math.min(...sends.map((other) => /** @type {number} */ (place.get(other)))) : -1,
      children: /** @type {number[]} */ ([]),
      above: /** @type {Int32Array} */ (new Int32Array(0)),
    };
  });
  buckets.forEach((each, at) => {
    if (each.parent >= 0) buckets[each.parent].children.push(at);
  });
  return { buckets, constants: [...waiting], cells: buckets.reduce((sum, each) => sum + each.size, 0) };
}

/** The tables of a network, and their queries. */
export class Elimination {
  /** @param {Tables} tables */
  constructor({ cards, factors }) {
    this.cards = cards;
    this.factors = factors;
    /** @type {Map<string, Plan>} */
    this.plans = new Map();
    /** The elimination order, computed on first use. @type {number[] | null} */
    this.order = null;
  }

  /** @param {Map<number, number>} known @param {Map<number, number[]>} soft @returns {Plan & {tables: Float64Array[]}} */
  prepared(known, soft) {
    const tables = this.factors.map((each) => this.sliced(each, known));
    for (const [variable, likelihood] of soft) {
      const state = known.get(variable);
      tables.push(state === undefined ? Float64Array.from(likelihood) : Float64Array.of(likelihood[state]));
    }
    const key = JSON.stringify([[...known.keys()].sort(), [...soft.keys()]]);
    let plan = this.plans.get(key);
    if (!plan) {
      const scopes = [...this.factors.map((each) => each.vars), ...[...soft.keys()].map((each) => [each])];
      this.order ??= bestOrder(this.factors.map((each) => each.vars), this.cards);
      plan = planFor(scopes.map((vars) => vars.filter((each) => !known.has(each))), this.cards, this.order);
      if (this.plans.size >= MOST_PLANS) this.plans.delete(/** @type {string} */ (this.plans.keys().next().value));
      if (plan.cells <= KEPT_CELLS) this.plans.set(key, plan);
    }
    return { ...plan, tables };
  }

  /** The cells of a factor with some variables fixed to a state. @param {Factor} factor @param {Map<number, number>} known @returns {Float64Array} */
  sliced({ vars, data }, known) {
    const left = vars.filter((each) => !known.has(each));
    if (left.length === vars.length) return data;
    const steps = strides(vars, this.cards);
    const start = vars.reduce((sum, each, place) => sum + steps[place] * (known.get(each) ?? 0), 0);
    let at = [start];
    for (const each of left) {
      const step = steps[vars.indexOf(each)];
      at = at.flatMap((cell) => Array.from({ length: this.cards[each] }, (_, state) => cell + state * step));
    }
    return Float64Array.from(at, (cell) => data[cell]);
  }

  /** The product of the tables of a bucket. @param {Bucket} bucket @param {Float64Array[]} tables */
  own(bucket, tables) {
    const data = new Float64Array(bucket.size).fill(1);
    for (const { factor, at } of bucket.own) multiply(data, tables[factor], at);
    return data;
  }

  /** The index of a bucket's cells in a child's message. @param {Bucket} bucket @param {any} child @returns {Int32Array} */
  fromChild(bucket, child) {
    if (!child.above.length) child.above = places(bucket.scope, child.sends, this.cards);
    return child.above;
  }

  /**
   * P(state | evidence) of every variable, and the log of the sum of all products consistent with the evidence.
   *
   * @param {Map<number, number>} known @param {Map<number, number[]>} [soft]
   * @returns {{posteriors: number[][], logTotal: number}}
   */
  posteriors(known, soft = new Map()) {
    const { buckets, constants, tables } = this.prepared(known, soft), { cards } = this;
    let logTotal = constants.reduce((sum, factor) => sum + Math.log(tables[factor][0]), 0);
    /** @type {Float64Array[]} */
    const products = [], down = [];
    /** @type {Float64Array[]} */
    const up = [];
    for (const each of buckets) {
      const whole = this.own(each, tables);
      products.push(each.children.length ? whole.slice() : whole);
      for (const child of each.children) multiply(whole, up[child], this.fromChild(each, buckets[child]));
      const message = sums(whole, each.out, each.sent);
      logTotal += scaled(message);
      up.push(message);
    }
    const posteriors = cards.map((card, variable) =>
      Array.from({ length: card }, (_, state) => known.has(variable) ? Number(known.get(variable) === state) : 1 / card)
    );
    for (let at = buckets.length - 1; at >= 0; at--) {
      const each = buckets[at], whole = products[at], { children } = each;
      if (each.parent >= 0) multiply(whole, down[at], each.out);
      const places = children.map((child) => this.fromChild(each, buckets[child]));
      /** @type {Float64Array[]} the product of the bucket and all earlier children */
      const before = [];
      children.forEach((child, place) => {
        before.push(place < children.length - 1 ? whole.slice() : whole);
        if (place < children.length - 1) multiply(whole, up[child], places[place]);
      });
      const last = children.length - 1;
      const after = new Float64Array(last > 0 ? each.size : 0).fill(1);
      for (let place = last; place >= 0; place--) {
        const child = children[place], others = place < last ? before[place] : whole;
        if (place < last) { for (let cell = 0; cell < others.length; cell++) others[cell] *= after[cell]; }
        down[child] = sums(others, places[place], buckets[child].sent);
        scaled(down[child]);
        if (place > 0) multiply(after, up[child], places[place]);
      }
      if (last >= 0) multiply(whole, up[children[last]], places[last]);
      const card = cards[each.variable], shares = new Array(card).fill(0);
      for (let cell = 0; cell < whole.length; cell++) shares[Math.floor(cell / each.step) % card] += whole[cell];
      const total = shares.reduce((sum, value) => sum + value, 0);
      posteriors[each.variable] = shares.map((value) => value / total);
    }
    return { posteriors, logTotal };
  }

  /**
   * The most probable states of all variables, and the log of their product with the evidence.
   *
   * @param {Map<number, number>} known @param {Map<number, number[]>} [soft]
   * @returns {{states: number[], log: number}}
   */
  mostProbable(known, soft = new Map()) {
    const { buckets, constants, tables } = this.prepared(known, soft), { cards } = this;
    let log = constants.reduce((sum, factor) => sum + Math.log(tables[factor][0]), 0);
    /** @type {Float64Array[]} */
    const up = [], products = [];
    for (const each of buckets) {
      const whole = this.own(each, tables), message = new Float64Array(each.sent);
      for (const child of each.children) multiply(whole, up[child], this.fromChild(each, buckets[child]));
      for (let cell = 0; cell < whole.length; cell++) {
        if (whole[cell] > message[each.out[cell]]) message[each.out[cell]] = whole[cell];
      }
      log += scaled(message);
      products.push(whole);
      up.push(message);
    }
    const states = cards.map((_, variable) => known.get(variable) ?? 0);
    for (let at = buckets.length - 1; at >= 0; at--) {
      const { scope, variable, step } = buckets[at], steps = strides(scope, cards);
      const start = scope.reduce((sum, each, place) => sum + (each === variable ? 0 : steps[place] * states[each]), 0);
      let best = 0;
      for (let state = 1; state < cards[variable]; state++) {
        if (products[at][start + state * step] > products[at][start + best * step]) best = state;
      }
      states[variable] = best;
    }
    return { states, log };
  }
}
