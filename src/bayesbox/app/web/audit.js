/**
 * The counts of a model: forget rows in memory with the certificate, compare it with another model, and show the drift
 * of a table.
 *
 * Traits: `found` (digest, classes, table, peers), `rows` (numbers, as a text), `forget` (whether to subtract them),
 * `forgotten`, `against` (position of another model), `difference`, `drift`.
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {import("./dom.js").Model} Model
 */
import { begin, button, download, failure, fill, h, newId, panels, redraw, remark, small, table, tell } from "./dom.js";
import { percent, short } from "./numbers.js";

/** @param {Host} host */
export function renderAudit({ model, el }) {
  const names = ["counted", "batches", "forgetting", "difference", "drift"];
  const [counted, batches, forgetting, difference, drift] = panels("bb-", names);
  const [rows, compared] = [h("div"), h("div")];
  begin(el, "bb-audit", counted, batches, forgetting, difference, drift);
  let drawn = false;
  return redraw(model, ["answer", "found", "forgotten", "difference", "drift"], () => {
    const found = model.get("found"), failed = model.get("answer")?.error;
    if (failed) return fill(counted, failure(failed));
    if (!found) return fill(counted, h("p", { role: "status" }, "Counting…"));
    drawCounted(counted, found);
    drawHistory(batches, found.history);
    if (!drawn) {
      drawn = true;
      if (found.table !== null) drawForm(forgetting, model, found, rows);
      if (found.peers.length) drawChoice(difference, model, found, compared);
    }
    drawForgotten(rows, model, found);
    drawDifference(compared, model);
    drawDrift(drift, model.get("drift"), found.table);
  });
}

/** @param {any[]} classes @param {string} caption @param {any[] | null} [after] */
function classTable(classes, caption, after = null) {
  const left = new Map((after ?? []).map((each) => [each.name, each.rows]));
  const lines = classes.map((each) => [
    each.name,
    h("span", { "data-rows": each.name }, short(each.rows)),
    ...(after ? [h("span", { "data-left": each.name }, short(left.get(each.name) ?? 0))] : []),
  ]);
  return table(caption, after ? ["class", "rows before", "rows after"] : ["class", "rows"], lines);
}

/** @param {string} name @param {string} value */
function digestLine(name, value) {
  return small(`${name} `, h("code", { class: "bb-digest", "data-digest": name }, value));
}

/** @param {HTMLElement} place @param {any} found */
function drawCounted(place, found) {
  const total = found.classes.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + each.rows, 0);
  fill(
    place,
    h("h2", {}, "What was counted"),
    digestLine("digest", found.digest),
    found.ledger ? digestLine("ledger", found.ledger) : null,
    small(
      "The SHA-256 of all counts: the same rows in any order give the same digest. ",
      found.ledger
        ? "The ledger identifies every single row."
        : "The model has no ledger of single rows (train --ledger).",
    ),
    classTable(found.classes, `${short(total)} rows`),
  );
}

/** The history of training, newest first. @param {HTMLElement} place @param {any} history */
function drawHistory(place, history) {
  if (!history) {
    const how =
      "This model has no list of its batches: bayes train, update, forget and merge begin one with --history.";
    return fill(place, h("h2", {}, "Batches"), small(how));
  }
  const lines = history.batches.map((/** @type {any} */ each, /** @type {number} */ at) => [
    String(at + 1),
    h("time", { class: "bb-cell", datetime: each.time }, new Date(each.time).toLocaleString()),
    each.verb,
    h("span", { class: "bb-cell" }, each.data.join(", ")),
    h("span", { "data-batch-rows": at + 1 }, `${each.verb === "forget" ? "−" : ""}${short(each.rows)}`),
    short(each.total),
    h("code", { class: "bb-digest", title: each.digest, "data-batch": at + 1 }, each.digest.slice(0, 16)),
  ]).reverse();
  fill(
    place,
    h("h2", {}, "Batches"),
    lines.length
      ? table(
        "What was learned when, the newest first",
        ["", "time", "what", "data", "rows", "in all", "digest"],
        lines,
      )
      : null,
    ...history.gaps.map((/** @type {string} */ text) => remark(`${text}.`)),
  );
}

/** @param {HTMLElement} place @param {Model} model @param {any} found @param {HTMLElement} below */
function drawForm(place, model, found, below) {
  const id = newId();
  const look = () => tell(model, { rows: input.value, forget: false });
  const input = h("input", {
    id,
    type: "text",
    value: model.get("rows"),
    placeholder: "3, 5-7",
    autocomplete: "off",
    onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && look(),
  });
  fill(
    place,
    h("h2", {}, "Forget rows"),
    small("They are subtracted from a copy in memory. The model and its file do not change."),
    h(
      "div",
      { class: "bb-field" },
      h("label", { for: id }, `Rows of ${found.table}, from 1`),
      h("div", { class: "bb-line" }, input, button("Look up", look)),
    ),
    below,
  );
}

/** @param {HTMLElement} place @param {Model} model @param {any} found */
function drawForgotten(place, model, found) {
  const done = model.get("forgotten");
  if (!done) return fill(place);
  if (done.error) return fill(place, failure(done.error));
  const names = Object.keys(done.shown[0].row), refused = done.shown.length - done.count;
  const lines = done.shown.map((/** @type {any} */ each) => [
    `row ${each.number}`,
    h("span", { class: "bb-cell", "data-row": each.number }, each.why === null ? "found" : `refused: ${each.why}`),
    ...names.map((name) => each.row[name]),
  ]);
  const words = `${short(done.count)} found` + (refused ? `, ${short(refused)} refused` : "");
  fill(
    place,
    h("p", { role: "status", class: "bb-sentence" }, words),
    small(
      found.ledger
        ? "The ledger shows whether a row was learned."
        : "A row is refused if the counts show that it was never learned; a ledger shows it with certainty.",
    ),
    h("div", { class: "bb-picture" }, table("The rows", ["row", "learned?", ...names], lines)),
    done.certificate || !done.count
      ? null
      : button(`Forget ${done.count === 1 ? "this row" : `these ${short(done.count)} rows`} in memory`, () =>
        tell(model, { forget: true })),
    ...(done.certificate ? certificate(done, found) : []),
  );
}

/** @param {any} done @param {any} found */
function certificate(done, found) {
  const own = done.certificate;
  return [
    h("h3", {}, "Certificate"),
    digestLine("before", own.before),
    digestLine("removed", own.rows),
    digestLine("after", own.after),
    classTable(found.classes, "Rows by class", done.classes),
    own.derived.length
      ? remark(`Not reversed by subtracting: ${own.derived.join("; ")}.`)
      : small("Nothing else was learned from them: the model is as if they had never been learned."),
    h("details", { class: "bb-work" }, h("summary", {}, "The certificate as JSON"), h("pre", {}, own.text)),
    button("Download the certificate", () => download(own.text, "certificate.json")),
    done.command
      ? h(
        "div",
        { class: "bb-work" },
        h(
          "p",
          {},
          done.whole
            ? "To forget them in the file as well, type:"
            : "To forget them in the file as well, put these rows, with the header, into a file and type:",
        ),
        h("pre", { "data-command": "" }, done.command),
      )
      : null,
  ];
}

/** @param {HTMLElement} place @param {Model} model @param {any} found @param {HTMLElement} below */
function drawChoice(place, model, found, below) {
  const id = newId();
  const select = h(
    "select",
    { id, onchange: () => tell(model, { against: select.value === "" ? null : Number(select.value) }) },
    h("option", { value: "" }, "no other model"),
    ...found.peers.map((/** @type {string} */ name, /** @type {number} */ at) =>
      h("option", { value: at, selected: model.get("against") === at }, name)
    ),
  );
  fill(
    place,
    h("h2", {}, "Differences"),
    h("div", { class: "bb-field" }, h("label", { for: id }, "Hold it against"), select),
    below,
  );
}

/** @param {HTMLElement} place @param {Model} model */
function drawDifference(place, model) {
  const found = model.get("difference");
  if (!found) return fill(place);
  const lines = found.differences.map((/** @type {any} */ each) => [
    each.column,
    each.what,
    h("span", { "data-differs": each.column }, each.rows === null ? "all" : short(each.rows)),
    each.p ?? "",
    each.psi === undefined ? "" : each.psi.toFixed(4),
    h("span", { class: "bb-cell" }, each.details.join("; ")),
  ]);
  const rules = Object.entries(found.rules).map(([name, both]) => [name, ...both]);
  fill(
    place,
    lines.length
      ? table("Counts that differ", ["column", "what", "rows", "p", "PSI", "largest difference"], lines)
      : h("p", { role: "status" }, "The counts are the same: they have the same digest."),
    rules.length ? table("Rules that differ", ["rule", "here", "there"], rules) : null,
  );
}

/** @param {HTMLElement} place @param {any} drift @param {string | null} name */
function drawDrift(place, drift, name) {
  if (!drift) return fill(place);
  const head = h("h2", {}, `Drift in ${name}`);
  if (drift.error) return fill(place, head, failure(drift.error));
  const lines = drift.columns.map((/** @type {any} */ each) => [
    each.column,
    h("span", { "data-psi": each.column, title: `PSI ${each.psi}` }, each.psi.toFixed(4)),
    each.p,
    each.word || "none",
    `${percent(each.missing_before)}, ${percent(each.missing_after)}`,
    short(each.unseen),
    h("span", { class: "bb-cell" }, each.change),
  ]);
  const classes = drift.classes.map((/** @type {any} */ each) => [
    each.class,
    ...[each.learned, each.expected, each.predicted].map(percent),
  ]);
  const heads = ["column", "PSI", "p", "drift", "missing before, now", "unseen", "largest change"];
  fill(
    place,
    head,
    h("p", { class: "bb-sentence" }, drift.title),
    h("div", { class: "bb-picture" }, table("Columns, the largest change first", heads, lines)),
    table(`Classes: PSI ${drift.class_psi.toFixed(4)}`, [drift.target, "learned", "expected", "predicted"], classes),
    ...drift.notes.map((/** @type {string} */ text) => small(text)),
  );
}

export default { render: renderAudit };
