/**
 * The drawing of a network: boxes with a bar for each state, which can be clicked, dragged, or moved by keys.
 *
 * @typedef {import("./network.js").Box} Box
 * @typedef {import("./network.js").Evidence} Evidence
 */
import { evidenceOf, likelihoodFor, withNode } from "./belief.js";
import { newId, s } from "./dom.js";
import { percent } from "./numbers.js";

const BAR = 60, LINE = 16, MOST_STATES = 8, STEP = 0.05;

/**
 * @param {any} spec @param {import("./dom.js").Model} model @param {(evidence: Evidence) => void} change
 * @param {(name: string) => void} open
 */
export function drawGraph(spec, model, change, open) {
  const arrow = newId(), rows = new Map();
  const svg = s("svg", {
    viewBox: `0 0 ${spec.width} ${spec.height}`,
    width: spec.width,
    height: spec.height,
    role: "group",
    "aria-label": `Network ${spec.name ?? ""} with ${spec.nodes.length} nodes`,
  });
  const tip = s("path", { d: "M0 0 L10 5 L0 10 z" });
  svg.append(
    s(
      "defs",
      {},
      s("marker", {
        id: arrow,
        viewBox: "0 0 10 10",
        refX: 9,
        refY: 5,
        markerWidth: 9,
        markerHeight: 9,
        markerUnits: "userSpaceOnUse",
        orient: "auto",
        class: "bb-tip",
      }, tip),
    ),
  );
  const most = Math.max(1e-9, ...spec.edges.map((/** @type {any} */ edge) => edge.bits ?? 0));
  for (const edge of spec.edges) {
    const width = edge.bits === undefined ? 1.4 : 0.8 + 4 * edge.bits / most;
    const title = `${edge.from} → ${edge.to}` + (edge.bits === undefined ? "" : `: ${edge.bits.toFixed(3)} bit`);
    svg.append(
      s("path", {
        d: edge.path,
        class: "bb-arc",
        "data-arc": `${edge.from}\0${edge.to}`,
        "stroke-width": width,
        "marker-end": `url(#${arrow})`,
      }, s("title", {}, title)),
    );
  }
  for (const node of spec.nodes) svg.append(drawNode(node, model, change, open, rows));
  return { svg, rows };
}

/** @param {Box} node @param {import("./dom.js").Model} model @param {(evidence: Evidence) => void} change @param {(name: string) => void} open @param {Map<string, any>} rows */
function drawNode(node, model, change, open, rows) {
  const left = node.x - node.width / 2, top = node.y - node.height / 2;
  const enter = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && open(node.name);
  const title = s("text", {
    x: node.width / 2,
    y: 20,
    class: "bb-title",
    role: "button",
    tabindex: 0,
    "aria-label": `Table of ${node.name}`,
    onclick: () => open(node.name),
    onkeydown: enter,
  }, node.name);
  const box = s("rect", { width: node.width, height: node.height, rx: 8, class: "bb-box" });
  const group = s(
    "g",
    { transform: `translate(${left},${top})`, "data-node": node.name, class: "bb-node" },
    box,
    title,
  );
  /** @type {((answer: any, evidence: Evidence) => void)[]} */
  const shown = [];
  rows.set(node.name, {
    show: (/** @type {any} */ answer, /** @type {Evidence} */ evidence) => {
      group.classList.toggle("bb-known", node.name in evidence.hard);
      group.classList.toggle("bb-soft", node.name in evidence.soft);
      group.classList.toggle("bb-target", model.get("target") === node.name);
      for (const each of shown) each(answer, evidence);
    },
  });
  node.states.slice(0, MOST_STATES).forEach((state, line) => {
    const y = 26 + LINE * line, start = node.width - 64 - BAR;
    const bar = s("rect", { x: start, y: y + 3, width: 0, height: 10, class: "bb-bar" });
    const number = s("text", { x: node.width - 10, y: y + 12, class: "bb-share" });
    const hit = s("rect", { x: 4, y, width: node.width - 8, height: LINE, class: "bb-hit" });
    const grip = s("rect", { x: start - 2, y, width: BAR + 4, height: LINE, class: "bb-grip" });
    const row = s(
      "g",
      { role: "button", tabindex: 0, "data-state": state, class: "bb-state" },
      hit,
      s("text", { x: 10, y: y + 12 }, state),
      bar,
      number,
      grip,
    );
    listen(row, grip, node, state, model, change);
    let drawn = "";
    shown.push((/** @type {any} */ answer, /** @type {Evidence} */ evidence) => {
      const p = answer.posteriors[node.name]?.[state] ?? 0, soft = node.name in evidence.soft;
      const known = evidence.hard[node.name] === state, now = `${p} ${known} ${soft}`;
      if (now === drawn) return;
      drawn = now;
      bar.style.setProperty("width", `${BAR * p}px`);
      number.textContent = percent(p);
      row.setAttribute("aria-pressed", String(known));
      row.setAttribute("aria-label", `${node.name}: ${state} ${percent(p)}${soft ? ", partly believed" : ""}`);
    });
    group.append(row);
  });
  if (node.states.length > MOST_STATES) {
    group.append(
      s("text", { x: 10, y: 38 + LINE * MOST_STATES, class: "bb-more" }, `${node.states.length - MOST_STATES} more`),
    );
  }
  return group;
}

/** @param {any} row @param {any} grip @param {Box} node @param {string} state @param {import("./dom.js").Model} model @param {(evidence: Evidence) => void} change */
function listen(row, grip, node, state, model, change) {
  const believe = (/** @type {number} */ share) => {
    const evidence = evidenceOf(model), answer = model.get("answer");
    if (node.name in evidence.hard) return;
    const likelihood = likelihoodFor(answer.posteriors[node.name], answer.given.soft[node.name], state, share);
    if (likelihood) change(withNode(evidence, node.name, likelihood));
  };
  const toggle = () => {
    const evidence = evidenceOf(model);
    change(withNode(evidence, node.name, evidence.hard[node.name] === state ? null : state));
  };
  let dragged = false;
  grip.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    const from = event.clientX, pixel = BAR / (grip.getBoundingClientRect().width - 4 || BAR);
    dragged = false;
    const zero = grip.getBoundingClientRect().left + 2;
    const move = (/** @type {PointerEvent} */ now) => {
      if (Math.abs(now.clientX - from) > 3) dragged = true;
      if (dragged) believe((now.clientX - zero) * pixel / BAR);
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  });
  row.addEventListener("click", () => {
    if (!dragged) toggle();
    dragged = false;
  });
  row.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const now = model.get("answer")?.posteriors[node.name]?.[state] ?? 0;
    if (event.key === "Enter" || event.key === " ") toggle();
    else if (event.key === "ArrowRight") believe(now + STEP);
    else if (event.key === "ArrowLeft") believe(now - STEP);
    else if (event.key === "Delete" || event.key === "Backspace") {
      change(withNode(evidenceOf(model), node.name, null));
    } else return;
    event.preventDefault();
  });
}
