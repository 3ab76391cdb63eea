/**
 * A sequence decoded by a hidden Markov model: P(state) of each step, the best path, and the trellis it is read from.
 *
 * Traits: `spec` (states, columns with their levels, example), `steps` (the observed text by column; an absent column
 * is unknown), `answer` (posterior, path, score, trellis, work).
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {import("./dom.js").Model} Model
 * @typedef {Record<string, string>} Step
 */
import { begin, button, choice, failure, fill, h, newId, panels, redraw, s, small, table, tell } from "./dom.js";
import { percent, short } from "./numbers.js";

const FEW = 40; // levels in a list; with more, the text is typed
const LEFT = 110, WIDE = 120, HIGH = 64, TOP = 40, RADIUS = 14;

/** @param {Host} host */
export function renderChain({ model, el }) {
  const [form, steps, trellis] = panels("bb-chain-", ["form", "steps", "trellis"]);
  begin(el, "bb-chain", form, steps, trellis);
  drawForm(form, model);
  return redraw(model, ["answer"], () => {
    const at = /** @type {HTMLElement | null} */ (el.querySelector(":focus"))?.dataset.key;
    drawSteps(steps, model);
    drawTrellis(trellis, model);
    if (at) /** @type {HTMLElement | null} */ (el.querySelector(`[data-key="${CSS.escape(at)}"]`))?.focus();
  });
}

/** The display name of a column. @param {any} spec @param {string} name */
function title(spec, name) {
  return spec.columns.length === 1 && /^\d+$/.test(name) ? "seen" : name;
}

/** @param {HTMLElement} place @param {Model} model */
function drawForm(place, model) {
  const spec = model.get("spec"), [only, ...others] = spec.columns;
  const say = h("p", { role: "status", class: "bb-small" });
  const steps = () => /** @type {Step[]} */ (model.get("steps"));
  const set = (/** @type {Step[]} */ now) => {
    if (now.length > spec.most) say.textContent = `A sequence may have at most ${spec.most} steps.`;
    else tell(model, { steps: now });
  };
  const symbols = !others.length && only.levels && only.levels.length <= FEW ? only.levels : [];
  const id = newId();
  const typed = h("input", {
    id,
    type: "text",
    autocomplete: "off",
    onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && read(),
  });
  const read = () => {
    const words = typed.value.split(/[\s,;]+/).filter((word) => word !== "");
    const odd = words.find((word) =>
      word !== "?" && (only.levels ? !only.levels.includes(word) : !Number.isFinite(Number(word)))
    );
    say.textContent = odd === undefined ? "" : `${odd} is not a known value.`;
    if (odd === undefined) set(words.map((word) => (word === "?" ? {} : { [only.name]: word })));
  };
  fill(
    place,
    h("h2", {}, "The sequence"),
    others.length ? null : h(
      "div",
      { class: "bb-field" },
      h("label", { for: id }, "All steps, with spaces between them; ? is unknown"),
      h("div", { class: "bb-line" }, typed, button("Decode", read)),
    ),
    h(
      "div",
      { class: "bb-line", role: "group", "aria-label": "Add a step" },
      "Add a step:",
      ...symbols.map((/** @type {string} */ level) =>
        button(level, () => set([...steps(), { [only.name]: level }]), { class: "bb-chip", "data-add": level })
      ),
      button("unknown", () => set([...steps(), {}]), { class: "bb-chip", "data-add": "" }),
      button("use an example", () => set(spec.example), { class: "bb-chip" }),
      button("clear", () => set([]), { class: "bb-chip" }),
    ),
    say,
  );
}

/** The editable value of a column in a step. @param {Model} model @param {number} t @param {any} column */
function field(model, t, column) {
  const value = model.get("steps")[t][column.name] ?? "";
  const set = (/** @type {string} */ text) => {
    /** @type {Step[]} */
    const steps = model.get("steps");
    const { [column.name]: _, ...rest } = steps[t];
    const step = text.trim() === "" ? rest : { ...rest, [column.name]: text };
    tell(model, { steps: steps.map((each, at) => (at === t ? step : each)) });
  };
  const more = {
    "aria-label": `${title(model.get("spec"), column.name)}, step ${t + 1}`,
    "data-key": `${t} ${column.name}`,
  };
  if (!column.levels || column.levels.length > FEW) {
    const type = column.levels ? "text" : "number";
    const input = h("input", { type, step: "any", value, onchange: () => set(input.value), ...more });
    return input;
  }
  return choice("unknown", column.levels, value, (level) => set(level ?? ""), more);
}

/** @param {HTMLElement} place @param {Model} model */
function drawSteps(place, model) {
  const spec = model.get("spec"), answer = model.get("answer");
  /** @type {Step[]} */
  const steps = model.get("steps");
  if (!answer || !steps.length) return fill(place, h("p", { role: "status" }, "Add a step to see its states."));
  const known = !answer.error && answer.posterior.length === steps.length;
  const rows = steps.map((_, t) => [
    t + 1,
    ...spec.columns.map((/** @type {any} */ column) => field(model, t, column)),
    known ? h("strong", { "data-path": t }, spec.states[answer.path[t]]) : "",
    ...spec.states.map((/** @type {string} */ _, /** @type {number} */ at) =>
      known ? share(answer.posterior[t][at], `${t},${at}`) : ""
    ),
    button("remove", () => tell(model, { steps: steps.filter((_, at) => at !== t) }), {
      class: "bb-chip",
      "aria-label": `Remove step ${t + 1}`,
      "data-key": `${t} remove`,
    }),
  ]);
  const names = spec.columns.map((/** @type {any} */ column) => title(spec, column.name));
  const heads = [
    "step",
    ...names,
    "best path",
    ...spec.states.map((/** @type {string} */ name) => `P(${name})`),
    "change",
  ];
  const path = known ? answer.path.map((/** @type {number} */ at) => spec.states[at]).join(", ") : "";
  fill(
    place,
    h("h2", {}, "Decoded"),
    answer.error
      ? failure(answer.error)
      : h("p", { role: "status", class: "bb-sentence", "data-score": answer.score }, `The best path is ${path}.`),
    small(
      "P(state) sums over all paths, given the whole sequence; the best path is the one that is most probable as a whole ",
      `(Viterbi), so they may differ. log P(sequence) = ${known ? short(answer.score) : "–"}.`,
    ),
    h("div", { class: "bb-picture" }, table("P(state | sequence) by step", heads, rows)),
  );
}

/** @param {number} p @param {string} key */
function share(p, key) {
  return h(
    "span",
    { class: "bb-cell", title: String(p), "data-p": key },
    h("span", { class: "bb-track" }, h("span", { class: "bb-fill", style: { width: `${100 * p}%` } })),
    ` ${percent(p)}`,
  );
}

/** @param {HTMLElement} place @param {Model} model */
function drawTrellis(place, model) {
  const spec = model.get("spec"), answer = model.get("answer"), trellis = answer?.trellis;
  if (!trellis || answer.error) return fill(place);
  const x = (/** @type {number} */ t) => LEFT + WIDE * t + WIDE / 2,
    y = (/** @type {number} */ state) => TOP + HIGH * state + HIGH / 2;
  const width = LEFT + WIDE * trellis.names.length, height = TOP + HIGH * spec.states.length + 10;
  const told = trellis.names.map((/** @type {string} */ name, /** @type {number} */ t) =>
    `${name} in ${spec.states[answer.path[t]]}, ${short(trellis.delta[t][answer.path[t]])}`
  );
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": `Trellis. The best path: ${told.join("; ")}`,
  });
  for (let t = 1; t < trellis.names.length; t++) {
    trellis.back[t].forEach((/** @type {number} */ come, /** @type {number} */ state) => {
      const best = answer.path[t - 1] === come && answer.path[t] === state;
      svg.append(
        s("line", {
          x1: x(t - 1),
          y1: y(come),
          x2: x(t),
          y2: y(state),
          class: best ? "bb-way bb-best" : "bb-way",
          "data-way": `${t},${come},${state}`,
        }),
      );
    });
  }
  spec.states.forEach((/** @type {string} */ name, /** @type {number} */ state) => {
    svg.append(s("text", { x: 4, y: y(state) + 4 }, cut(name, 14)));
    trellis.names.forEach((/** @type {string} */ step, /** @type {number} */ t) => {
      if (!state) svg.append(s("text", { x: x(t), y: 18, "text-anchor": "middle", class: "bb-mark" }, cut(step, 16)));
      const delta = trellis.delta[t][state], best = answer.path[t] === state;
      svg.append(
        s(
          "circle",
          {
            cx: x(t),
            cy: y(state),
            r: RADIUS,
            class: best ? "bb-trellis-node bb-best" : "bb-trellis-node",
            "data-delta": delta,
          },
          s("title", {}, `${step}, ${name}: ${delta}`),
        ),
        s("text", { x: x(t), y: y(state) + RADIUS + 14, "text-anchor": "middle", class: "bb-mark" }, short(delta)),
      );
    });
  });
  fill(
    place,
    h("h2", {}, "Trellis"),
    small(
      "Below each state is the probability of the best path into it, given the steps so far; ",
      "the lines show where it comes from, and the thick lines are the best path.",
    ),
    h("div", { class: "bb-picture", tabindex: 0, role: "group", "aria-label": "Trellis, scrolls" }, svg),
    h("details", { class: "bb-work" }, h("summary", {}, "Show the work"), h("pre", {}, answer.work)),
  );
}

/** @param {string} text @param {number} most */
function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

export default { render: renderChain };
