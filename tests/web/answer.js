/** Answers of the engine to the questions on standard input, for the tests in Python to compare. */
import { Classifier, Network } from "../../src/bayesbox/app/web/engine.js";

const asked = JSON.parse(await new Response(Deno.stdin.readable).text());
const answers = asked.map((/** @type {any} */ each) => {
  if (each.document.kind !== "network") {
    const model = new Classifier(each.document);
    return each.rows.map((/** @type {any} */ row) => model.posterior(row, each.prior));
  }
  const network = new Network(each.document);
  return each.evidence.map((/** @type {any} */ evidence) => {
    const started = performance.now();
    const found = network.posteriors(evidence);
    const took = performance.now() - started;
    const ask = each.target ? network.askNext(evidence, each.target) : null;
    return { ...found, took, mpe: network.mostProbable(evidence), ask };
  });
});
console.log(JSON.stringify(answers, (_, value) => value === -Infinity ? "-Infinity" : value));
