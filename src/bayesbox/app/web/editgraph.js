/** The drawing of a network with editing: handles for drawing arcs, and selectable arcs. */
import { s } from "./dom.js";
import { drawGraph } from "./graphview.js";

/**
 * @param {any} spec @param {import("./dom.js").Model} model
 * @param {{change: (evidence: any) => void, choose: (name: string) => void, chooseArc: (arc: string[]) => void,
 *   addArc: (from: string, to: string) => void, removeArc: (arc: string[]) => void, removeNode: (name: string) => void}} act
 */
export function drawEditable(spec, model, act) {
  const { svg, rows } = drawGraph(spec, model, act.change, act.choose);
  for (const { from, to, path } of spec.edges) {
    const arc = [from, to], remove = () => act.removeArc(arc), choose = () => act.chooseArc(arc);
    const label = `Arc from ${from} to ${to}`;
    const wide = s("path", { d: path, class: "bb-wide-arc", tabindex: 0, role: "button", "aria-label": label });
    wide.addEventListener("click", choose);
    onKeys(wide, { Enter: choose, Delete: remove, Backspace: remove });
    svg.insertBefore(wide, svg.querySelector("[data-node]"));
  }
  for (const node of spec.nodes) {
    const group = [...svg.querySelectorAll("[data-node]")].find((each) => each.getAttribute("data-node") === node.name);
    const remove = () => act.removeNode(node.name);
    onKeys(group.querySelector(".bb-title"), { Delete: remove, Backspace: remove });
    const handle = s(
      "circle",
      { cx: node.width / 2, cy: node.height, r: 7, class: "bb-handle", "data-handle": node.name },
      s("title", {}, `Drag to another node: an arc from ${node.name}`),
    );
    handle.addEventListener(
      "pointerdown",
      (/** @type {PointerEvent} */ event) => dragArc(event, svg, node, act.addArc),
    );
    group.append(handle);
  }
  return { svg, rows };
}

/** @param {Element} element @param {Record<string, () => void>} keys */
function onKeys(element, keys) {
  element.addEventListener("keydown", (event) => {
    const act = keys[/** @type {KeyboardEvent} */ (event).key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** Draw a line from a node until the button is released over another. @param {PointerEvent} start @param {any} svg @param {any} node @param {(from: string, to: string) => void} add */
function dragArc(start, svg, node, add) {
  start.preventDefault();
  const line = s("line", { x1: node.x, y1: node.y + node.height / 2, class: "bb-new-arc" });
  const place = (/** @type {PointerEvent} */ event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    line.setAttribute("x2", String(point.x));
    line.setAttribute("y2", String(point.y));
  };
  place(start);
  svg.append(line);
  const end = (/** @type {PointerEvent} */ event) => {
    removeEventListener("pointermove", place);
    removeEventListener("pointerup", end);
    line.remove();
    const below = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-node]");
    const name = below?.getAttribute("data-node");
    if (name && name !== node.name) add(node.name, name);
  };
  addEventListener("pointermove", place);
  addEventListener("pointerup", end);
}
