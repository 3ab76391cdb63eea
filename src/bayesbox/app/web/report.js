/** The report: the views of one page, answered by the engine; nothing is fetched. */
import { fill, h } from "./dom.js";
import { engineEvidence, engineRow } from "./host.js";
import { renderNetwork } from "./network.js";
import { renderNomogram } from "./nomogram.js";
import { renderWhatIf } from "./whatif.js";

/** @param {string} id @returns {any} */
function held(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent ?? "null") : null;
}

/** The container of a view; a page may use its name as the id of a heading. @param {string} name @returns {HTMLElement | null} */
function place(name) {
  return document.querySelector(`[data-picture="${name}"]`);
}

/** @param {string} name @param {(host: import("./dom.js").Host) => any} render @param {import("./dom.js").Model} model */
function into(name, render, model) {
  const el = place(name);
  if (el) render({ model, el });
}

/** Draw all views of the page. */
export function startReport() {
  const model = held("model"), spec = held("spec");
  if (!model || !spec) return;
  if (model.kind === "network") {
    return into("network", renderNetwork, engineEvidence(model, spec, spec.nodes[0]?.name ?? null));
  }
  const traits = engineRow(model, spec);
  into("what-if", renderWhatIf, traits);
  into("nomogram", renderNomogram, traits);
  for (const button of document.querySelectorAll("button[data-row]")) {
    button.addEventListener("click", () => {
      traits.set("row", JSON.parse(button.getAttribute("data-row") ?? "{}"));
      traits.save_changes();
      place("what-if")?.scrollIntoView();
    });
  }
  const bits = place("bits");
  if (bits) drawBits(bits, traits);
}

/** The expected information of each column about the class, without evidence. @param {HTMLElement} el @param {import("./dom.js").Model} traits */
function drawBits(el, traits) {
  const asked = traits.get("answer").ask ?? [];
  const most = Math.max(1e-9, ...asked.map((/** @type {any} */ each) => each.bits));
  fill(
    el,
    h(
      "ul",
      { class: "bb-bars" },
      ...asked.map((/** @type {any} */ each) =>
        h(
          "li",
          { "data-bits": each.column, title: `${each.bits} bit` },
          h("span", { class: "bb-name" }, each.column),
          h(
            "span",
            { class: "bb-track" },
            h("span", { class: "bb-fill", style: { width: `${100 * each.bits / most}%` } }),
          ),
          h("span", { class: "bb-number" }, `${each.bits.toFixed(3)} bit`),
        )
      ),
    ),
  );
}

startReport();
