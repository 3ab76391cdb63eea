/**
 * The traits of the views computed by the engine, the same as those of the server in the app and of Python in a
 * notebook.
 *
 * @typedef {import("./engine.js").Classifier} Classifier
 * @typedef {import("./engine.js").Network} Network
 * @typedef {import("./trees.js").Row} Row
 * @typedef {import("./whatif.js").ColumnSpec & {quantiles?: number[][], weights?: number[], counts?: number[][], n?: number[], sure?: number[][][]}} Column
 */
import { dict } from "./dict.js";
import { evaluate } from "./trees.js";

/** @param {number[]} values @returns {number} the position of the first maximum */
function largest(values) {
  return values.reduce((best, each, at) => (each > values[best] ? at : best), 0);
}

/** The most probable class and the next. @param {number[]} shares @returns {[number, number | null]} */
export function bestTwo(shares) {
  const label = largest(shares);
  if (shares.length < 2) return [label, null];
  return [label, largest(shares.map((each, c) => (c === label ? -1 : each)))];
}

/** The entropy in bits. @param {number[]} shares @returns {number} */
export function entropy(shares) {
  return shares.reduce((sum, p) => (p > 0 ? sum - p * Math.log2(p) : sum), 0);
}

/** @param {number} one @param {number} other */
function difference(one, other) {
  return one === other ? 0 : one - other;
}

/**
 * The answer for one row, the same as `row_answer` in Python.
 *
 * @param {Classifier} model @param {{columns: Column[], calibration?: string | null}} spec @param {Row} given
 */
export function whatIfAnswer(model, spec, given) {
  const row = dict(given);
  const posterior = model.posterior(row), [label, against] = bestTwo(posterior);
  const other = against ?? label, known = spec.columns.filter((column) => row[column.name] !== undefined);
  const found = new Map(model.evidence(row, label, other).map((each) => [each.column, each.logOdds]));
  const terms = known.map((column) => ({
    column: column.name,
    text: `= ${row[column.name]}`,
    logOdds: found.get(column.name) ?? 0,
  }));
  const priorLogOdds = difference(model.logPrior[label], model.logPrior[other]);
  const logOdds = terms.reduce((sum, each) => sum + each.logOdds, priorLogOdds);
  const notes = known.filter((column) =>
    column.kind === "category" && !(column.levels ?? []).includes(String(row[column.name]))
  )
    .map((column) => `${column.name} = ${row[column.name]} was not seen in training.`);
  const calibrated = difference(Math.log(posterior[label]), Math.log(posterior[other])) - logOdds;
  return {
    posterior,
    label,
    against,
    priorLogOdds,
    terms,
    logOdds,
    calibration: spec.calibration ? { name: spec.calibration, logOdds: calibrated } : null,
    notes,
    ask: askNext(model, spec, row),
    flip: oneChange(model, spec, row, label),
  };
}

/**
 * The expected information of each unknown column about the class, in bits; for numbers by the Gauss rule over their
 * quantiles.
 *
 * @param {Classifier} model @param {{columns: Column[]}} spec @param {Row} row
 * @returns {{column: string, bits: number}[]}
 */
export function askNext(model, spec, row) {
  if (model.form.kind !== "product") return [];
  const now = model.plain(model.logPrior, row, false).map(Math.exp), before = entropy(now);
  const found = [];
  for (const column of spec.columns) {
    const terms = model.terms.filter((term) => term.column === column.name);
    if (row[column.name] !== undefined || !terms.length) continue;
    const shares = (/** @type {any} */ value) =>
      model.classes.map((_, c) =>
        Math.exp(terms.reduce((sum, term) => sum + term.weight * evaluate(term.tree, { [column.name]: value }, c), 0))
      );
    let after = 0;
    if (column.kind === "number" && column.quantiles) {
      const { weights = [] } = column;
      column.quantiles.forEach((points, c) => {
        points.forEach((x, at) => after += now[c] * weights[at] * entropy(updated(now, shares(x))));
      });
    } else if (column.levels && column.levels.length <= 500) {
      const tables = column.levels.map(shares);
      const sums = model.classes.map((_, c) => tables.reduce((sum, each) => sum + each[c], 0));
      for (const each of tables) {
        const scaled = each.map((p, c) => (sums[c] > 0 ? p / sums[c] : 0));
        after += now.reduce((sum, p, c) => sum + p * scaled[c], 0) * entropy(updated(now, scaled));
      }
    } else continue;
    found.push({ column: column.name, bits: Math.max(before - after, 0) });
  }
  return found.sort((a, b) => b.bits - a.bits);
}

/** Bayes' rule. @param {number[]} prior @param {number[]} likelihood @returns {number[]} */
function updated(prior, likelihood) {
  const joint = prior.map((p, c) => p * likelihood[c]), total = joint.reduce((sum, each) => sum + each, 0);
  return total > 0 ? joint.map((each) => each / total) : prior;
}

/** The change of one column that makes another class the most probable, with the largest margin. @param {Classifier} model @param {{columns: Column[]}} spec @param {Row} row @param {number} label */
function oneChange(model, spec, row, label) {
  let best = null;
  for (const column of spec.columns) {
    if (row[column.name] === undefined) continue;
    const values = column.kind === "number" ? column.marks ?? [] : (column.levels ?? []).slice(0, 200);
    for (const value of values) {
      if (String(value) === String(row[column.name])) continue;
      const posterior = model.posterior({ ...row, [column.name]: value }), now = largest(posterior);
      if (now === label || (best && best.probability >= posterior[now])) continue;
      best = { changes: { [column.name]: String(value) }, prediction: model.classes[now], probability: posterior[now] };
    }
  }
  return best;
}

/**
 * The marks of a nomogram: the contribution of each value of each column to the log-odds of two classes.
 *
 * @param {Classifier} model @param {{columns: Column[]}} spec @param {number} label @param {number} against
 */
export function rulersOf(model, spec, label, against) {
  const rulers = spec.columns.map((column) => ({
    column: column.name,
    isScale: column.kind === "number",
    marks: (column.kind === "number" ? column.marks ?? [] : (column.levels ?? []).slice(0, 40)).map((value) => ({
      value,
      logOdds:
        model.evidence({ [column.name]: value }, label, against).find((each) => each.column === column.name)?.logOdds ??
          0,
    })),
  }));
  return { label, against, start: difference(model.logPrior[label], model.logPrior[against]), rulers };
}

/**
 * The answer to evidence, the same as `network_answer` in Python.
 *
 * @param {Network} network @param {import("./network.js").Evidence} evidence @param {string | null} target
 */
export function networkAnswer(network, evidence, target) {
  const { posteriors, logEvidence } = network.posteriors(evidence);
  if (logEvidence === -Infinity) return { error: "This evidence is impossible: its probability is 0." };
  return {
    given: evidence,
    posteriors,
    logEvidence,
    ask: target && !Object.hasOwn(evidence.hard, target) ? network.askNext(evidence, target, posteriors) : [],
    mpe: network.mostProbable(evidence).states,
    conflict: conflictOf(network, evidence, logEvidence),
  };
}

/** Jensen's measure in bits: above 0 the findings are less probable together than if independent. @param {Network} network @param {import("./network.js").Evidence} evidence @param {number} logEvidence */
function conflictOf(network, evidence, logEvidence) {
  const names = Object.keys(evidence.hard);
  if (names.length < 2 || Object.keys(evidence.soft).length) return null;
  network.prior ??= network.posteriors({ hard: {} });
  const { posteriors: alone, logEvidence: nothing } = network.prior; // nearly 0: rows may be rounded
  const apart = names.reduce((sum, name) => sum + Math.log(alone[name][evidence.hard[name]]), 0);
  return (apart - (logEvidence - nothing)) / Math.LN2;
}
