/**
 * The evaluation of a model: metrics, the confusion matrix down to its rows, reliability, and thresholds.
 *
 * Traits: `spec`, `found` (figures, confusion, bins, thresholds), `answer` (an error), `cell` ([true, predicted] or
 * null), `rows` of the cell, `label`, `threshold`, `rate` (base rate of the label), `cost` (of a miss, in false
 * alarms).
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {{label: string, at: number[], hits: number[], alarms: number[], positives: number, negatives: number}} Steps
 */
import { begin, button, failure, fill, h, newId, panels, redraw, s, small, table, tell } from "./dom.js";
import { percent, short } from "./numbers.js";

const SIZE = 260, PEOPLE = 1000;

/** @param {Host} host */
export function renderEvaluation({ model, el }) {
  const [figures, confusion, rows, curve, choice] = panels("bb-", ["figures", "confusion", "rows", "curve", "choice"]);
  begin(el, "bb-evaluation", figures, confusion, curve, choice, rows);
  el.classList.toggle("bb-many", model.get("spec").classes.length > 4);
  /** @type {any} */
  let drawn = null;
  return redraw(model, ["found", "answer", "cell", "rows", "threshold", "rate", "cost"], () => {
    const found = model.get("found"), failed = model.get("answer")?.error;
    if (!found) return fill(figures, failed ? failure(failed) : h("p", { role: "status" }, "Evaluating the model…"));
    if (found.error) return fill(figures, failure(found.error));
    if (drawn !== found) {
      drawn = found;
      drawFigures(figures, found);
      drawReliability(curve, found);
      if (found.steps) drawChoice(choice, model, found.steps);
    }
    drawConfusion(confusion, model, found);
    drawRows(rows, model);
    choice.querySelector("[data-outcome]")?.replaceWith(found.steps ? outcome(model, found.steps) : "");
  });
}

/** @param {HTMLElement} place @param {any} found */
function drawFigures(place, found) {
  const lines = found.figures.map((
    /** @type {any} */ each,
  ) => [each.name, each.value.toFixed(4), `${each.low.toFixed(4)} to ${each.high.toFixed(4)}`]);
  fill(
    place,
    h("h2", {}, "Performance"),
    table(`${found.rows.toLocaleString("en")} rows${found.how ? `, ${found.how}` : ""}`, [
      "figure",
      "value",
      "95 % interval",
    ], lines),
  );
}

/** @param {HTMLElement} place @param {import("./dom.js").Model} model @param {any} found */
function drawConfusion(place, model, found) {
  const cell = model.get("cell");
  const rows = found.confusion.map((/** @type {number[]} */ counts, /** @type {number} */ t) => [
    found.classes[t],
    ...counts.map((count, p) => {
      const chosen = cell && cell[0] === t && cell[1] === p;
      return button(short(count), () => tell(model, { cell: chosen ? null : [t, p] }), {
        "data-cell": `${t},${p}`,
        "aria-pressed": String(Boolean(chosen)),
        class: t === p ? "bb-right" : "bb-wrong",
        "aria-label": `${short(count)}: true ${found.classes[t]}, predicted ${found.classes[p]}`,
      });
    }),
  ]);
  const heads = ["true \\ predicted", ...found.classes];
  fill(
    place,
    h("h2", {}, "Confusion"),
    small("Click a cell to see its rows."),
    table("Rows by true and predicted class", heads, rows),
  );
}

/** @param {HTMLElement} place @param {import("./dom.js").Model} model */
function drawRows(place, model) {
  const rows = model.get("rows"), cell = model.get("cell");
  if (!rows || !cell) return fill(place);
  const names = rows.shown.length ? Object.keys(rows.shown[0].row) : [];
  const lines = rows.shown.map((/** @type {any} */ each) => [
    h("a", { href: model.get("link")?.(each.row) ?? "#" }, `row ${each.number}`),
    percent(each.pTrue),
    ...names.map((name) => each.row[name] === undefined ? "" : String(each.row[name])),
  ]);
  fill(
    place,
    h("h2", {}, "Its rows"),
    small(
      "The most surprising first: their labels may be wrong. Click a row to open it in What if.",
      rows.sample ? ` From a sample of ${rows.sample.map(short).join(" of the ")} rows.` : null,
    ),
    h(
      "div",
      { class: "bb-picture" },
      table(`${rows.number.toLocaleString("en")} rows`, ["row", "P(true class)", ...names], lines),
    ),
  );
}

/** @param {HTMLElement} place @param {any} found */
function drawReliability(place, found) {
  const at = (/** @type {number} */ x) => 40 + (SIZE - 50) * x,
    up = (/** @type {number} */ y) => SIZE - 30 - (SIZE - 40) * y;
  const svg = s("svg", {
    viewBox: `0 0 ${SIZE} ${SIZE}`,
    width: SIZE,
    height: SIZE,
    role: "img",
    "aria-label": "Reliability: " +
      found.bins.map((/** @type {any} */ bin) => `confident ${percent(bin.confidence)}, right ${percent(bin.accuracy)}`)
        .join("; "),
  });
  svg.append(
    s("line", { x1: at(0), y1: up(0), x2: at(1), y2: up(1), class: "bb-arc bb-closed" }),
    s("line", { x1: at(0), y1: up(0), x2: at(1), y2: up(0), class: "bb-rule" }),
    s("line", { x1: at(0), y1: up(0), x2: at(0), y2: up(1), class: "bb-rule" }),
    s("text", { x: at(0.5), y: SIZE - 4, "text-anchor": "middle", class: "bb-mark" }, "confidence"),
    s("text", { x: at(0) + 4, y: 12, class: "bb-mark" }, "right"),
  );
  for (const share of [0, 0.5, 1]) {
    svg.append(
      s("text", { x: at(share), y: SIZE - 18, "text-anchor": "middle", class: "bb-mark" }, `${100 * share} %`),
      s("text", { x: 36, y: up(share) + 4, "text-anchor": "end", class: "bb-mark" }, `${100 * share} %`),
    );
  }
  const most = Math.max(1, ...found.bins.map((/** @type {any} */ bin) => bin.n));
  for (const bin of found.bins) {
    const title = `${short(Math.round(bin.accuracy * bin.n))} of ${short(bin.n)} were right, at a confidence of ${
      percent(bin.confidence)
    }`;
    svg.append(
      s("line", {
        x1: at(bin.confidence),
        x2: at(bin.confidence),
        y1: up(bin.low),
        y2: up(bin.high),
        class: "bb-rule",
      }),
      s("circle", {
        cx: at(bin.confidence),
        cy: up(bin.accuracy),
        r: 3 + 5 * Math.sqrt(bin.n / most),
        class: "bb-prior",
      }, s("title", {}, title)),
    );
  }
  fill(place, h("h2", {}, "Calibration"), svg, small("On the diagonal, the confidence equals the accuracy."));
}

/** @param {import("./dom.js").Model} model @param {string} name @param {string} text @param {number} max @param {number} step @param {(value: number) => string} say */
function slider(model, name, text, max, step, say) {
  const id = newId(), output = h("output", { for: id }, say(model.get(name)));
  const input = h("input", {
    id,
    type: "range",
    min: step,
    max,
    step,
    value: model.get(name),
    "data-trait": name,
    oninput: () => {
      output.textContent = say(Number(input.value));
      tell(model, { [name]: Number(input.value) });
    },
  });
  return h("div", { class: "bb-field" }, h("label", { for: id }, text), h("div", { class: "bb-line" }, input, output));
}

/** @param {HTMLElement} place @param {import("./dom.js").Model} model @param {Steps} steps */
function drawChoice(place, model, steps) {
  if (model.get("rate") === null) model.set("rate", steps.positives / (steps.positives + steps.negatives));
  fill(
    place,
    h("h2", {}, `Threshold for ${steps.label}`),
    slider(model, "threshold", `Predict ${steps.label} if its probability is at least`, 0.99, 0.01, percent),
    slider(model, "rate", `Share of ${steps.label} among all`, 0.99, 0.01, percent),
    slider(model, "cost", "Cost of a miss, in false alarms", 50, 1, (x) => `${x} ×`),
    outcome(model, steps),
  );
}

/** The outcome of a threshold for 1,000 cases at a base rate. @param {Steps} steps @param {number} threshold @param {number} rate */
export function atThreshold(steps, threshold, rate) {
  const found = steps.at.findIndex((each) => each >= threshold - 1e-12);
  const hits = found < 0 ? 0 : steps.hits[found], alarms = found < 0 ? 0 : steps.alarms[found];
  const hitRate = steps.positives ? hits / steps.positives : 0,
    alarmRate = steps.negatives ? alarms / steps.negatives : 0;
  const caught = PEOPLE * rate * hitRate, missed = PEOPLE * rate - caught, false_ = PEOPLE * (1 - rate) * alarmRate;
  return { caught, missed, alarms: false_, quiet: PEOPLE * (1 - rate) - false_, hitRate, alarmRate };
}

/** The threshold with the lowest cost. @param {Steps} steps @param {number} rate @param {number} cost of a miss, in false alarms */
export function cheapest(steps, rate, cost) {
  let best = { threshold: 1, cost: Infinity };
  for (const threshold of [...steps.at, 1.01]) {
    const { missed, alarms } = atThreshold(steps, threshold, rate), own = cost * missed + alarms;
    if (own < best.cost - 1e-9) best = { threshold, cost: own };
  }
  return best;
}

/** @param {import("./dom.js").Model} model @param {Steps} steps */
function outcome(model, steps) {
  const { threshold, rate, cost } = Object.fromEntries(
    ["threshold", "rate", "cost"].map((name) => [name, model.get(name)]),
  );
  const now = atThreshold(steps, threshold, rate), best = cheapest(steps, rate, cost);
  const n = (/** @type {number} */ x) => Math.round(x).toLocaleString("en"), asked = now.caught + now.alarms;
  const words = asked < 0.5
    ? `Of 1,000 cases none is predicted ${steps.label}.`
    : `Of 1,000 cases ${n(asked)} are predicted ${steps.label}, and ${n(now.caught)} of them are; ${
      n(now.missed)
    } are missed.`;
  return h(
    "div",
    { "data-outcome": "" },
    h("p", { role: "status", class: "bb-sentence", "data-hit": now.hitRate, "data-alarm": now.alarmRate }, words),
    table("Of 1,000 cases", ["truth", `predicted ${steps.label}`, "answered otherwise"], [
      [steps.label, n(now.caught), n(now.missed)],
      ["another class", n(now.alarms), n(now.quiet)],
    ]),
    small(
      `At this cost the best threshold is ${best.threshold > 1 ? "never" : percent(best.threshold)}; `,
      `cost now ${short(Number((cost * now.missed + now.alarms).toPrecision(3)))}, at best ${
        short(Number(best.cost.toPrecision(3)))
      } false alarms. `,
      best.threshold > 1
        ? null
        : button("use it", () => tell(model, { threshold: Number(best.threshold.toFixed(2)) }), { class: "bb-chip" }),
    ),
  );
}

export default { render: renderEvaluation };
