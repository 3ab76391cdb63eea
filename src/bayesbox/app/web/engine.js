/**
 * The engine: answers of a model or a network, computed in the page from its JSON document.
 *
 * The answers are the same as those of the package. A model that the engine does not support has no document.
 *
 * @typedef {import("./trees.js").Row} Row
 * @typedef {import("./trees.js").Tree} Tree
 * @typedef {{column: string, tree: Tree, weight: number, calibrated: number}} Term
 * @typedef {{hard: Record<string, string>, soft?: Record<string, Record<string, number>>}} Evidence
 */
import { calibrate, normalised } from "./calibrate.js";
import { dict } from "./dict.js";
import { Elimination } from "./elimination.js";
import { familiesLog, jointTableLog, oneDependenceLog } from "./tables.js";
import { evaluate, holds, num, pointMasses } from "./trees.js";

/** The flags of a one-hot group as the category of the model. @param {any} document @param {Row} row @returns {Row} */
function withGroups(document, row) {
  const joined = dict(row);
  for (const [name, flags] of Object.entries(document.oneHot ?? {})) {
    if (name in joined) continue;
    const set = flags.filter((/** @type {string} */ flag) =>
      ["1", "true"].includes(String(joined[flag]).toLowerCase())
    );
    if (set.length === 1) joined[name] = set[0];
  }
  return joined;
}

/** A classifier. */
export class Classifier {
  /** @param {any} document as `bayesbox.app.document.classifier_document` writes it */
  constructor(document) {
    this.document = document;
    /** @type {string[]} */
    this.classes = document.classes;
    /** @type {number[]} */
    this.logPrior = document.logPrior.map(num);
    this.form = document.form;
    /** @type {Term[]} */
    this.terms = this.form.kind === "product" ? this.form.terms : [];
    this.masses = this.terms.flatMap((term) => pointMasses(term.tree));
  }

  /** log P(x | class) of each class, up to a constant. @param {Row} row @param {boolean} calibrated */
  logLikelihood(row, calibrated) {
    const asked = withGroups(this.document, row);
    if (this.form.kind === "families") return familiesLog(this.form, asked);
    if (this.form.kind === "joint") return jointTableLog(this.form, asked);
    if (this.form.kind === "one-dependence") {
      return oneDependenceLog({ ...this.form, logPrior: this.logPrior.map(() => 0) }, asked);
    }
    return this.classes.map((_, c) => {
      let sum = 0;
      for (const term of this.terms) {
        const weight = calibrated ? term.calibrated : term.weight;
        if (weight !== 0) sum += weight * evaluate(term.tree, asked, c);
      }
      return sum;
    });
  }

  /** log P(class | x) before calibration; a row that is impossible in every class gets the prior. @param {number[]} prior @param {Row} row @param {boolean} calibrated */
  plain(prior, row, calibrated) {
    let joint = this.logLikelihood(row, calibrated).map((each, c) => each + prior[c]);
    if (this.masses.length) {
      const asked = withGroups(this.document, row);
      const hits = joint.map((each, c) =>
        each === -Infinity ? -1 : this.masses.filter((where) => holds(where, asked, c)).length
      );
      const most = Math.max(...hits);
      joint = joint.map((each, c) => (hits[c] < most ? -Infinity : each));
    }
    return normalised(joint.every((each) => each === -Infinity) ? prior : joint);
  }

  /**
   * P(class | x), in the order of the classes.
   *
   * @param {Row} row a column that is absent or null is missing
   * @param {number[]} [prior] another base rate: P(class), in the order of the classes
   * @returns {number[]}
   */
  posterior(row, prior) {
    const now = prior ? prior.map(Math.log) : this.logPrior;
    const by = this.document.calibration;
    if (!by) return this.plain(now, row, false).map(Math.exp);
    const base = by.log_prior.map((/** @type {number | null} */ each) => each ?? -Infinity);
    const same = base.every((/** @type {number} */ each, /** @type {number} */ c) => each === now[c]);
    const start = same ? now : normalised(base);
    const found = calibrate(by, this.plain(start, row, true));
    if (same) return found.map(Math.exp);
    return normalised(found.map((each, c) => base[c] === -Infinity ? each : each + now[c] - base[c])).map(Math.exp);
  }

  /**
   * The contribution of each known column to the log-odds of two classes, before calibration.
   *
   * @param {Row} row @param {number} label @param {number} against
   * @returns {{column: string, logOdds: number}[]}
   */
  evidence(row, label, against) {
    const asked = withGroups(this.document, row);
    if (this.form.kind === "product") {
      /** @type {Map<string, number>} */
      const found = new Map();
      for (const term of this.terms) {
        const [one, other] = [label, against].map((c) => term.weight * evaluate(term.tree, asked, c));
        found.set(term.column, (found.get(term.column) ?? 0) + (one === other ? 0 : one - other));
      }
      return [...found].map(([column, logOdds]) => ({ column, logOdds }));
    }
    const odds = (/** @type {Row} */ some) => {
      const logs = this.plain(this.logPrior, some, false);
      return logs[label] - logs[against];
    };
    const all = odds(row); // for a model without one factor per column: the answer with and without the column
    return Object.keys(row).map((column) => ({ column, logOdds: all - odds({ ...row, [column]: null }) }));
  }
}

/** A Bayesian network. */
export class Network {
  /** @param {any} document as `bayesbox.app.document.network_document` writes it */
  constructor(document) {
    this.document = document;
    /** @type {string[]} */
    this.names = document.nodes.map((/** @type {any} */ node) => node.name);
    /** @type {string[][]} */
    this.states = document.nodes.map((/** @type {any} */ node) => node.states);
    this.place = new Map(this.names.map((name, at) => [name, at]));
    this.tables = new Elimination({
      cards: this.states.map((each) => each.length),
      factors: document.nodes.map((/** @type {any} */ node, /** @type {number} */ at) => ({
        vars: [...node.parents.map((/** @type {string} */ name) => this.place.get(name)), at],
        data: Float64Array.from(node.table),
      })),
    });
    /** The cached answer without evidence. @type {ReturnType<Network["posteriors"]> | null} */
    this.prior = null;
  }

  /** @param {Evidence} evidence @returns {[Map<number, number>, Map<number, number[]>]} */
  findings(evidence) {
    /** @type {Map<number, number>} */
    const known = new Map();
    for (const [name, state] of Object.entries(evidence.hard)) {
      const at = this.placeOf(name), code = this.states[at].indexOf(state);
      if (code < 0) throw new Error(`node ${name} has no state ${state}`);
      known.set(at, code);
    }
    /** @type {Map<number, number[]>} */
    const soft = new Map();
    for (const [name, likelihood] of Object.entries(evidence.soft ?? {})) {
      const at = this.placeOf(name);
      soft.set(at, this.states[at].map((state) => likelihood[state] ?? 0));
    }
    return [known, soft];
  }

  /** @param {string} name @returns {number} */
  placeOf(name) {
    const at = this.place.get(name);
    if (at === undefined) throw new Error(`no node ${name}`);
    return at;
  }

  /**
   * P(state | evidence) of every node, and log P(evidence); impossible evidence has the log -Infinity.
   *
   * @param {Evidence} evidence
   * @returns {{posteriors: Record<string, Record<string, number>>, logEvidence: number}}
   */
  posteriors(evidence) {
    const { posteriors, logTotal } = this.tables.posteriors(...this.findings(evidence));
    const named = posteriors.map((shares, at) => Object.fromEntries(shares.map((p, s) => [this.states[at][s], p])));
    return { posteriors: Object.fromEntries(named.map((each, at) => [this.names[at], each])), logEvidence: logTotal };
  }

  /** The most probable states of all nodes. @param {Evidence} evidence @returns {{states: Record<string, string>, log: number}} */
  mostProbable(evidence) {
    const { states, log } = this.tables.mostProbable(...this.findings(evidence));
    return { states: Object.fromEntries(states.map((state, at) => [this.names[at], this.states[at][state]])), log };
  }

  /**
   * Which node to ask about next: the expected information of each unknown node about the target, in bits.
   *
   * @param {Evidence} evidence @param {string} target
   * @param {Record<string, Record<string, number>>} [now] the posteriors, if already known
   * @returns {{name: string, bits: number}[]} the most informative first
   */
  askNext(evidence, target, now = this.posteriors(evidence).posteriors) {
    const unknown = this.names.filter((name) => name !== target && !Object.hasOwn(evidence.hard, name));
    const bits = new Map(unknown.map((name) => [name, 0]));
    if (Object.hasOwn(evidence.hard, target)) return unknown.map((name) => ({ name, bits: 0 }));
    for (const [state, share] of Object.entries(now[target])) {
      if (!(share > 0)) continue;
      const then = this.posteriors({ ...evidence, hard: { ...evidence.hard, [target]: state } }).posteriors;
      for (const name of unknown) {
        for (const [own, p] of Object.entries(then[name])) {
          if (p > 0) bits.set(name, (bits.get(name) ?? 0) + share * p * Math.log2(p / now[name][own]));
        }
      }
    }
    return [...bits].map(([name, each]) => ({ name, bits: Math.max(each, 0) })).sort((a, b) => b.bits - a.bits);
  }
}
