/**
 * What if: one row, in which every column can be set or unknown, and the answer.
 *
 * Traits: `spec` (target, classes, columns), `row` (column: value; absent is unknown), `answer` (see answers.js).
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {{name: string, kind: "category" | "number" | "text", levels?: string[], low?: number, high?: number,
 *   step?: number, marks?: number[]}} ColumnSpec
 */
import { countsText } from "./counts.js";
import { dict } from "./dict.js";
import { begin, button, choice, failure, fill, h, newId, redraw, remark, small, tell } from "./dom.js";
import { inWords, percent, short, signed } from "./numbers.js";

const FEW_LEVELS = 7, SEARCHED = 60, SHOWN = 40;

/** @param {Host} host */
export function renderWhatIf({ model, el }) {
  const spec = model.get("spec");
  const inputs = h("form", { class: "bb-inputs", "aria-label": "What is known", onsubmit: stop });
  const outcome = h("section", { class: "bb-outcome", "aria-label": "What follows" });
  const why = h("section", { class: "bb-why", "aria-label": "Why" });
  const set = (/** @type {string} */ name, /** @type {any} */ value) => {
    const row = dict(model.get("row"));
    if (value === null || value === "") delete row[name];
    else row[name] = value;
    tell(model, { row });
  };
  const controls = spec.columns.map((/** @type {ColumnSpec} */ column) => control(column, set));
  inputs.append(
    h("h2", {}, "What is known"),
    ...controls.map((/** @type {any} */ each) => each.element),
    button("Set all to unknown", () => tell(model, { row: {} }), { class: "bb-clear" }),
  );
  begin(el, "bb-whatif", inputs, outcome, why);
  const stopRow = redraw(model, ["row"], () => { // immediately; the rest is drawn with the answer
    const row = dict(model.get("row"));
    for (const each of controls) each.show(row[each.name]);
  });
  const stopAnswer = redraw(model, ["answer"], () => {
    const row = dict(model.get("row")), answer = model.get("answer");
    if (!answer) return;
    if (answer.error) return fill(outcome, failure(answer.error));
    drawOutcome(outcome, spec, answer);
    const ask = (answer.ask ?? []).filter((/** @type {any} */ each) => row[each.column] === undefined);
    drawWhy(why, spec, { ...answer, ask }, set);
  });
  return () => [stopRow, stopAnswer].forEach((each) => each());
}

/** @param {Event} event */
function stop(event) {
  event.preventDefault();
}

/**
 * The control of one column.
 *
 * @param {ColumnSpec} column @param {(name: string, value: any) => void} set
 * @returns {{name: string, element: HTMLElement, show(value: any): void}}
 */
function control(column, set) {
  if (column.kind === "number") return numberControl(column, set);
  const levels = column.levels ?? [];
  if (column.kind === "text" || levels.length > SEARCHED) return searchControl(column, set);
  return levels.length > FEW_LEVELS ? listControl(column, set) : radioControl(column, set);
}

/** @param {ColumnSpec} column @param {(name: string, value: any) => void} set */
function radioControl(column, set) {
  const group = newId();
  const radios = [null, ...(column.levels ?? [])].map((level) => {
    const input = h("input", { type: "radio", name: group, onchange: () => set(column.name, level) });
    return { level, input, label: h("label", {}, input, h("span", {}, level === null ? "unknown" : level)) };
  });
  const element = h(
    "fieldset",
    { "data-column": column.name },
    h("legend", {}, column.name),
    h("div", { class: "bb-pills" }, ...radios.map((each) => each.label)),
  );
  const show = (/** @type {any} */ value) => {
    for (const each of radios) each.input.checked = each.level === (value === undefined ? null : String(value));
  };
  return { name: column.name, element, show };
}

/** @param {ColumnSpec} column @param {(name: string, value: any) => void} set */
function listControl(column, set) {
  const id = newId();
  const select = choice("unknown", column.levels ?? [], null, (level) => set(column.name, level), { id });
  const element = labelled(column, id, select);
  const show = (/** @type {any} */ value) => {
    select.selectedIndex = value === undefined ? 0 : 1 + (column.levels ?? []).indexOf(String(value));
  };
  return { name: column.name, element, show };
}

/** A column with many levels: they are searched, not listed. @param {ColumnSpec} column @param {(name: string, value: any) => void} set */
function searchControl(column, set) {
  const id = newId(), list = h("datalist", { id: newId() }), levels = column.levels ?? [];
  const offer = () => {
    const typed = input.value.toLowerCase();
    const fits = levels.filter((level) => level.toLowerCase().includes(typed)).slice(0, SHOWN);
    list.replaceChildren(...fits.map((level) => h("option", { value: level })));
  };
  const input = h("input", {
    id,
    list: list.id,
    placeholder: "unknown",
    autocomplete: "off",
    oninput: offer,
    onfocus: offer,
    onchange: () => set(column.name, input.value === "" ? null : input.value),
  });
  const element = labelled(column, id, input, list, button("unknown", () => set(column.name, null), unknownOf(column)));
  const show = (/** @type {any} */ value) => {
    if (!input.matches(":focus")) input.value = value ?? "";
  };
  return { name: column.name, element, show };
}

/** @param {ColumnSpec} column @param {(name: string, value: any) => void} set */
function numberControl(column, set) {
  const id = newId(), { low = 0, high = 1 } = column, step = column.step ?? (high - low) / 200;
  const say = (/** @type {HTMLInputElement} */ from) => set(column.name, from.value === "" ? null : Number(from.value));
  const input = h("input", { id, type: "number", step: "any", placeholder: "unknown", onchange: () => say(input) });
  const slider = h("input", {
    type: "range",
    min: low,
    max: high,
    step,
    "aria-label": `${column.name}, slider`,
    oninput: () => say(slider),
  });
  const element = labelled(
    column,
    id,
    input,
    slider,
    button("unknown", () => set(column.name, null), unknownOf(column)),
  );
  const show = (/** @type {any} */ value) => {
    if (!input.matches(":focus")) input.value = value === undefined ? "" : String(value); // not while typing
    slider.value = String(value ?? (low + high) / 2);
    element.classList.toggle("bb-unknown", value === undefined);
  };
  return { name: column.name, element, show };
}

/** @param {ColumnSpec} column */
function unknownOf(column) {
  return { "aria-label": `${column.name} is unknown`, class: "bb-quiet" };
}

/** @param {ColumnSpec} column @param {string} id @param {...HTMLElement} inside */
function labelled(column, id, ...inside) {
  const line = h("div", { class: "bb-line" }, ...inside);
  return h("div", { class: "bb-field", "data-column": column.name }, h("label", { for: id }, column.name), line);
}

/** @param {HTMLElement} place @param {any} spec @param {any} answer */
function drawOutcome(place, spec, answer) {
  const { posterior, label } = answer;
  const rows = spec.classes.map((/** @type {string} */ name, /** @type {number} */ c) => ({
    name,
    p: posterior[c],
    c,
  }));
  if (rows.length > 12) rows.sort((/** @type {any} */ a, /** @type {any} */ b) => b.p - a.p).splice(12);
  const most = [...answer.terms].sort((a, b) => Math.abs(b.logOdds) - Math.abs(a.logOdds))[0];
  const sentence =
    `${spec.target ?? "The class"} is ${spec.classes[label]} in ${inWords(posterior[label])} such cases` +
    ` (${percent(posterior[label])}).` + (most && most.logOdds ? ` ${most.column} moved it most.` : "");
  fill(
    place,
    h("h2", {}, "What follows"),
    h("p", { role: "status", class: "bb-sentence" }, sentence),
    h(
      "ul",
      { class: "bb-bars" },
      ...rows.map((/** @type {any} */ each) =>
        h(
          "li",
          { "data-class": each.name, class: each.c === label ? "bb-best" : "", title: `P(${each.name}) = ${each.p}` },
          h("span", { class: "bb-name" }, each.name),
          h("span", { class: "bb-track" }, h("span", { class: "bb-fill", style: { width: `${100 * each.p}%` } })),
          h("span", { class: "bb-number" }, percent(each.p)),
        )
      ),
    ),
    answer.interval ? h("p", { class: "bb-small", "data-interval": "" }, sureness(spec, answer)) : null,
    ...answer.notes.map((/** @type {string} */ note) => remark(note)),
  );
}

/** The credible interval of the answer. @param {any} spec @param {any} answer */
function sureness(spec, answer) {
  const [low, high] = answer.interval[answer.label];
  return `95 % credible interval of P(${spec.classes[answer.label]}): ${percent(low)} to ${percent(high)}.`;
}

/** @param {HTMLElement} place @param {any} spec @param {any} answer @param {(name: string, value: any) => void} set */
function drawWhy(place, spec, answer, set) {
  const { label, against, terms } = answer;
  const versus = against === null ? "" : `for ${spec.classes[label]} over ${spec.classes[against]}`;
  const bars = [{ column: "prior", text: "prior", logOdds: answer.priorLogOdds }, ...terms];
  if (answer.calibration) {
    bars.push({ column: "calibration", text: answer.calibration.name, logOdds: answer.calibration.logOdds });
  }
  const most = Math.max(1e-9, ...bars.map((each) => Math.min(Math.abs(each.logOdds), 20)));
  fill(
    place,
    h("h2", {}, "Why"),
    against === null ? null : small(`Log-odds ${versus}, column by column`),
    against === null ? null : h("ul", { class: "bb-signed" }, ...bars.map((each) => signedBar(spec, each, most))),
    against === null
      ? null
      : h("p", { class: "bb-total" }, `all ${signed(answer.logOdds)}: odds ${odds(answer.logOdds)}`),
    ...asking(spec, answer, set),
    ...flipping(spec, answer, set),
    answer.work
      ? h("details", { class: "bb-work" }, h("summary", {}, "Show the work"), h("pre", {}, answer.work))
      : null,
  );
}

/** @param {number} logOdds */
function odds(logOdds) {
  return logOdds >= 0
    ? `${short(Number(Math.exp(logOdds).toPrecision(3)))} : 1`
    : `1 : ${short(Number(Math.exp(-logOdds).toPrecision(3)))}`;
}

/** @param {any} spec @param {any} each @param {number} most */
function signedBar(spec, each, most) {
  const column = spec.columns.find((/** @type {ColumnSpec} */ own) => own.name === each.column);
  const counts = column ? countsText(spec.classes, column, each.text.replace(/^= /, "")) : null;
  const share = Math.min(Math.abs(each.logOdds) / most, 1);
  return h(
    "li",
    { "data-term": each.column, title: counts ?? `${each.column}: ${each.logOdds}` },
    h("span", { class: "bb-name" }, each.column, each.text ? h("small", {}, ` ${each.text}`) : null),
    h(
      "span",
      { class: "bb-axis" },
      h("span", { class: each.logOdds < 0 ? "bb-minus" : "bb-plus", style: { width: `${50 * share}%` } }),
    ),
    h("span", { class: "bb-number" }, signed(each.logOdds)),
  );
}

/** @param {any} spec @param {any} answer @param {(name: string, value: any) => void} set @returns {(HTMLElement | null)[]} */
function asking(spec, answer, set) {
  if (!answer.ask?.length) return [];
  const chips = answer.ask.slice(0, 5).map((/** @type {any} */ each) => {
    const column = spec.columns.find((/** @type {ColumnSpec} */ own) => own.name === each.column);
    const levels = column?.kind === "category" && column.levels.length <= FEW_LEVELS ? column.levels : [];
    return h(
      "li",
      { "data-ask": each.column },
      h("span", { class: "bb-name" }, each.column),
      h("span", { class: "bb-small" }, `${each.bits.toFixed(3)} bit`),
      ...levels.map((/** @type {string} */ level) =>
        button(level, () => set(each.column, level), { class: "bb-chip", "aria-label": `${each.column} is ${level}` })
      ),
    );
  });
  return [h("h3", {}, "Ask next"), h("ul", { class: "bb-ask" }, ...chips)];
}

/** @param {any} spec @param {any} answer @param {(name: string, value: any) => void} set @returns {(HTMLElement | null)[]} */
function flipping(spec, answer, set) {
  if (!answer.flip) return [];
  const changes = Object.entries(answer.flip.changes);
  const text = changes.map(([name, value]) => `${name} = ${typeof value === "number" ? short(value) : value}`).join(
    ", ",
  );
  const after = `${answer.flip.prediction} ${percent(answer.flip.probability)}`;
  const isNumber = (/** @type {string} */ name) =>
    spec.columns.find((/** @type {ColumnSpec} */ own) => own.name === name)?.kind === "number";
  const apply = () => changes.forEach(([name, value]) => set(name, isNumber(name) ? Number(value) : value));
  return [
    h("h3", {}, "Changes that flip the prediction"),
    h("p", { class: "bb-flip" }, `${text}: then ${after} `, button("try it", apply, { class: "bb-chip" })),
  ];
}

export default { render: renderWhatIf };
