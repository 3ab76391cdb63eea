/** The editor of a table: a row is accepted once its numbers sum to 1; until then it shows their sum. */
import { button, h, remark, table } from "./dom.js";
import { captionOf, rowsNote, rowsOf } from "./nodetable.js";
import { short } from "./numbers.js";

const EXACT = 1e-6; // the tolerance of the package for the sum of a row

/** The number of a cell: 0.25, 1/4 or 25 %; NaN if invalid. @param {string} text @returns {number} */
export function cellNumber(text) {
  const [, over, under, percent] = /^\s*([\d.eE+-]+)\s*(?:\/\s*([\d.eE+-]+)|(%))?\s*$/.exec(text) ?? [];
  const value = Number(over ?? NaN) / Number(under ?? (percent ? 100 : 1));
  return value >= 0 && value <= 1e6 ? value : NaN;
}

/** Numbers that sum to 1; those that were not typed share the remainder, if any. @param {number[]} values @param {Set<number>} typed */
export function restScaled(values, typed) {
  const kept = values.reduce((sum, each, at) => sum + (typed.has(at) ? each : 0), 0);
  const others = values.reduce((sum, each, at) => sum + (typed.has(at) ? 0 : each), 0),
    count = values.length - typed.size;
  return values.map((each, at) =>
    typed.has(at) ? each : others > 0 ? each * ((1 - kept) / others) : (1 - kept) / count
  );
}

/**
 * @param {any} spec @param {any} node @param {(row: number, values: number[]) => void} commit
 * @returns {{el: HTMLElement, update: (spec: any, node: any) => boolean}} `update` returns whether it could show another table
 */
export function tableEditor(spec, node, commit) {
  const editors = rowsOf(spec, node).map((row, at) => rowEditor(node, row, (values) => commit(at, values)));
  const lines = editors.map((each) => [each.given, ...each.cells, each.state]);
  const shape = shapeOf(spec, node);
  const el = h(
    "div",
    { class: "bb-edit-table" },
    table(captionOf(node), ["given", ...node.states, "sum"], lines),
    rowsNote(node),
    node.compact ? remark("A compact table (noisy-OR and the like): a change makes it a full one.") : null,
  );
  const update = (/** @type {any} */ other, /** @type {any} */ now) => {
    if (shapeOf(other, now) !== shape) return false;
    rowsOf(other, now).forEach((row, at) => editors[at].show(row.values));
    return true;
  };
  return { el, update };
}

/** A key of everything that the shape of a table depends on. @param {any} spec @param {any} node */
function shapeOf(spec, node) {
  return JSON.stringify([node.name, node.states, !!node.counts, rowsOf(spec, node).map((row) => row.given)]);
}

/** @param {any} node @param {{given: string, values: number[], counts: number[] | null}} row @param {(values: number[]) => void} commit */
function rowEditor(node, row, commit) {
  let taken = row.values;
  /** @type {Set<number>} */
  const typed = new Set();
  const inputs = node.states.map((/** @type {string} */ state, /** @type {number} */ at) => {
    const input = h("input", {
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      "aria-label": `P(${node.name} = ${state}) where ${row.given}`,
      "data-cell": `${row.given}|${state}`,
      oninput: () => {
        typed.add(at);
        judge();
      },
      onchange: () => take(numbers()),
      onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && show(taken, true),
    });
    return input;
  });
  const state = h("span", { class: "bb-cell bb-sum" });
  const numbers =
    () => /** @type {number[]} */ (inputs.map((/** @type {HTMLInputElement} */ each) => cellNumber(each.value)));
  const total = (/** @type {number[]} */ values) => values.reduce((sum, each) => sum + each, 0);
  const isRow = (/** @type {number[]} */ values) => Math.abs(total(values) - 1) <= EXACT;
  const take = (/** @type {number[]} */ values) => {
    if (!isRow(values)) return; // the message is already shown, and a button being pressed must stay
    typed.clear();
    if (values.some((each, at) => each !== taken[at])) commit(values);
    show(values, true);
  };
  const judge = () => {
    const values = numbers(), sum = total(values), right = isRow(values);
    inputs.forEach((/** @type {HTMLInputElement} */ each, /** @type {number} */ at) =>
      each.setAttribute("aria-invalid", String(!right && (Number.isNaN(values[at]) || !Number.isNaN(sum))))
    );
    const kept = values.reduce((all, each, at) => all + (typed.has(at) ? each : 0), 0);
    const offers = right || Number.isNaN(sum) ? [] : [
      sum > 0 &&
      button("Normalise", () => take(values.map((each) => each / sum)), { title: "Divide the row by its sum" }),
      kept <= 1 && typed.size < values.length &&
      button("Scale the others", () => take(restScaled(values, typed)), { title: "Keep what was typed" }),
    ];
    const word = Number.isNaN(sum) ? "not a number" : right ? "1" : `${short(sum)}, must be 1`;
    state.replaceChildren(word, ...offers.filter((each) => each !== false));
  };
  const show = (/** @type {number[]} */ values, always = false) => {
    const same = values.every((each, at) => each === taken[at]);
    taken = values;
    if (!always && (same || typed.size)) return; // keep what is being typed
    typed.clear();
    inputs.forEach((/** @type {HTMLInputElement} */ each, /** @type {number} */ at) => each.value = String(values[at]));
    judge();
  };
  show(row.values, true);
  const cells = inputs.map((/** @type {HTMLInputElement} */ input, /** @type {number} */ at) =>
    row.counts ? h("span", {}, input, h("small", {}, ` ${row.counts[at].toLocaleString("en")}`)) : input
  );
  return { given: row.given, cells, state, show };
}
