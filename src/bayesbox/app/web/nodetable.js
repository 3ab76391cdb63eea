/** The table of a node, in a dialog. */
import { button, h, short, table } from "./dom.js";

const MOST_ROWS = 200;

/** @param {HTMLElement} el @param {any} spec @param {string} name */
export function showTable(el, spec, name) {
  const node = spec.nodes.find((/** @type {any} */ own) => own.name === name);
  if (!node?.table) return;
  const parents = node.parents.map((/** @type {string} */ parent) =>
    spec.nodes.find((/** @type {any} */ own) => own.name === parent)
  );
  const size = node.states.length, rows = [];
  for (let row = 0; row < Math.min(node.table.length / size, MOST_ROWS); row++) {
    let rest = row;
    const states = parents.map((/** @type {any} */ _, /** @type {number} */ at) => {
      const below = parents.slice(at + 1).reduce(
        (/** @type {number} */ n, /** @type {any} */ each) => n * each.states.length,
        1,
      );
      const place = Math.floor(rest / below);
      rest -= place * below;
      return `${parents[at].name} = ${parents[at].states[place]}`;
    });
    const cells = node.table.slice(row * size, (row + 1) * size).map(
      (/** @type {number} */ p, /** @type {number} */ at) => {
        const count = node.counts?.[row * size + at];
        return count === undefined ? short(p) : `${short(p)} (${count.toLocaleString("en")})`;
      },
    );
    rows.push([states.join(", ") || "P", ...cells]);
  }
  const given = node.parents.length ? ` | ${node.parents.join(", ")}` : "";
  const about = node.counts ? `P(${name}${given}), with the rows counted` : `P(${name}${given})`;
  const dialog = h(
    "dialog",
    { class: "bb-dialog", "aria-label": `Table of ${name}`, onclose: () => dialog.remove() },
    table(about, ["given", ...node.states], rows),
    node.table.length / size > MOST_ROWS ? h("p", { class: "bb-note" }, `The first ${MOST_ROWS} rows.`) : null,
    button("Close", () => dialog.close()),
  );
  el.append(dialog);
  dialog.showModal();
}
