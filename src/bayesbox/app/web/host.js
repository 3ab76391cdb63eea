/** The models behind the views: one answered by the engine, and one by the server. */
import { networkAnswer, rulersOf, whatIfAnswer } from "./answers.js";
import { Classifier, Network } from "./engine.js";

/** Traits with listeners, with the interface of anywidget. */
export class Traits {
  /** @param {Record<string, any>} values @param {(changed: string[]) => void} [saved] called when a view has set some */
  constructor(values, saved = () => {}) {
    this.values = { ...values };
    this.saved = saved;
    /** @type {Map<string, Set<() => void>>} */
    this.listeners = new Map();
    /** @type {Set<string>} */
    this.changed = new Set();
    /** Request the answer again. @type {(() => Promise<void>) | null} */
    this.ask = null;
    /** Send the traits with additional fields to the host; returns its reply. @type {((more: Record<string, any>) => Promise<any>) | null} */
    this.post = null;
  }

  /** @param {string} name @returns {any} */
  get(name) {
    return this.values[name];
  }

  /** @param {string} name @param {any} value */
  set(name, value) {
    this.values[name] = value;
    this.changed.add(name);
  }

  save_changes() {
    const names = [...this.changed];
    this.changed.clear();
    this.saved(names);
    this.tell(names);
  }

  /** Notify the listeners. @param {string[]} names */
  tell(names) {
    const calls = new Set(names.flatMap((name) => [...(this.listeners.get(`change:${name}`) ?? [])]));
    for (const call of calls) call();
  }

  /** Set values from outside. @param {Record<string, any>} values */
  update(values) {
    Object.assign(this.values, values);
    this.tell(Object.keys(values));
  }

  /** @param {string} event @param {() => void} callback */
  on(event, callback) {
    if (!this.listeners.has(event)) this.listeners.set(event, new Set());
    this.listeners.get(event)?.add(callback);
  }

  /** @param {string} event @param {() => void} callback */
  off(event, callback) {
    this.listeners.get(event)?.delete(callback);
  }
}

/** An answer, or the error in words. @param {() => any} work */
function tried(work) {
  try {
    return work();
  } catch (error) {
    return { error: String(error instanceof Error ? error.message : error) };
  }
}

/** The traits of a row, answered by the engine. @param {any} document @param {any} spec @param {Record<string, any>} [row] @returns {Traits} */
export function engineRow(document, spec, row = {}) {
  const classifier = new Classifier(document);
  const first = classifier.classes.length > 1 ? 1 : 0;
  const answer = (/** @type {any} */ values) => tried(() => whatIfAnswer(classifier, spec, values));
  const traits = new Traits({ spec, row, pair: [first, first === 1 ? 0 : null], answer: answer(row) }, (names) => {
    if (names.includes("row")) traits.update({ answer: answer(traits.get("row")) });
    if (names.includes("pair")) traits.update({ rulers: rulers() });
  });
  const rulers = () => {
    const [label, against] = traits.get("pair");
    return against === null ? null : rulersOf(classifier, spec, label, against);
  };
  traits.values.rulers = rulers();
  return traits;
}

/** The traits of evidence, answered by the engine. @param {any} document @param {any} spec @param {string | null} [target] @returns {Traits} */
export function engineEvidence(document, spec, target = null) {
  const network = new Network(document), evidence = { hard: {}, soft: {} };
  const answer = () => tried(() => networkAnswer(network, traits.get("evidence"), traits.get("target")));
  const traits = new Traits({ spec, evidence, target, answer: null }, () => traits.update({ answer: answer() }));
  traits.values.answer = answer();
  return traits;
}

/**
 * Traits answered by the server: after each change some are sent, and the reply is set.
 *
 * @param {string} address @param {Record<string, any>} values @param {string[]} sent
 * @param {(names: string[]) => void} [then] called after each change by the user
 * @param {() => Promise<void>} [changed] called if the file has changed since the spec
 * @returns {Traits}
 */
export function serverTraits(address, values, sent, then = () => {}, changed = async () => {}) {
  let last = 0;
  const posted = async (/** @type {Record<string, any>} */ more) => {
    const asked = Object.fromEntries(sent.map((name) => [name, traits.get(name)]));
    const body = JSON.stringify({ ...asked, ...more });
    const reply = await fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body });
    return reply.ok ? await reply.json() : { answer: await reply.json() };
  };
  const ask = async () => {
    const own = ++last;
    const { more, version, ...found } = await posted({});
    if (own !== last) return;
    if (version !== undefined && version !== traits.get("spec").version) return await changed();
    if (!more) return traits.update(found);
    const { ask = [], flip = null, work = "" } = traits.get("answer") ?? {}; // the previous details, until the new ones arrive
    traits.update({ answer: { ask, flip, work, ...found.answer } });
    const details = await posted({ details: true });
    if (own === last) traits.update({ answer: details.answer });
  };
  const failed = () =>
    traits.update({ answer: { error: "The app does not respond: it has stopped. Start it again." } });
  const traits = new Traits(values, (names) => {
    if (names.some((name) => sent.includes(name))) ask().catch(failed);
    then(names);
  });
  traits.ask = () => ask().catch(failed);
  traits.post = posted;
  return traits;
}
