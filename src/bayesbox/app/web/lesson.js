/**
 * Bayes' rule with natural frequencies: guess first, then see the tree, the table and the people; then a second test.
 *
 * Traits: `prior`, `hit` (of those who have it), `alarm` (false alarms of those who have not), `people`, `revealed`.
 *
 * @typedef {import("./dom.js").Host} Host
 * @typedef {{people: number, ill: number, well: number, hits: number, misses: number, alarms: number, quiet: number, share: number}} Counts
 */
import { begin, button, fill, h, newId, redraw, remark, s, table, tell } from "./dom.js";
import { percent } from "./numbers.js";

const MOST_ICONS = 1000, SIDE = 40;

/** The numbers of people, as integers, and the share of those with a positive test who have the condition. @param {{prior: number, hit: number, alarm: number, people: number}} of @returns {Counts} */
export function frequencies({ prior, hit, alarm, people }) {
  const ill = Math.round(people * prior), hits = Math.round(ill * hit), alarms = Math.round((people - ill) * alarm);
  const both = prior * hit + (1 - prior) * alarm;
  return {
    people,
    ill,
    well: people - ill,
    hits,
    misses: ill - hits,
    alarms,
    quiet: people - ill - alarms,
    share: both > 0 ? prior * hit / both : NaN,
  };
}

/** @param {Host} host */
export function renderLesson({ model, el }) {
  const controls = h("form", {
    class: "bb-inputs",
    "aria-label": "The test",
    onsubmit: (/** @type {Event} */ event) => event.preventDefault(),
  });
  const sliders = [
    slider(model, "prior", "Have it, of all", 0.001, 0.999, 0.001),
    slider(model, "hit", "Positive, of those who have it", 0, 1, 0.01),
    slider(model, "alarm", "Positive, of those who do not", 0, 1, 0.01),
  ];
  const guess = guessBox(model);
  controls.append(h("h2", {}, "The test"), ...sliders.map((each) => each.element), guess.element);
  const shown = h("section", { class: "bb-shown", "aria-label": "What follows", "aria-live": "polite" });
  begin(el, "bb-lesson", controls, shown);
  return redraw(model, ["prior", "hit", "alarm", "people", "revealed", "guess"], () => {
    for (const each of sliders) each.show();
    guess.show();
    if (!model.get("revealed")) {
      return fill(
        shown,
        h(
          "p",
          { class: "bb-sentence" },
          "A test is positive. How probable is it that this person has it? Guess, then reveal.",
        ),
      );
    }
    drawAnswer(shown, model);
  });
}

/** @param {import("./dom.js").Model} model @returns {{prior: number, hit: number, alarm: number, people: number}} */
function numbersOf(model) {
  return {
    prior: model.get("prior"),
    hit: model.get("hit"),
    alarm: model.get("alarm"),
    people: model.get("people") ?? 1000,
  };
}

/** @param {import("./dom.js").Model} model @param {string} name @param {string} text @param {number} min @param {number} max @param {number} step */
function slider(model, name, text, min, max, step) {
  const id = newId(), output = h("output", { for: id });
  const input = h("input", {
    id,
    type: "range",
    min,
    max,
    step,
    "data-trait": name,
    oninput: () => tell(model, { [name]: Number(input.value) }),
  });
  const show = () => {
    input.value = String(model.get(name));
    input.setAttribute("aria-valuetext", percent(model.get(name)));
    output.textContent = percent(model.get(name));
  };
  return {
    element: h(
      "div",
      { class: "bb-field" },
      h("label", { for: id }, text),
      h("div", { class: "bb-line" }, input, output),
    ),
    show,
  };
}

/** @param {import("./dom.js").Model} model */
function guessBox(model) {
  const id = newId();
  const input = h("input", {
    id,
    type: "number",
    min: 0,
    max: 100,
    step: "any",
    onchange: () => tell(model, { guess: input.value === "" ? null : Number(input.value) / 100 }),
  });
  const reveal = button("Reveal", () => tell(model, { revealed: true }), { class: "bb-main" });
  const hide = button("Guess again", () => tell(model, { revealed: false, guess: null }));
  const element = h(
    "div",
    { class: "bb-field" },
    h("label", { for: id }, "Your guess, in percent"),
    h("div", { class: "bb-line" }, input, reveal, hide),
  );
  const show = () => {
    const guess = model.get("guess");
    if (!input.matches(":focus")) {
      input.value = guess === null || guess === undefined ? "" : String(Number((100 * guess).toFixed(3)));
    }
    hide.hidden = !model.get("revealed");
  };
  return { element, show };
}

/** @param {HTMLElement} place @param {import("./dom.js").Model} model */
function drawAnswer(place, model) {
  const of = numbersOf(model), counts = frequencies(of), guess = model.get("guess");
  const n = (/** @type {number} */ x) => x.toLocaleString("en");
  const positive = counts.hits + counts.alarms;
  const second = () => tell(model, { prior: counts.share, revealed: false, guess: null });
  fill(
    place,
    h(
      "p",
      { role: "status", class: "bb-sentence", "data-share": counts.share },
      `${n(positive)} of ${n(counts.people)} people test positive, and ${n(counts.hits)} of them have it: ${
        percent(counts.share)
      }.`,
    ),
    guess === null || guess === undefined
      ? null
      : remark(`You guessed ${percent(guess)}: ${far(guess, counts.share)}.`),
    h("h2", {}, "As a tree"),
    tree(counts),
    h("h2", {}, "As a table"),
    table("People", ["test", "positive", "negative", "all"], [
      ["have it", n(counts.hits), n(counts.misses), n(counts.ill)],
      ["do not", n(counts.alarms), n(counts.quiet), n(counts.well)],
      ["all", n(positive), n(counts.people - positive), n(counts.people)],
    ]),
    h("h2", {}, "One by one"),
    icons(counts),
    h("p", {}, button("A second test of the same person", second), " starts from the posterior of the first."),
  );
}

/** @param {number} guess @param {number} truth */
function far(guess, truth) {
  if (Math.abs(guess - truth) < 0.02) return "right";
  return guess > truth ? "too high" : "too low";
}

/** @param {Counts} of */
function tree(of) {
  const svg = s("svg", {
    viewBox: "0 0 640 190",
    width: 640,
    height: 190,
    role: "img",
    "aria-label": `Of ${of.people} people ${of.ill} have it: ${of.hits} test positive and ${of.misses} negative. ` +
      `${of.well} do not: ${of.alarms} test positive and ${of.quiet} negative.`,
  });
  const places = /** @type {[number, number, string, number, string][]} */ ([
    [320, 20, "people", of.people, ""],
    [160, 90, "have it", of.ill, "bb-ill"],
    [480, 90, "do not", of.well, ""],
    [80, 165, "positive", of.hits, "bb-ill bb-positive"],
    [240, 165, "negative", of.misses, "bb-ill"],
    [400, 165, "positive", of.alarms, "bb-positive"],
    [560, 165, "negative", of.quiet, ""],
  ]);
  for (const [from, to] of [[0, 1], [0, 2], [1, 3], [1, 4], [2, 5], [2, 6]]) {
    svg.append(
      s("line", {
        x1: places[from][0],
        y1: places[from][1] + 14,
        x2: places[to][0],
        y2: places[to][1] - 18,
        class: "bb-arc",
      }),
    );
  }
  for (const [x, y, text, count, kind] of places) {
    svg.append(
      s(
        "g",
        { class: `bb-branch ${kind}` },
        s("rect", { x: x - 62, y: y - 18, width: 124, height: 34, rx: 8 }),
        s("text", { x, y: y + 5, "text-anchor": "middle" }, `${count.toLocaleString("en")} ${text}`),
      ),
    );
  }
  return svg;
}

/** @param {Counts} of */
function icons(of) {
  const each = Math.max(1, Math.ceil(of.people / MOST_ICONS)), size = 12;
  const kinds = /** @type {[number, string][]} */ ([[of.hits, "bb-ill bb-positive"], [of.misses, "bb-ill"], [
    of.alarms,
    "bb-positive",
  ], [of.quiet, ""]]);
  const rows = Math.ceil(of.people / each / SIDE);
  const svg = s("svg", {
    viewBox: `0 0 ${SIDE * size} ${rows * size}`,
    width: SIDE * size,
    height: rows * size,
    role: "img",
    class: "bb-icons",
    "aria-label": `${of.people} people as dots: filled ones test positive, coloured ones have it.`,
  });
  let at = 0;
  for (const [count, kind] of kinds) {
    for (let i = 0; i < Math.round(count / each); i++, at++) {
      svg.append(
        s("circle", {
          cx: size * (at % SIDE) + size / 2,
          cy: size * Math.floor(at / SIDE) + size / 2,
          r: 4,
          class: `bb-icon ${kind}`,
        }),
      );
    }
  }
  return svg;
}

export default { render: renderLesson };
