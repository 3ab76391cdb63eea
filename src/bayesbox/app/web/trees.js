/**
 * The log-probability of a column as a tree: the same trees that the SQL and ONNX exports use, as JSON.
 *
 * A node is a list that begins with its name. A number that JSON cannot represent is a string, such as "-Infinity".
 *
 * @typedef {any[]} Tree
 * @typedef {string | number | boolean | null | undefined} Cell
 * @typedef {Record<string, Cell>} Row
 */
import { kernelLogs, roundedLogs } from "./cells.js";

/** The values of false and true in a flag. @type {Record<string, number>} */
const FLAGS = { false: 0, 0: 0, true: 1, 1: 1 };

export const MISSING = -1;
export const UNSEEN = -2;

/** Whether a cell has no value. @param {Cell} cell @returns {boolean} */
export function isMissing(cell) {
  return cell === null || cell === undefined || Number.isNaN(cell);
}

/** A cell as a number, NaN if it has no value. @param {Cell} cell @returns {number} */
export function asNumber(cell) {
  return isMissing(cell) || cell === "" ? NaN : Number(cell);
}

/** A number of the document. @param {any} value @returns {number} */
export function num(value) {
  return typeof value === "number" ? value : Number(value);
}

/** The bin of a number; a number on a cut is in the lower bin. @param {number} x @param {number[]} cuts */
export function binOf(x, cuts) {
  let low = 0, high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (num(cuts[middle]) < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The position of a cell among levels or bins, or MISSING, or UNSEEN.
 *
 * @param {Tree} position ["level", column, levels], ["flag", column, levels] or ["bin", column, cuts]
 * @param {Row} row
 * @returns {number}
 */
export function placeOf(position, row) {
  const cell = row[position[1]];
  if (isMissing(cell)) return MISSING;
  if (position[0] === "bin") return Number.isNaN(asNumber(cell)) ? MISSING : binOf(asNumber(cell), position[2]);
  if (position[0] === "flag") return FLAGS[String(cell).toLowerCase()] ?? UNSEEN;
  const place = position[2].indexOf(String(cell));
  return place < 0 ? UNSEEN : place;
}

/** log(exp(a) + exp(b)). @param {number} a @param {number} b @returns {number} */
export function logAddExp(a, b) {
  if (a === b) return a + Math.LN2;
  const [low, high] = a < b ? [a, b] : [b, a];
  return high + Math.log1p(Math.exp(low - high));
}

/** @param {Tree} tree @param {Row} row @param {number} c @returns {number} */
function lookup(tree, row, c) {
  const [, position, rows, missing, unseen, refused] = tree;
  const place = placeOf(position, row);
  if (place === MISSING) return num(missing[c]);
  if (place !== UNSEEN) return num(rows[place][c]);
  if (refused) throw new Error(`column ${position[1]} has an unseen level: ${row[position[1]]}`);
  return unseen === null ? num(missing[c]) : num(unseen[c]);
}

/**
 * The value of an expression for one class.
 *
 * @param {Tree} tree
 * @param {Row} row
 * @param {number} c the position of the class
 * @returns {number}
 */
export function evaluate(tree, row, c) {
  const of = (/** @type {number} */ place) => evaluate(tree[place], row, c);
  switch (tree[0]) {
    case "x":
      return asNumber(row[tree[1]]);
    case "c":
      return Array.isArray(tree[1]) ? num(tree[1][c]) : num(tree[1]);
    case "at":
      return lookup(tree, row, c);
    case "add": {
      let sum = of(1);
      for (let place = 2; place < tree.length; place++) sum += of(place);
      return sum;
    }
    case "subtract":
      return of(1) - of(2);
    case "multiply":
      return of(1) * of(2);
    case "divide":
      return of(1) / of(2);
    case "log":
      return Math.log(of(1));
    case "log1p":
      return Math.log1p(of(1));
    case "exp":
      return Math.exp(of(1));
    case "abs":
      return Math.abs(of(1));
    case "floor":
      return Math.floor(of(1));
    case "squared": {
      const ratio = of(1) / of(2);
      return ratio * ratio;
    }
    case "case": {
      const found = tree[1].find((/** @type {Tree[]} */ each) => holds(each[0], row, c));
      return evaluate(found ? found[1] : tree[2], row, c);
    }
    case "point":
      return of(1);
    case "mix":
      return logAddExp(of(1), of(2));
    case "kernel":
      return kernelLogs(asNumber(row[tree[1]]), tree[2])[c];
    case "rounded":
      return roundedLogs(asNumber(row[tree[1]]), tree[2])[c];
  }
  throw new Error(`not an expression: ${tree[0]}`);
}

/** Whether a condition holds for one class. @param {Tree} tree @param {Row} row @param {number} c @returns {boolean} */
export function holds(tree, row, c) {
  const of = (/** @type {number} */ place) => evaluate(tree[place], row, c);
  switch (tree[0]) {
    case "missing":
      return Number.isNaN(of(1));
    case "<":
      return of(1) < of(2);
    case "<=":
      return of(1) <= of(2);
    case ">":
      return of(1) > of(2);
    case ">=":
      return of(1) >= of(2);
    case "=":
      return of(1) === of(2);
    case "and":
      return holds(tree[1], row, c) && holds(tree[2], row, c);
    case "or":
      return holds(tree[1], row, c) || holds(tree[2], row, c);
    case "in":
      return tree[1][c];
  }
  throw new Error(`not a condition: ${tree[0]}`);
}

/** The conditions of the point masses inside a tree. @param {Tree} tree @returns {Tree[]} */
export function pointMasses(tree) {
  const inside = tree.filter(Array.isArray).flatMap((each) =>
    typeof each[0] === "string" ? pointMasses(each) : each.flat().filter(Array.isArray).flatMap(pointMasses)
  );
  return tree[0] === "point" ? [tree[2], ...inside] : inside;
}
