/** The side of the editor: a node with its names, arcs and table, or an arc. */
import { evidenceOf } from "./belief.js";
import { button, choice, fill, h, newId, remark, small } from "./dom.js";

/** @typedef {import("./dom.js").Model} Model */

/** A line with a label and an input, which acts on Enter. @param {string} label @param {string} value @param {(value: string) => void} done @param {Record<string, any>} [more] */
function field(label, value, done, more = {}) {
  const id = newId(), act = () => input.value.trim() && input.value.trim() !== value && done(input.value.trim());
  const input = h("input", {
    id,
    type: "text",
    value,
    autocomplete: "off",
    "aria-label": label,
    onchange: act,
    ...more,
  });
  return h("div", { class: "bb-field" }, h("label", { for: id }, label), input);
}

/** A select that acts immediately. @param {string} label @param {string[]} names @param {(name: string) => void} done */
export function pick(label, names, done) {
  return choice(label, names, null, (name) => name && done(name), { "aria-label": label });
}

/** @param {HTMLElement} side @param {string[]} arc @param {any} act */
export function drawArc(side, arc, act) {
  fill(
    side,
    h("h2", {}, `${arc[0]} → ${arc[1]}`),
    small(`Without it the table of ${arc[1]} is averaged over ${arc[0]}.`),
    button("Remove this arc", () => act.removeArc(arc)),
  );
}

/** @param {HTMLElement} side @param {any} spec @param {any} node @param {any} act @param {any} table @param {Model} model */
export function drawNode(side, spec, node, act, table, model) {
  const others = spec.nodes.map((/** @type {any} */ each) => each.name).filter((/** @type {string} */ name) =>
    name !== node.name
  );
  const children = spec.edges.filter((/** @type {any} */ each) => each.from === node.name).map((
    /** @type {any} */ each,
  ) => each.to);
  const known = (/** @type {string[]} */ names) => others.filter((/** @type {string} */ name) => !names.includes(name));
  const rename = (/** @type {string} */ name) => {
    const { hard, soft } = evidenceOf(model), target = model.get("target");
    for (const each of /** @type {any[]} */ ([hard, soft])) {
      if (node.name in each) each[name] = each[node.name];
      delete each[node.name];
    }
    const more = {
      evidence: { hard: { ...hard }, soft: { ...soft } },
      target: target === node.name ? name : target,
      selected: name,
    };
    act.edit({ do: "rename", node: node.name, name }, more);
  };
  const chips = (
    /** @type {string} */ title,
    /** @type {string[]} */ names,
    /** @type {(name: string) => string[]} */ arc,
  ) =>
    h(
      "div",
      { class: "bb-line" },
      h("span", { class: "bb-small" }, names.length ? title : `no ${title}`),
      h(
        "ul",
        { class: "bb-chips", "aria-label": title },
        ...names.map((name) => {
          const label = `remove ${arc(name).join(" → ")}`;
          return h("li", {}, name, button("×", () => act.removeArc(arc(name)), { "aria-label": label }));
        }),
      ),
    );
  fill(
    side,
    h("h2", {}, node.name),
    field("Name", node.name, rename),
    h(
      "details",
      {},
      h("summary", {}, "Names of the states"),
      ...node.states.map((/** @type {string} */ state) =>
        field(state, state, (name) => act.edit({ do: "rename-state", node: node.name, state, name }))
      ),
    ),
    chips("parents", node.parents, (name) => [name, node.name]),
    chips("children", children, (name) => [node.name, name]),
    h(
      "div",
      { class: "bb-line" },
      pick("Add a parent", known(node.parents), (name) => act.edit({ do: "add-arc", from: name, to: node.name })),
      pick("Add a child", known(children), (name) => act.edit({ do: "add-arc", from: node.name, to: name })),
    ),
    table ? table.el : remark("The tables have too many numbers for the page: use bayes network edit."),
    button("Remove this node", () => act.removeNode(node.name)),
  );
}
