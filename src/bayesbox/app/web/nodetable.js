/** The table of a node: its rows in words, and a dialog that shows it. */
import { button, h, remark, table } from "./dom.js";
import { short } from "./numbers.js";

const MOST_ROWS = 200;

/**
 * The rows of a table, one per combination of the parents' states, the last parent fastest.
 *
 * @param {any} spec @param {any} node
 * @returns {{given: string, values: number[], counts: number[] | null}[]}
 */
export function rowsOf(spec, node) {
  const parents = node.parents.map((/** @type {string} */ name) =>
    spec.nodes.find((/** @type {any} */ own) => own.name === name)
  );
  const size = node.states.length, rows = [];
  for (let row = 0; row < Math.min(node.table.length / size, MOST_ROWS); row++) {
    let rest = row;
    const states = [];
    for (const { name, states: own } of [...parents].reverse()) {
      states.unshift(`${name} = ${own[rest % own.length]}`);
      rest = Math.floor(rest / own.length);
    }
    const [from, to] = [row * size, (row + 1) * size];
    rows.push({
      given: states.join(", ") || "P",
      values: node.table.slice(from, to),
      counts: node.counts?.slice(from, to) ?? null,
    });
  }
  return rows;
}

/** The title of a table. @param {any} node */
export function captionOf(node) {
  const given = node.parents.length ? ` | ${node.parents.join(", ")}` : "";
  return `P(${node.name}${given})${node.counts ? ", with the rows counted" : ""}`;
}

/** The note if rows are not shown. @param {any} node */
export function rowsNote(node) {
  return node.table.length / node.states.length > MOST_ROWS ? remark(`The first ${MOST_ROWS} rows.`) : null;
}

/** @param {HTMLElement} el @param {any} spec @param {string} name */
export function showTable(el, spec, name) {
  const node = spec.nodes.find((/** @type {any} */ own) => own.name === name);
  if (!node?.table) return;
  const rows = rowsOf(spec, node).map(({ given, values, counts }) => [
    given,
    ...values.map((p, at) => (counts ? `${short(p)} (${counts[at].toLocaleString("en")})` : short(p))),
  ]);
  const dialog = h(
    "dialog",
    { class: "bb-dialog", "aria-label": `Table of ${name}`, onclose: () => dialog.remove() },
    table(captionOf(node), ["given", ...node.states], rows),
    rowsNote(node),
    button("Close", () => dialog.close()),
  );
  el.append(dialog);
  dialog.showModal();
}
