/**
 * Elements and texts of all views. Names from data are always set as text, never as markup.
 *
 * @typedef {{get(name: string): any, set(name: string, value: any): void, save_changes(): void,
 *   on(event: string, callback: () => void): void, off?(event: string, callback: () => void): void}} Model
 * @typedef {{model: Model, el: HTMLElement}} Host
 * @typedef {Node | string | number | null | undefined | false} Child
 */

const SVG = "http://www.w3.org/2000/svg";

/** @param {Element} element @param {Record<string, any>} attributes @param {Child[]} children */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") {
      for (const [property, each] of Object.entries(value)) {
        /** @type {any} */ (element).style.setProperty(property, each);
      }
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((each) => each !== null && each !== undefined && each !== false).map(asNode));
  return element;
}

/** @param {Child} child @returns {Node | string} */
function asNode(child) {
  return child instanceof Node ? child : String(child);
}

/**
 * An element of HTML: `on...` is a listener, `style` a dict of properties.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Record<string, any>} [attributes] @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  return /** @type {any} */ (filled(document.createElement(tag), attributes, children));
}

/** An element of SVG. @param {string} tag @param {Record<string, any>} [attributes] @param {...Child} children @returns {any} */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

let lastId = 0;

/** A unique id. @returns {string} */
export function newId() {
  return `bb-${++lastId}`;
}

/** Replace the content of an element. @param {Element} element @param {...Child} children */
export function fill(element, ...children) {
  element.replaceChildren();
  filled(element, {}, children);
}

/** Make an element the container of a view; a notebook ignores key presses in it. @param {HTMLElement} el @param {string | string[]} classes @param {...HTMLElement} children */
export function begin(el, classes, ...children) {
  el.classList.add("bb", ...[classes].flat());
  el.setAttribute("data-lm-suppress-shortcuts", "true");
  el.addEventListener("keydown", (event) => event.stopPropagation());
  el.replaceChildren(...children);
}

/**
 * Draw now and after each change of some traits; returns a function that stops it.
 *
 * @param {Model} model @param {string[]} names @param {() => void} draw @returns {() => void}
 */
export function redraw(model, names, draw) {
  for (const name of names) model.on(`change:${name}`, draw);
  draw();
  return () => names.forEach((name) => model.off?.(`change:${name}`, draw));
}

/** Set traits and notify the host. @param {Model} model @param {Record<string, any>} values */
export function tell(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

/** A button. @param {string} text @param {() => void} act @param {Record<string, any>} [more] @returns {HTMLButtonElement} */
export function button(text, act, more = {}) {
  return h("button", { type: "button", onclick: act, ...more }, text);
}

/** A line in small print. @param {...Child} children */
export function small(...children) {
  return h("p", { class: "bb-small" }, ...children);
}

/** A highlighted note. @param {...Child} children */
export function remark(...children) {
  return h("p", { class: "bb-note" }, ...children);
}

/** An error message. @param {string} text */
export function failure(text) {
  return h("p", { role: "alert", class: "bb-error" }, text);
}

/** Empty panels with their names as classes. @param {string} prefix @param {string[]} names */
export function panels(prefix, names) {
  return names.map((name) => h("section", { class: `bb-panel ${prefix}${name}` }));
}

/** A select with one entry per name, after a first one that means none. @param {string} first @param {string[]} names @param {string | null | undefined} chosen @param {(name: string | null) => void} act @param {Record<string, any>} [more] */
export function choice(first, names, chosen, act, more = {}) {
  const options = names.map((name) => h("option", { value: name, selected: name === chosen }, name));
  const onchange = () => act(select.selectedIndex ? select.value : null);
  const select = h("select", { onchange, ...more }, h("option", { value: "" }, first), ...options);
  return select;
}

/** Whether a cell is text: words, or an element marked as text. @param {Child} cell */
function isText(cell) {
  if (cell instanceof HTMLElement) return cell.classList.contains("bb-cell");
  return typeof cell === "string" && cell !== "" && !/^[<>–−+-]? ?[\d.,]+/.test(cell);
}

/** A table; columns of words are on the left, those of numbers on the right. @param {string} caption @param {string[]} heads @param {Child[][]} rows @returns {HTMLTableElement} */
export function table(caption, heads, rows) {
  const side = heads.map((_, at) => (at === 0 || rows.some((row) => isText(row[at])) ? "bb-text" : null));
  const line = (/** @type {Child[]} */ [first, ...cells]) =>
    h("tr", {}, h("th", { scope: "row" }, first), ...cells.map((cell, at) => h("td", { class: side[at + 1] }, cell)));
  return h(
    "table",
    {},
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...heads.map((head, at) => h("th", { scope: "col", class: side[at] }, head)))),
    h("tbody", {}, ...rows.map(line)),
  );
}

/** Download a text as a file. @param {string} text @param {string} name */
export function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
