/**
 * Several kinds of model on the same folds of a table: the choice of models, the progress, and the results.
 *
 * Traits: `found` (kinds, slow, running, share, rows, refused), `models` (chosen names, null for all fast ones),
 * `action` ("start", "cancel" or null, sent with the next request).
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {import("./dom.js").Model} Model
 */
import { begin, button, failure, fill, h, panels, redraw, remark, small, table, tell } from "./dom.js";
import { percent, short } from "./numbers.js";

const EVERY = 400; // milliseconds between requests while something runs

/** @param {Host} host */
export function renderCompare({ model, el }) {
  const [choice, progress, result] = panels("bb-compare-", ["choice", "progress", "result"]);
  begin(el, ["bb-chain", "bb-compare"], choice, progress, result);
  let drawn = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const stop = redraw(model, ["found", "answer"], () => {
    const found = model.get("found"), failed = model.get("answer")?.error;
    clearTimeout(timer);
    if (failed) return fill(progress, failure(failed));
    if (!found) return fill(progress, h("p", { role: "status" }, "Asking…"));
    if (!drawn) drawChoice(choice, model, found);
    drawn = true;
    choice.querySelectorAll("button, input").forEach((each) => each.toggleAttribute("disabled", !!found.running));
    drawProgress(progress, model, found);
    drawResult(result, found);
    if (found.running) timer = setTimeout(() => /** @type {any} */ (model).ask?.(), EVERY);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** Send an action to the host, once. @param {Model} model @param {string} action */
function act(model, action) {
  tell(model, { action, answer: null });
  model.set("action", null);
}

/** @param {HTMLElement} place @param {Model} model @param {any} found */
function drawChoice(place, model, found) {
  const chosen = new Set(
    model.get("models") ?? found.kinds.filter((/** @type {string} */ name) => !found.slow.includes(name)),
  );
  const boxes = found.kinds.map((/** @type {string} */ name) => {
    const input = h("input", {
      type: "checkbox",
      checked: chosen.has(name),
      onchange: () => {
        if (input.checked) chosen.add(name);
        else chosen.delete(name);
      },
    });
    return h("label", { class: "bb-line" }, input, found.slow.includes(name) ? `${name} (slow)` : name);
  });
  const start = () => {
    model.set("models", found.kinds.filter((/** @type {string} */ name) => chosen.has(name)));
    act(model, "start");
  };
  fill(
    place,
    h("h2", {}, "Train and compare"),
    small(`Each is evaluated by ${found.folds}-fold cross-validation on the same folds.`),
    h("fieldset", { class: "bb-field" }, h("legend", {}, "Kinds of model"), h("div", { class: "bb-line" }, ...boxes)),
    button("Evaluate", start),
  );
}

/** @param {HTMLElement} place @param {Model} model @param {any} found */
function drawProgress(place, model, found) {
  if (!found.running) {
    return fill(place, found.cancelled ? h("p", { role: "status" }, "Cancelled; results so far:") : null);
  }
  const bar = place.querySelector("progress"), say = place.querySelector("[role=status]");
  const words = `Evaluating ${found.running}: ${percent(found.share)} done.`;
  if (bar && say) {
    bar.value = found.share;
    say.textContent = words;
    return;
  }
  fill(
    place,
    h("p", { role: "status" }, words),
    h(
      "div",
      { class: "bb-line" },
      h("progress", { max: 1, value: found.share, "aria-label": "Progress of the comparison" }),
      button("Cancel", () => act(model, "cancel")),
    ),
  );
}

/** @param {HTMLElement} place @param {any} found */
function drawResult(place, found) {
  if (!found.rows.length && !found.refused.length) return fill(place);
  const lines = found.rows.map((/** @type {any} */ each) => [
    each.name,
    h("span", { "data-loss": each.name, title: String(each.logLoss) }, each.logLoss.toFixed(4)),
    `${each.low.toFixed(4)} to ${each.high.toFixed(4)}`,
    each.difference
      ? h(
        "span",
        { "data-difference": each.name, title: each.difference.join(" ") },
        `${each.difference[0].toFixed(4)} (${each.difference[1].toFixed(4)} to ${each.difference[2].toFixed(4)})`,
      )
      : "the best",
    h("span", { "data-accuracy": each.name, title: String(each.accuracy) }, each.accuracy.toFixed(4)),
    each.auc === null ? "–" : each.auc.toFixed(4),
    each.calibration.toFixed(4),
    short(Number(each.seconds.toPrecision(2))),
    h("span", { class: "bb-cell" }, each.forgets),
  ]);
  const heads = ["model", "log loss", "95 % interval", "difference to the best"];
  fill(
    place,
    h("h2", {}, "Found"),
    small("A difference whose interval contains 0 may be chance; it is paired, row by row."),
    lines.length
      ? table(
        "The best log loss first",
        [...heads, "accuracy", "AUC", "calibration error", "seconds", "forgets"],
        lines,
      )
      : null,
    ...found.refused.map((/** @type {any} */ each) => remark(`${each.name} is not included: ${each.why}`)),
  );
}

export default { render: renderCompare };
