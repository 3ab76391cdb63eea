/**
 * The columns: type, missing values, distribution, and information about the class. The types of a table can be
 * changed, which counts it again.
 *
 * Traits: `found` (columns, remarks, kinds; types if they can be changed), `types` (column: type), `answer` (an error).
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {import("./dom.js").Model} Model
 * @typedef {{name: string, count: number, from?: number, to?: number}} Bar
 */
import { dict } from "./dict.js";
import { begin, choice, failure, fill, h, redraw, remark, s, small, table, tell } from "./dom.js";
import { percent, short } from "./numbers.js";

const WIDTH = 120, HEIGHT = 28;

/** @param {Host} host */
export function renderData({ model, el }) {
  begin(el, "bb-data");
  return redraw(model, ["found", "answer"], () => {
    const found = model.get("found"), failed = model.get("answer")?.error;
    const error = failed ? failure(failed) : null;
    if (!found) return fill(el, error ?? h("p", { role: "status" }, "Counting…"));
    const focused = /** @type {HTMLElement | null} */ (el.querySelector(":focus"))?.dataset.type;
    const most = Math.max(1e-9, ...found.columns.map((/** @type {any} */ each) => each.bits ?? 0));
    const rows = found.columns.map((/** @type {any} */ each) => [
      each.name,
      found.types ? typeChoice(model, found, each) : h("span", { class: "bb-cell" }, each.kind),
      percent(each.missing),
      h("span", { class: "bb-cell" }, each.values),
      each.shape ? h("span", { class: "bb-cell" }, shape(each.name, each.shape)) : "",
      each.bits === null ? h("span", { class: "bb-cell" }, each.why ?? "") : bar(each, most),
    ]);
    const heads = ["column", "type", "missing", "values", "shape", "information about the class"];
    fill(
      el,
      h("h2", {}, `${found.rows.toLocaleString("en")} rows`),
      error,
      ...found.remarks.map((/** @type {string} */ text) => remark(text)),
      h("div", { class: "bb-scroll" }, table("Columns", heads, rows)),
      found.types ? small("A change of type counts the whole table again, in every view.") : null,
    );
    if (focused === undefined) return;
    /** @type {HTMLElement | null} */ (el.querySelector(`[data-type="${CSS.escape(focused)}"]`))?.focus();
  });
}

/** @param {Model} model @param {any} found @param {any} column */
function typeChoice(model, found, column) {
  const types = dict(model.get("types")), own = types[column.name];
  const choose = (/** @type {string | null} */ kind) => {
    const chosen = dict(types);
    if (kind) chosen[column.name] = kind;
    else delete chosen[column.name];
    tell(model, { answer: null, types: chosen });
  };
  const first = own ? "automatic" : `${column.kind} (automatic)`;
  const more = { "aria-label": `Type of ${column.name}`, "data-type": column.name };
  return h("span", { class: "bb-cell" }, choice(first, found.kinds, own, choose, more));
}

/** Bars of the counts: by level, or by position for a number. @param {string} name @param {Bar[]} bars */
function shape(name, bars) {
  const last = bars.length - 1, numbers = bars[0].from !== undefined;
  const low = bars[0].from ?? 0, wide = numbers ? (bars[last].to ?? 0) - low : bars.length;
  const high = bars.map((each) => each.count / (numbers ? (each.to ?? 0) - (each.from ?? 0) : 1));
  const most = Math.max(...high);
  const svg = s("svg", {
    width: WIDTH,
    height: HEIGHT,
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "data-shape": name,
    "aria-label": `${name}: ${bars.map((each) => `${each.name} ${short(each.count)}`).join(", ")}`,
  });
  bars.forEach((each, at) => {
    const start = numbers ? ((each.from ?? 0) - low) / wide : at / wide;
    const width = (numbers ? ((each.to ?? 0) - (each.from ?? 0)) / wide : 1 / wide) * WIDTH;
    const height = Math.max(most ? HEIGHT * high[at] / most : 0, each.count ? 1 : 0);
    const place = { x: start * WIDTH, y: HEIGHT - height, width: Math.max(width - 1, 1), height };
    svg.append(s("rect", { ...place, class: "bb-column" }, s("title", {}, `${each.name}: ${short(each.count)} rows`)));
  });
  return svg;
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
