/**
 * Evidence on the nodes of a network: a state, or a likelihood of each state.
 *
 * @typedef {import("./network.js").Evidence} Evidence
 */
import { dict } from "./dict.js";

/** The evidence of a model. @param {import("./dom.js").Model} model @returns {Evidence} */
export function evidenceOf(model) {
  const { hard, soft } = model.get("evidence");
  return { hard: dict(hard), soft: dict(soft) };
}

/** Evidence with another finding for one node. @param {Evidence} evidence @param {string} name @param {string | Record<string, number> | null} known @returns {Evidence} */
export function withNode(evidence, name, known) {
  const hard = dict(evidence.hard), soft = dict(evidence.soft);
  delete hard[name];
  delete soft[name];
  if (typeof known === "string") hard[name] = known;
  else if (known) soft[name] = known;
  return { hard, soft };
}

/**
 * The likelihood that gives a state this probability, with all other evidence unchanged.
 *
 * @param {Record<string, number>} posterior of the node now @param {Record<string, number> | undefined} soft its likelihood now
 * @param {string} state @param {number} wanted
 * @returns {Record<string, number> | null}
 */
export function likelihoodFor(posterior, soft, state, wanted) {
  const raw = Object.entries(posterior).map((
    [name, p],
  ) => /** @type {[string, number]} */ ([name, soft?.[name] ? p / soft[name] : p]));
  const total = raw.reduce((sum, [, p]) => sum + p, 0);
  const base = (raw.find(([name]) => name === state)?.[1] ?? 0) / total;
  if (!(base > 0 && base < 1)) return null;
  const share = Math.min(Math.max(wanted, 0.001), 0.999);
  const ratios = { own: share / base, other: (1 - share) / (1 - base) }, most = Math.max(ratios.own, ratios.other);
  return Object.fromEntries(raw.map(([name]) => [name, (name === state ? ratios.own : ratios.other) / most]));
}
