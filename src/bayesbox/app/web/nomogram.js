/**
 * A nomogram: one ruler per column, with a mark for each value at its contribution to the log-odds; dragging one
 * updates the total.
 *
 * Traits: `spec`, `row`, `answer` as in what-if, `pair` (class, the other) and `rulers` (start, marks by column).
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {{value: string | number, logOdds: number}} Mark
 * @typedef {{column: string, isScale: boolean, marks: Mark[]}} Ruler
 */
import { countsText } from "./counts.js";
import { dict } from "./dict.js";
import { begin, fill, h, newId, redraw, s, tell } from "./dom.js";
import { percent, short, signed } from "./numbers.js";

const LEFT = 150, RIGHT = 720, LINE = 46, LIMIT = 12, WIDTH = 860, MOST_CLASSES = 8;
const PROBABILITIES = [0.0001, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/** @param {Host} host */
export function renderNomogram({ model, el }) {
  const top = h("div", { class: "bb-toolbar" }), picture = h("div", { class: "bb-picture" });
  const result = h("p", { role: "status", class: "bb-sentence" });
  const all = h("p", { class: "bb-small", "data-all": "" });
  begin(el, "bb-nomogram", top, result, all, picture);
  /** @type {((row: any) => void)[]} */
  let moves = [];
  let drawn = "";
  return redraw(model, ["row", "answer", "rulers", "pair"], () => {
    const rulers = model.get("rulers");
    if (!rulers) return fill(picture, h("p", {}, "A nomogram needs two classes and a factor for each column."));
    const now = JSON.stringify(rulers);
    if (now !== drawn) {
      drawn = now;
      const focused = picture.querySelector(":focus")?.getAttribute("data-ruler");
      drawPair(top, model);
      moves = drawRulers(picture, model, rulers);
      for (const each of picture.querySelectorAll("[data-ruler]")) {
        if (each.getAttribute("data-ruler") === focused) /** @type {any} */ (each).focus();
      }
    }
    const row = dict(model.get("row"));
    for (const move of moves) move(row);
    const total = totalOf(rulers, row), classes = model.get("spec").classes;
    const share = 1 / (1 + Math.exp(-total)), answer = model.get("answer");
    result.textContent = `Total ${signed(total)}: P(${classes[rulers.label]}) = ${percent(share)}` +
      (classes.length > 2 ? ` against ${classes[rulers.against]}` : "") +
      (model.get("spec").calibration ? ", before calibration" : "") + ".";
    const shares = answer?.posterior?.map((/** @type {number} */ p, /** @type {number} */ c) => ({
      name: classes[c],
      p,
    }))
      .sort((/** @type {any} */ a, /** @type {any} */ b) => b.p - a.p).slice(0, MOST_CLASSES)
      .map((/** @type {any} */ each) => `${each.name} ${percent(each.p)}`);
    all.textContent = shares
      ? `All classes${model.get("spec").calibration ? ", calibrated" : ""}: ${shares.join(", ")}`
      : "";
    result.setAttribute("data-share", String(share));
  });
}

/** The sum of the marks of a row. @param {{start: number, rulers: Ruler[]}} of @param {Record<string, any>} row */
export function totalOf(of, row) {
  return of.rulers.reduce((sum, ruler) => sum + oddsAt(ruler, row[ruler.column]), of.start);
}

/** The position of a value on a ruler; between two marks of a scale by interpolation. @param {Ruler} ruler @param {any} value @returns {number} */
export function oddsAt(ruler, value) {
  if (value === undefined || value === null) return 0;
  const same = ruler.marks.find((mark) => String(mark.value) === String(value));
  if (same || !ruler.isScale || !ruler.marks.length) return same?.logOdds ?? 0;
  const x = Number(value), marks = ruler.marks, at = marks.findIndex((mark) => Number(mark.value) > x);
  if (at === 0) return marks[0].logOdds;
  if (at < 0) return marks[marks.length - 1].logOdds;
  const low = marks[at - 1], high = marks[at];
  const share = (x - Number(low.value)) / (Number(high.value) - Number(low.value));
  return low.logOdds + share * (high.logOdds - low.logOdds);
}

/** @param {HTMLElement} top @param {import("./dom.js").Model} model */
function drawPair(top, model) {
  const classes = model.get("spec").classes;
  const chosen = (/** @type {number} */ place, /** @type {string} */ text) => {
    const id = newId();
    const select = h("select", {
      id,
      onchange: () => {
        const pair = [...model.get("pair")];
        if (pair[1 - place] === select.selectedIndex) pair[1 - place] = pair[place];
        pair[place] = select.selectedIndex;
        tell(model, { pair });
      },
    }, ...classes.map((/** @type {string} */ name) => h("option", {}, name)));
    select.selectedIndex = model.get("pair")[place];
    return [h("label", { for: id }, text), select];
  };
  fill(top, ...chosen(0, "For"), ...chosen(1, "against"));
}

/**
 * @param {HTMLElement} place @param {import("./dom.js").Model} model @param {{start: number, rulers: Ruler[]}} of
 * @returns {((row: any) => void)[]} functions that move the dot of each ruler
 */
function drawRulers(place, model, of) {
  const shown = of.rulers.filter((ruler) => ruler.marks.length);
  const finite = shown.flatMap((ruler) => ruler.marks.map((mark) => Math.max(-LIMIT, Math.min(LIMIT, mark.logOdds))));
  const low = Math.min(-0.5, of.start, ...finite), high = Math.max(0.5, of.start, ...finite);
  const x = (/** @type {number} */ odds) =>
    LEFT + (RIGHT - LEFT) * (Math.max(low, Math.min(high, odds)) - low) / (high - low);
  const height = LINE * (shown.length + 3) + 30;
  const svg = s("svg", {
    viewBox: `0 0 ${WIDTH} ${height}`,
    width: WIDTH,
    height,
    role: "group",
    "aria-label": "Nomogram",
  });
  svg.append(s("line", { x1: x(0), x2: x(0), y1: 24, y2: height - 1.8 * LINE, class: "bb-zero" }), axis(low, high, x));
  const prior = LINE * 1.3;
  svg.append(
    s("text", { x: 8, y: prior + 4 }, "prior"),
    s("circle", { cx: x(of.start), cy: prior, r: 6, class: "bb-prior" }, s("title", {}, signed(of.start))),
  );
  const moves = shown.map((ruler, at) => drawRuler(svg, model, ruler, x, LINE * (at + 2.3)));
  moves.push(drawTotal(svg, of, shown, LINE * (shown.length + 2.6)));
  fill(place, svg);
  return moves;
}

/** The total with its probabilities. @param {SVGElement} svg @param {{start: number, rulers: Ruler[]}} of @param {Ruler[]} shown @param {number} y */
function drawTotal(svg, of, shown, y) {
  const reach = (/** @type {(...values: number[]) => number} */ end) =>
    shown.reduce((sum, ruler) => sum + end(0, ...ruler.marks.map((mark) => mark.logOdds)), of.start);
  const low = Math.max(reach(Math.min), -LIMIT), high = Math.min(reach(Math.max), LIMIT);
  const x = (/** @type {number} */ odds) =>
    LEFT + (RIGHT - LEFT) * (Math.max(low, Math.min(high, odds)) - low) / (high - low || 1);
  const dot = s("circle", { r: 9, cy: y, class: "bb-dot bb-sum" });
  svg.append(
    s("text", { x: 8, y: y + 4, class: "bb-title-left" }, "total"),
    s("line", { x1: LEFT, x2: RIGHT, y1: y, y2: y, class: "bb-rule" }),
  );
  let last = -Infinity;
  for (const share of PROBABILITIES) {
    const odds = Math.log(share / (1 - share));
    if (odds < low || odds > high || x(odds) - last < 44) continue;
    last = x(odds);
    svg.append(
      s("line", { x1: last, x2: last, y1: y - 5, y2: y + 5, class: "bb-rule" }),
      s("text", { x: last, y: y + 22, "text-anchor": "middle", class: "bb-mark" }, percent(share)),
    );
  }
  svg.append(dot);
  return (/** @type {any} */ row) => dot.setAttribute("cx", String(x(totalOf(of, row))));
}

/** @param {number} low @param {number} high @param {(odds: number) => number} x */
function axis(low, high, x) {
  const step = high - low > 12 ? 4 : high - low > 5 ? 2 : 1, group = s("g", { class: "bb-scale" });
  for (let odds = Math.ceil(low / step) * step; odds <= high; odds += step) {
    group.append(
      s("line", { x1: x(odds), x2: x(odds), y1: 18, y2: 26 }),
      s("text", { x: x(odds), y: 14, "text-anchor": "middle" }, signed(odds)),
    );
  }
  group.append(s("text", { x: 8, y: 14 }, "log-odds"));
  return group;
}

/** @param {SVGElement} svg @param {import("./dom.js").Model} model @param {Ruler} ruler @param {(odds: number) => number} x @param {number} y */
function drawRuler(svg, model, ruler, x, y) {
  const places = ruler.marks.map((mark) => x(mark.logOdds));
  const set = (/** @type {number | null} */ at) => {
    const row = dict(model.get("row"));
    if (at === null) delete row[ruler.column];
    else row[ruler.column] = ruler.marks[at].value;
    tell(model, { row });
  };
  const dot = s("circle", { r: 8, cy: y, class: "bb-dot" });
  const slider = s("g", {
    role: "slider",
    tabindex: 0,
    "aria-label": ruler.column,
    "data-ruler": ruler.column,
    "aria-valuemin": 0,
    "aria-valuemax": ruler.marks.length - 1,
    class: "bb-ruler",
  });
  slider.append(
    s("rect", { x: 4, y: y - LINE / 2 + 2, width: WIDTH - 8, height: LINE - 4, class: "bb-hit" }),
    s("text", { x: 8, y: y + 4 }, ruler.column),
    s("line", { x1: Math.min(...places), x2: Math.max(...places), y1: y, y2: y, class: "bb-rule" }),
  );
  const spec = model.get("spec"), column = spec.columns.find((/** @type {any} */ own) => own.name === ruler.column);
  const ends = [-Infinity, -Infinity]; // where the labels above and below the ruler end so far
  const order = ruler.marks.map((_, at) => at).sort((a, b) => places[a] - places[b]);
  for (const at of order) {
    const mark = ruler.marks[at], text = typeof mark.value === "number" ? short(mark.value) : mark.value;
    const counts = countsText(spec.classes, column, String(mark.value));
    const hint = `${ruler.column} = ${text}: ${signed(mark.logOdds)}${counts ? `; ${counts}` : ""}`;
    slider.append(
      s(
        "line",
        { x1: places[at], x2: places[at], y1: y - 5, y2: y + 5, class: "bb-rule", "data-mark": text },
        s("title", {}, hint),
      ),
    );
    const shown = text.length > 16 ? `${text.slice(0, 15)}…` : text, half = 3.2 * shown.length + 3;
    const side = ends.findIndex((end) => places[at] - half > end); // a label that does not fit is only in the tooltip
    if (side < 0) continue;
    ends[side] = places[at] + half;
    const label = { x: places[at], y: side === 0 ? y - 12 : y + 21, "text-anchor": "middle", class: "bb-mark" };
    slider.append(s("text", label, shown, s("title", {}, hint)));
  }
  slider.append(dot);
  listen(slider, model, ruler, places, set);
  svg.append(slider);
  return (/** @type {any} */ row) => {
    const value = row[ruler.column], known = value !== undefined;
    dot.setAttribute("cx", String(x(oddsAt(ruler, value))));
    slider.classList.toggle("bb-unknown", !known);
    slider.setAttribute("aria-valuetext", known ? String(value) : "unknown");
    slider.setAttribute("aria-valuenow", String(Math.max(0, indexOf(ruler, value))));
  };
}

/** @param {Ruler} ruler @param {any} value */
function indexOf(ruler, value) {
  return ruler.marks.findIndex((mark) => String(mark.value) === String(value));
}

/** @param {any} slider @param {import("./dom.js").Model} model @param {Ruler} ruler @param {number[]} places @param {(at: number | null) => void} set */
function listen(slider, model, ruler, places, set) {
  const nearest = (/** @type {PointerEvent} */ event) => {
    const box = slider.ownerSVGElement.getBoundingClientRect(), at = (event.clientX - box.left) * WIDTH / box.width;
    return places.reduce((best, each, place) => (Math.abs(each - at) < Math.abs(places[best] - at) ? place : best), 0);
  };
  let now = -1;
  slider.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    slider.focus();
    const move = (/** @type {PointerEvent} */ to) => {
      const at = nearest(to);
      if (at !== now) set(now = at);
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      now = -1;
    };
    move(event);
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  });
  slider.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const at = indexOf(ruler, dict(model.get("row"))[ruler.column]), last = ruler.marks.length - 1;
    if (event.key === "ArrowRight" || event.key === "ArrowUp") set(Math.min(at + 1, last));
    else if (event.key === "ArrowLeft" || event.key === "ArrowDown") set(at < 0 ? last : Math.max(at - 1, 0));
    else if (event.key === "Home") set(0);
    else if (event.key === "End") set(last);
    else if (event.key === "Delete" || event.key === "Backspace") set(null);
    else return;
    event.preventDefault();
  });
}

export default { render: renderNomogram };
