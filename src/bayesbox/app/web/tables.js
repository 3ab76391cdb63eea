/**
 * Models whose columns depend on each other, by tables of codes: TAN and KDB, AODE, and the joint table of full Bayes.
 *
 * @typedef {import("./trees.js").Row} Row
 * @typedef {{column: string, levels: string[], cuts: number[] | null, flag: boolean, unseen: string}} Coded
 */
import { logAddExp, MISSING, num, placeOf, UNSEEN } from "./trees.js";

/** The code of a column in a row: the number of levels means unseen. @param {Coded} of @param {Row} row */
export function codeOf(of, row) {
  const position = of.cuts ? ["bin", of.column, of.cuts] : [of.flag ? "flag" : "level", of.column, of.levels];
  const place = placeOf(position, row);
  if (place !== UNSEEN) return place;
  if (of.unseen === "error") throw new Error(`column ${of.column} has an unseen level`);
  return of.unseen === "ignore" ? MISSING : of.levels.length;
}

/** log P(x | class) by families of a column and its parents. @param {any} form @param {Row} row @returns {number[]} */
export function familiesLog(form, row) {
  const codes = codesOf(form, row);
  const sums = new Array(form.classes).fill(0);
  for (const table of form.tables) addFamily(table, codes, sums);
  return sums;
}

/** @param {any} form @param {Row} row @returns {Record<string, number>} */
function codesOf(form, row) {
  return Object.fromEntries(form.coding.map((/** @type {Coded} */ each) => [each.column, codeOf(each, row)]));
}

/** @param {any} table @param {Record<string, number>} codes @param {number[]} sums */
function addFamily(table, codes, sums) {
  const own = codes[table.column] ?? MISSING;
  if (own === MISSING) return;
  let context = 0;
  table.parents.forEach((/** @type {string} */ parent, /** @type {number} */ place) => {
    const size = table.sizes[place], code = codes[parent] ?? MISSING;
    context = context * (size + 1) + (code < 0 ? size : code);
  });
  const terms = table.logP[context * (table.levels + 1) + own];
  for (let c = 0; c < sums.length; c++) sums[c] += num(terms[c]);
}

/** log P(class, x) of averaged one-dependence estimators. @param {any} form @param {Row} row @returns {number[]} */
export function oneDependenceLog(form, row) {
  const codes = codesOf(form, row);
  /** @type {number[]} */
  const present = [];
  form.names.forEach((/** @type {string} */ name, /** @type {number} */ place) => {
    const code = codes[name] ?? MISSING, size = form.firstSlot[place + 1] - form.firstSlot[place];
    if (code >= 0 && code < size) present.push(form.firstSlot[place] + code);
  });
  const parents = present.filter((slot) => form.isParent[slot]);
  const along = (/** @type {number[]} */ start, /** @type {any[]} */ table) =>
    start.map((begin, c) => present.reduce((sum, slot) => sum + num(table[slot][c]), begin));
  const prior = form.logPrior.map(num);
  let joint;
  if (!parents.length) joint = along(prior, form.naive);
  else {
    const each = parents.map((slot) =>
      along(
        prior.map((/** @type {number} */ p, /** @type {number} */ c) => p + num(form.naive[slot][c])),
        form.table[slot],
      )
    );
    joint = prior.map((/** @type {number} */ _, /** @type {number} */ c) => {
      const best = Math.max(...each.map((sums) => sums[c]));
      if (best === -Infinity) return best;
      return best + Math.log(each.reduce((sum, sums) => sum + Math.exp(sums[c] - best), 0)) - Math.log(parents.length);
    });
  }
  for (const table of form.alone) addFamily(table, codes, joint);
  return joint;
}

/** log P(tuple | class) of a joint table; missing levels are marginalised. @param {any} form @param {Row} row @returns {number[]} */
export function jointTableLog(form, row) {
  const codes = form.axes.map((/** @type {any} */ axis) => {
    const place = placeOf([axis.flag ? "flag" : "level", axis.column, axis.levels], row);
    if (place === MISSING) return axis.missing ? axis.levels.length : MISSING;
    if (place !== UNSEEN) return place;
    if (form.unseen === "error") throw new Error(`column ${axis.column} has an unseen level`);
    return form.unseen === "ignore" ? MISSING : UNSEEN;
  });
  const sizes = form.axes.map((/** @type {any} */ axis) => axis.levels.length + (axis.missing ? 1 : 0));
  const classes = form.logUnseen.length;
  if (codes.every((/** @type {number} */ code) => code === MISSING)) return new Array(classes).fill(0);
  let found;
  if (codes.includes(UNSEEN)) {
    let ways = 1;
    codes.forEach((/** @type {number} */ code, /** @type {number} */ at) => code === MISSING && (ways *= sizes[at]));
    found = form.logUnseen.map((/** @type {any} */ each) => num(each) + Math.log(ways));
  } else {
    found = new Array(classes).fill(-Infinity);
    for (const cell of cellsOf(codes, sizes)) {
      for (let c = 0; c < classes; c++) {
        const own = num(form.logP[cell][c]);
        found[c] = found[c] === -Infinity ? own : own === -Infinity ? found[c] : logAddExp(found[c], own);
      }
    }
  }
  return found.every((/** @type {number} */ each) => each === -Infinity) ? new Array(classes).fill(0) : found;
}

/** The cells of a table consistent with codes, some of which may be missing. @param {number[]} codes @param {number[]} sizes */
function cellsOf(codes, sizes) {
  let cells = [0];
  codes.forEach((code, at) => {
    const own = code === MISSING ? Array.from({ length: sizes[at] }, (_, place) => place) : [code];
    cells = cells.flatMap((cell) => own.map((place) => cell * sizes[at] + place));
  });
  return cells;
}
