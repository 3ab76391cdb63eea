/**
 * The editor of a network: nodes, arcs, names and tables, with undo; the answers follow each change.
 *
 * Traits: `spec` (the network after the edits), `edits`, `have` (the edits of the current spec), `evidence`, `target`,
 * `answer`, `selected` (a node), `refused` (why the last edit is invalid, and the edits without it).
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {import("./dom.js").Model} Model
 */
import { evidenceOf } from "./belief.js";
import { begin, button, download, fill, h, redraw, remark, small, tell } from "./dom.js";
import { drawEditable } from "./editgraph.js";
import { drawArc, drawNode, pick } from "./editpanel.js";
import { tableEditor } from "./edittable.js";
import { focusOn, nearby } from "./focus.js";

/** @param {Host} host */
export function renderEdit({ model, el }) {
  /** @type {any[]} */
  const undone = [];
  const top = h("div", { class: "bb-toolbar" }), picture = h("div", { class: "bb-picture" });
  const said = h("p", { role: "status", class: "bb-note" }),
    side = h("aside", { class: "bb-side", "aria-label": "The node" });
  begin(el, ["bb-network", "bb-edit"], top, said, h("div", { class: "bb-columns" }, picture, side));
  const say = (/** @type {string} */ text, wrong = false) => {
    said.className = wrong ? "bb-error" : "bb-note";
    said.setAttribute("role", wrong ? "alert" : "status");
    said.textContent = text;
  };
  const edit = (/** @type {any} */ one, /** @type {Record<string, any>} */ more = {}) => {
    undone.length = 0;
    say("");
    tell(model, { edits: [...model.get("edits"), one], ...more });
  };
  const undo = () => {
    const edits = [...model.get("edits")], last = edits.pop();
    if (!last) return;
    undone.push(last);
    say(`Undone: ${editText(last)}.`);
    tell(model, { edits });
  };
  const redo = () => {
    const next = undone.pop();
    if (!next) return;
    say(`Done again: ${editText(next)}.`);
    tell(model, { edits: [...model.get("edits"), next] });
  };
  const choose = (/** @type {string | null} */ selected) => {
    arc = null;
    tell(model, { selected });
  };
  /** @type {string[] | null} */
  let arc = null;
  const act = {
    edit,
    choose,
    change: (/** @type {any} */ evidence) => tell(model, { evidence }),
    chooseArc: (/** @type {string[]} */ one) => {
      arc = one;
      tell(model, { selected: null });
    },
    addArc: (/** @type {string} */ from, /** @type {string} */ to) =>
      edit({ do: "add-arc", from, to }, { selected: to }),
    removeArc: (/** @type {string[]} */ [from, to]) => edit({ do: "remove-arc", from, to }),
    removeNode: (/** @type {string} */ node) => edit({ do: "remove-node", node }, { selected: null }),
  };
  /** @type {any} */
  let drawn = { spec: null, selected: null, arc: null, rows: new Map(), table: null };
  const draw = () => {
    const spec = model.get("spec"), answer = model.get("answer"), refused = model.get("refused");
    if (refused) { // one more request, for the answer to the remaining edits
      say(refused.why, true);
      drawn.selected = undefined;
      model.set("refused", null);
      return tell(model, { edits: refused.edits });
    }
    model.set("have", spec.edits);
    const selected = spec.nodes.some((/** @type {any} */ node) => node.name === model.get("selected"))
      ? model.get("selected")
      : null;
    if (drawn.spec !== spec) {
      const shown = spec.nodes.length > 60 ? focusOn(spec, selected ?? spec.nodes[0].name) : spec;
      const { svg, rows } = drawEditable(shown, model, act);
      const key = focusKey(picture);
      fill(picture, svg, shown === spec ? null : remark(nearby(spec, selected ?? spec.nodes[0].name)));
      refocus(picture, key);
      drawn.rows = rows;
      drawTop(top, spec, model, act, undone, undo, redo, say);
    }
    drawPanel(spec, selected);
    drawn = { ...drawn, spec, selected, arc };
    for (const group of picture.querySelectorAll("[data-node]")) {
      group.classList.toggle("bb-chosen", group.getAttribute("data-node") === selected);
    }
    if (answer?.error) say(answer.error, true);
    else if (answer) { for (const each of drawn.rows.values()) each.show(answer, evidenceOf(model)); }
    prune(model, spec);
  };
  const drawPanel = (/** @type {any} */ spec, /** @type {string | null} */ selected) => {
    const node = spec.nodes.find((/** @type {any} */ own) => own.name === selected);
    const same = drawn.selected === selected && drawn.arc === arc;
    if (same && (drawn.spec === spec || drawn.table?.update(spec, node)) && drawn.arcs === arcsOf(spec, selected)) {
      return;
    }
    const key = focusKey(side);
    drawn.table = node?.table
      ? tableEditor(spec, node, (row, values) => edit({ do: "set-row", node: node.name, row, values }))
      : null;
    drawn.arcs = arcsOf(spec, selected);
    if (node) drawNode(side, spec, node, act, drawn.table, model);
    else if (arc && spec.edges.some((/** @type {any} */ each) => each.from === arc?.[0] && each.to === arc?.[1])) {
      drawArc(side, arc, act);
    } else {fill(
        side,
        small(
          "Choose a node by its name to edit it, or an arc. Drag from the dot below a node to another node to add an arc.",
        ),
      );}
    refocus(side, key);
  };
  el.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target instanceof HTMLInputElement) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) undo();
    else if (key === "y" || key === "z") redo();
    else return;
    event.preventDefault();
  });
  return redraw(model, ["spec", "answer", "selected", "refused"], draw);
}

/** The arcs at a node, as a key. @param {any} spec @param {string | null} name */
function arcsOf(spec, name) {
  return JSON.stringify(
    spec.edges.filter((/** @type {any} */ each) => each.from === name || each.to === name).map((
      /** @type {any} */ each,
    ) => [each.from, each.to]),
  );
}

/** Which element inside has the focus. @param {HTMLElement} place @returns {string | null} */
function focusKey(place) {
  const own = place.contains(document.activeElement) ? document.activeElement : null;
  return own?.getAttribute("aria-label") ?? (own ? own.textContent : null);
}

/** Restore the focus to the element with this label. @param {HTMLElement} place @param {string | null} key */
function refocus(place, key) {
  if (key === null) return;
  const all = /** @type {HTMLElement[]} */ ([...place.querySelectorAll("button, input, select, [tabindex]")]);
  (all.find((each) => (each.getAttribute("aria-label") ?? each.textContent) === key) ?? all[0])?.focus();
}

/** Drop the evidence on removed nodes. @param {Model} model @param {any} spec */
function prune(model, spec) {
  const states = new Map(spec.nodes.map((/** @type {any} */ node) => [node.name, node.states])),
    { hard, soft } = evidenceOf(model);
  const kept = {
    hard: Object.fromEntries(Object.entries(hard).filter(([name, state]) => states.get(name)?.includes(state))),
    soft: Object.fromEntries(
      Object.entries(soft).filter(([name, shares]) =>
        Object.keys(shares).every((each) => states.get(name)?.includes(each))
      ),
    ),
  };
  const target = model.get("target"), gone = target !== null && !states.has(target);
  const count = (/** @type {any} */ each) => Object.keys(each.hard).length + Object.keys(each.soft).length;
  if (gone || count(kept) !== count({ hard, soft })) tell(model, { evidence: kept, target: gone ? null : target });
}

/** An edit in words. @param {any} edit @returns {string} */
export function editText(edit) {
  return {
    "add-node": `add ${edit.node}`,
    "remove-node": `remove ${edit.node}`,
    "add-arc": `add ${edit.from} → ${edit.to}`,
    "remove-arc": `remove ${edit.from} → ${edit.to}`,
    rename: `rename ${edit.node} to ${edit.name}`,
    "rename-state": `rename ${edit.node} = ${edit.state} to ${edit.name}`,
    "set-row": `change the table of ${edit.node}`,
  }[/** @type {string} */ (edit.do)] ?? "an edit";
}

/** @param {HTMLElement} top @param {any} spec @param {any} model @param {any} act @param {any[]} undone @param {() => void} undo @param {() => void} redo @param {(text: string, wrong?: boolean) => void} say */
function drawTop(top, spec, model, act, undone, undo, redo, say) {
  const add = () => {
    const node = name.value.trim();
    if (!node) return name.focus();
    act.edit({ do: "add-node", node, states: states.value.split(",").map((each) => each.trim()) }, { selected: node });
  };
  const onkeydown = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && add();
  const name = h("input", {
    type: "text",
    placeholder: "name",
    "aria-label": "Name of the new node",
    autocomplete: "off",
    onkeydown,
  });
  const states = h("input", {
    type: "text",
    value: "true, false",
    "aria-label": "States of the new node",
    autocomplete: "off",
    onkeydown,
  });
  const get = async (/** @type {string} */ format) => {
    const { download: file, answer } = await model.post({ download: format });
    if (file?.text === undefined) return say(file?.error ?? answer.error, true);
    download(file.text, file.name);
    say(`Downloaded ${file.name}.`);
  };
  const save = async () => {
    const { saved, answer } = await model.post({ save: true, version: spec.version });
    if (!saved?.path) return say(saved?.error ?? answer.error, true);
    model.set("said", `Saved to ${saved.path}.`);
    tell(model, { edits: [] });
  };
  const edited = spec.edits.length > 0, key = focusKey(top);
  fill(
    top,
    h("span", {}, "New node"),
    name,
    states,
    button("Add node", add),
    button("Undo", undo, { disabled: !edited, title: edited ? `Undo: ${editText(spec.edits.at(-1))}` : null }),
    button("Redo", redo, { disabled: !undone.length }),
    pick("Download as", spec.formats, get),
    spec.saves ? button(`Save to ${spec.saves}`, save, { disabled: !edited }) : null,
    spec.counted && edited
      ? h("span", { class: "bb-small" }, "A file that is written now has no counts: it cannot learn more rows.")
      : null,
  );
  refocus(top, key);
}

export default { render: renderEdit };
