/**
 * What the columns are: type, missing values, what they hold, and what each says of the class.
 *
 * Traits: `found` (columns, remarks).
 *
 * @typedef {import("./dom.js").Host} Host
 */
import { fill, h, percent, redraw, table } from "./dom.js";

/** @param {Host} host */
export function renderData({ model, el }) {
  el.classList.add("bb", "bb-data");
  return redraw(model, ["found"], () => {
    const found = model.get("found");
    if (!found) return fill(el, h("p", { role: "status" }, "Counting…"));
    if (found.error) return fill(el, h("p", { role: "alert", class: "bb-error" }, found.error));
    const most = Math.max(1e-9, ...found.columns.map((/** @type {any} */ each) => each.bits ?? 0));
    const rows = found.columns.map((/** @type {any} */ each) => [
      each.name,
      each.kind,
      percent(each.missing),
      h("span", { class: "bb-cell" }, each.values),
      each.bits === null ? h("span", { class: "bb-cell" }, each.why ?? "") : bar(each, most),
    ]);
    fill(
      el,
      h("h2", {}, `${found.rows.toLocaleString("en")} rows`),
      ...found.remarks.map((/** @type {string} */ text) => h("p", { class: "bb-note" }, text)),
      table("Columns", ["column", "type", "missing", "values", "says of the class"], rows),
    );
  });
}

/** @param {any} each @param {number} most */
function bar(each, most) {
  return h(
    "span",
    { class: "bb-cell", title: `${each.bits} bit`, "data-bits": each.name },
    h("span", { class: "bb-track" }, h("span", { class: "bb-fill", style: { width: `${100 * each.bits / most}%` } })),
    ` ${each.bits.toFixed(3)} bit`,
  );
}

export default { render: renderData };
