/**
 * A Bayesian network: click a state to observe it, drag a bar for virtual evidence, and all posteriors are updated.
 *
 * Traits: `spec` (nodes with positions and tables, edges with paths), `evidence` ({hard, soft}), `target`, `answer`.
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {{name: string, states: string[], parents: string[], x: number, y: number, width: number, height: number}} Box
 * @typedef {{hard: Record<string, string>, soft: Record<string, Record<string, number>>}} Evidence
 */
import { openPaths } from "./bayesball.js";
import { evidenceOf, withNode } from "./belief.js";
import { begin, button, choice, failure, fill, h, newId, redraw, remark, small, tell } from "./dom.js";
import { focusOn, nearby, pathTo } from "./focus.js";
import { drawGraph } from "./graphview.js";
import { showTable } from "./nodetable.js";
import { percent, short } from "./numbers.js";

const SCREEN = 900, SMALLEST = 0.55; // the width of a drawing in pixels, and the smallest readable scale

/** @param {Host} host */
export function renderNetwork({ model, el }) {
  const spec = model.get("spec");
  const large = spec.nodes.length > 60;
  let focus = model.get("target") ?? busiest(spec);
  /** @type {Evidence[]} */
  const before = [];
  const change = (/** @type {Evidence} */ evidence) => {
    before.push(model.get("evidence"));
    tell(model, { evidence });
  };
  const picture = h("div", { class: "bb-picture" });
  const side = h("aside", { class: "bb-side", "aria-label": "What follows" });
  const top = toolbar(spec, model, change, before, () => picture.classList.toggle("bb-whole"), (name) => {
    focus = name;
    if (large) lay();
  });
  begin(el, "bb-network", top.element, h("div", { class: "bb-columns" }, picture, side));
  /** @type {Map<string, any>} */
  let rows = new Map();
  const lay = () => {
    const shown = large ? focusOn(spec, focus) : spec;
    const drawn = drawGraph(shown, model, change, (name) => {
      if (large && name !== focus) go(name);
      else showTable(el, spec, name);
    });
    rows = drawn.rows;
    fill(picture, drawn.svg, large ? remark(nearby(spec, focus)) : null, way());
  };
  const way = () => {
    const target = model.get("target"), path = large && target && target !== focus ? pathTo(spec, focus, target) : null;
    return path && h("p", { class: "bb-line" }, `To ${target}:`, ...path.map((name) => button(name, () => go(name))));
  };
  const go = (/** @type {string} */ name) => {
    focus = name;
    lay();
    draw();
  };
  const draw = () => {
    const answer = model.get("answer"), evidence = evidenceOf(model), target = model.get("target");
    if (!answer) return;
    if (answer.error) return fill(side, failure(answer.error));
    for (const each of rows.values()) each.show(answer, evidence);
    const open = target ? openPaths(spec.nodes, target, new Set(Object.keys(evidence.hard))) : null;
    for (const path of picture.querySelectorAll("path[data-arc]")) {
      path.classList.toggle("bb-closed", open !== null && !open.arcs.has(path.getAttribute("data-arc") ?? ""));
    }
    drawSide(side, spec, model, answer, change);
  };
  const toTarget = () => {
    const node = spec.nodes.find((/** @type {Box} */ own) => own.name === model.get("target"));
    if (!node || large || picture.classList.contains("bb-whole")) return;
    picture.scrollTo(node.x - picture.clientWidth / 2, node.y - picture.clientHeight / 2);
  };
  if (spec.width > SCREEN && spec.width <= SCREEN / SMALLEST) picture.classList.add("bb-whole");
  lay();
  const stops = [ // clicks are shown at once, the rest with the answer
    redraw(model, ["evidence", "target"], top.show),
    redraw(model, ["answer"], draw),
    redraw(model, ["target"], toTarget),
  ];
  return () => stops.forEach((each) => each());
}

/** The node with the most neighbours. @param {any} spec @returns {string} */
function busiest(spec) {
  const counts = new Map(spec.nodes.map((/** @type {Box} */ node) => [node.name, node.parents.length]));
  for (const edge of spec.edges) counts.set(edge.from, (counts.get(edge.from) ?? 0) + 1);
  return [...counts].reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}

/** The target and the evidence above the drawing. @param {any} spec @param {import("./dom.js").Model} model @param {(evidence: Evidence) => void} change @param {Evidence[]} before @param {() => void} whole @param {(name: string) => void} look */
function toolbar(spec, model, change, before, whole, look) {
  const id = newId(), names = spec.nodes.map((/** @type {Box} */ node) => node.name);
  const choose = (/** @type {string | null} */ target) => {
    look(target ?? names[0]);
    tell(model, { target });
  };
  const select = choice("none", names, null, choose, { id });
  const chips = h("ul", { class: "bb-chips", "aria-label": "Evidence" });
  const undo = button("Undo", () => {
    const last = before.pop();
    if (last) tell(model, { evidence: last });
  });
  const element = h(
    "div",
    { class: "bb-toolbar" },
    h("label", { for: id }, "Target"),
    select,
    chips,
    button("Clear", () => change({ hard: {}, soft: {} })),
    undo,
    button("Fit to the page", whole),
  );
  const show = () => {
    const evidence = evidenceOf(model);
    const chip = (/** @type {string} */ name, /** @type {string} */ text) => {
      const forget = () => change(withNode(evidenceOf(model), name, null));
      return h("li", {}, text, button("×", forget, { "aria-label": `forget ${name}` }));
    };
    select.value = model.get("target") ?? "";
    undo.disabled = before.length === 0;
    fill(
      chips,
      ...Object.entries(evidence.hard).map(([name, state]) => chip(name, `${name} = ${state}`)),
      ...Object.keys(evidence.soft).map((name) => chip(name, `${name} in part`)),
    );
  };
  return { element, show };
}

/** @param {HTMLElement} side @param {any} spec @param {import("./dom.js").Model} model @param {any} answer @param {(evidence: Evidence) => void} change */
function drawSide(side, spec, model, answer, change) {
  const evidence = evidenceOf(model), target = model.get("target");
  const known = Object.entries(evidence.hard).map(([name, state]) => `${name} is ${state}`).join(" and ");
  const best = target ? Object.entries(answer.posteriors[target]).reduce((a, b) => (b[1] > a[1] ? b : a)) : null;
  const conflict = answer.conflict;
  fill(
    side,
    h(
      "p",
      { role: "status", class: "bb-sentence" },
      best
        ? `${known ? `Where ${known}: ` : ""}${target} is most probably ${best[0]} (${percent(best[1])}).`
        : "Choose a target to see what to ask next.",
    ),
    known || Object.keys(evidence.soft).length
      ? h(
        "p",
        { class: "bb-small", title: `log P = ${answer.logEvidence}`, "data-log": answer.logEvidence },
        `P(evidence) = ${short(Math.exp(answer.logEvidence))}`,
      )
      : null,
    conflict === null || conflict === undefined ? null : small(
      conflict > 0 ? `The evidence conflicts (${conflict.toFixed(2)} bit).` : "The evidence does not conflict.",
    ),
    answer.ask?.length ? h("h2", {}, "Ask next") : null,
    h(
      "ul",
      { class: "bb-ask" },
      ...(answer.ask ?? []).slice(0, 6).map((/** @type {any} */ each) => {
        const node = spec.nodes.find((/** @type {Box} */ own) => own.name === each.name);
        return h(
          "li",
          { "data-ask": each.name },
          h("span", { class: "bb-name" }, each.name),
          h("span", { class: "bb-small" }, `${each.bits.toFixed(3)} bit`),
          ...node.states.slice(0, 4).map((/** @type {string} */ state) =>
            button(state, () => change(withNode(evidence, each.name, state)), {
              class: "bb-chip",
              "aria-label": `${each.name} is ${state}`,
            })
          ),
        );
      }),
    ),
    answer.mpe
      ? h(
        "details",
        { class: "bb-story" },
        h("summary", {}, "Most probable explanation"),
        h("ul", {}, ...Object.entries(answer.mpe).map(([name, state]) => h("li", {}, `${name}: ${state}`))),
      )
      : null,
  );
}

export default { render: renderNetwork };
