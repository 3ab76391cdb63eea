/**
 * The app: the current file and view, the state in the URL, and the line to copy.
 *
 * The URL is `#file/view?state`, with the state as JSON; back and forward navigate through it.
 */
import { copyTexts } from "./copytext.js";
import { button, failure, fill, h } from "./dom.js";
import { serverTraits, Traits } from "./host.js";

/**
 * @typedef {{name: string, kind: string, views: string[], lesson: string | null, about: string, path: string | null}} Listed
 * @typedef {{place: number, view: string, state: Record<string, any>}} Shown
 */

/** The views: the traits that are the state with their initial values, and the drawing module, which is loaded on first use. @type {Record<string, {title: string, state: Record<string, any>, sent?: string[], load: () => Promise<(host: import("./dom.js").Host) => any>}>} */
const VIEWS = {
  "what-if": {
    title: "What if",
    state: { row: {}, types: {} },
    load: async () => (await import("./whatif.js")).renderWhatIf,
  },
  nomogram: {
    title: "Nomogram",
    state: { row: {}, pair: [1, 0], types: {} },
    load: async () => (await import("./nomogram.js")).renderNomogram,
  },
  network: {
    title: "Network",
    state: { evidence: { hard: {}, soft: {} }, target: null, edits: [] },
    load: async () => (await import("./network.js")).renderNetwork,
  },
  edit: {
    title: "Edit",
    state: { evidence: { hard: {}, soft: {} }, target: null, edits: [], selected: null },
    sent: ["evidence", "target", "edits", "have"],
    load: async () => (await import("./edit.js")).renderEdit,
  },
  evaluate: {
    title: "Evaluate",
    state: { cell: null, threshold: 0.5, rate: null, cost: 1, types: {} },
    sent: ["cell", "types"],
    load: async () => (await import("./evaluation.js")).renderEvaluation,
  },
  data: { title: "Data", state: { types: {} }, load: async () => (await import("./data.js")).renderData },
  chain: { title: "Chain", state: { steps: [] }, load: async () => (await import("./chain.js")).renderChain },
  compare: {
    title: "Compare",
    state: { models: null, types: {} },
    sent: ["models", "action", "types"],
    load: async () => (await import("./compare.js")).renderCompare,
  },
  audit: {
    title: "Audit",
    state: { rows: "", forget: false, against: null, types: {} },
    load: async () => (await import("./audit.js")).renderAudit,
  },
  lesson: {
    title: "Lesson",
    state: { prior: 0.01, hit: 0.9, alarm: 0.09, guess: null, revealed: false },
    load: async () => (await import("./lesson.js")).renderLesson,
  },
};

const TOGETHER = 400; // milliseconds; changes within this time are one step of the history

const [header, main, footer] = ["header", "main", "footer"].map((
  id,
) => /** @type {HTMLElement} */ (document.getElementById(id)));

/** @param {string} path @param {string} [body] @returns {Promise<any>} */
async function fetched(path, body) {
  const headers = { "content-type": "application/json" };
  const reply = await fetch(path, body === undefined ? {} : { method: "POST", headers, body });
  if (!reply.ok) throw new Error((await reply.json()).error ?? reply.statusText);
  return reply.json();
}

/** The file, view and state in the URL; null for the start page. @param {Listed[]} files @returns {Shown | null} */
function shownOf(files) {
  const [path, text] = location.hash.slice(1).split("?"), [name, view] = path.split("/").map(decodeURIComponent);
  const place = files.findIndex((file) => file.name === name);
  if (place < 0) return null;
  const chosen = files[place].views.includes(view) ? view : files[place].views[0];
  let state = {};
  try {
    state = text ? JSON.parse(decodeURIComponent(text)) : {};
  } catch {
    state = {};
  }
  return { place, view: chosen, state };
}

/** @param {Listed} file @param {string} view @param {Record<string, any>} state */
function addressOf(file, view, state) {
  const start = VIEWS[view].state;
  const changed = Object.entries(state).filter(([name, value]) =>
    name in start && JSON.stringify(value) !== JSON.stringify(start[name])
  );
  const text = changed.length ? `?${encodeURIComponent(JSON.stringify(Object.fromEntries(changed)))}` : "";
  return `#${encodeURIComponent(file.name)}/${view}${text}`;
}

/** @param {Listed[]} files @param {Shown | null} shown */
function drawHeader(files, shown) {
  const links = files.map((file, place) =>
    h(
      "a",
      { href: addressOf(file, file.views[0], {}), "aria-current": shown?.place === place ? "page" : null },
      file.name,
    )
  );
  const file = shown && files[shown.place];
  const views = file && file.views.length > 1
    ? file.views.map((view) =>
      h("a", {
        href: addressOf(file, view, shown.state),
        "aria-current": view === shown.view ? "true" : null,
      }, VIEWS[view].title)
    )
    : [];
  fill(
    header,
    h("h1", {}, h("a", { href: "#" }, "bayesbox")),
    h("nav", { "aria-label": "Files" }, ...links),
    views.length ? h("nav", { "aria-label": "Views" }, ...views) : null,
  );
}

/** @param {Listed[]} files */
function drawStart(files) {
  document.title = "bayes app";
  fill(
    main,
    h("h2", {}, "Open"),
    h(
      "div",
      { class: "bb-cards" },
      ...files.map((file) =>
        h("a", { href: addressOf(file, file.views[0], {}) }, file.lesson ?? file.name, h("small", {}, file.about))
      ),
    ),
  );
  fill(footer, "Nothing leaves this machine. Stop the app with Ctrl-C.");
}

/** @param {Listed} file @param {string} view @param {Traits} traits @param {string} [note] */
function drawFooter(file, view, traits, note = "") {
  const sent = (VIEWS[view].sent ?? Object.keys(VIEWS[view].state)).filter((name) => name in VIEWS[view].state);
  const spec = traits.get("spec") ?? {};
  const texts = copyTexts(file, view, spec, traits, location.href.split("#")[0], sent);
  const digest = traits.get("found")?.digest ?? spec.digest;
  const say = h("span", { role: "status" }, note);
  const buttons = Object.entries(texts).map(([name, text]) =>
    button(name, () => {
      navigator.clipboard.writeText(text).then(
        () => (say.textContent = `Copied as ${name}.`),
        () => (say.textContent = text),
      );
    }, { "data-copy": text, title: text })
  );
  fill(
    footer,
    digest ? h("span", { title: digest }, `digest ${digest.slice(0, 12)}…`) : null,
    spec.rows ? h("span", {}, `${spec.rows.toLocaleString("en")} rows counted`) : null,
    buttons.length ? h("span", {}, "copy as") : null,
    ...buttons,
    say,
  );
}

/** @param {Listed[]} files */
async function start(files) {
  let stop = () => {};
  /** @type {string | null} */
  let own = null;
  let pushed = 0;
  let ask = () => {};
  const specs = new Map();
  const show = async (note = "") => {
    if (location.hash === own) return;
    own = location.hash;
    const here = own, shown = shownOf(files);
    pushed = 0;
    stop();
    stop = ask = () => {};
    drawHeader(files, shown);
    if (!shown) return drawStart(files);
    const file = files[shown.place], { title, state, load, sent } = VIEWS[shown.view];
    document.title = `${file.name}: ${title}`;
    const { types = {}, edits = [] } = shown.state;
    const made = Object.keys(types).length || edits.length ? JSON.stringify({ types, edits }) : undefined;
    const key = `${shown.place} ${made}`;
    if (!specs.has(key)) specs.set(key, await fetched(`api/files/${shown.place}/spec`, made));
    const spec = specs.get(key), render = await load();
    if (own !== here) return; // another file was opened meanwhile
    const begin = Object.fromEntries(Object.keys(state).map((name) => [name, shown.state[name] ?? state[name]]));
    const moved = () => {
      const now = Object.fromEntries(Object.keys(state).map((name) => [name, traits.get(name)]));
      const next = addressOf(file, shown.view, now);
      if (next === own) return;
      own = next;
      if (Date.now() - pushed < TOGETHER) history.replaceState(null, "", own); // a drag is one step back
      else history.pushState(null, "", own);
      pushed = Date.now();
      drawHeader(files, { ...shown, state: now });
      drawFooter(file, shown.view, traits);
    };
    const link = (/** @type {any} */ row) => addressOf(file, "what-if", { row, types: traits.get("types") });
    const changed = async () => {
      specs.clear();
      own = null;
      await safely(traits.get("said") ?? `${file.name} has changed on disk and was reloaded.`);
    };
    /** @type {Traits} */
    const traits = file.kind === "lesson" ? new Traits({ spec, ...begin }, moved) : serverTraits(
      `api/files/${shown.place}/${shown.view}`,
      { spec, place: shown.place, answer: null, rulers: null, found: null, rows: null, link, ...begin },
      sent ?? Object.keys(state),
      moved,
      changed,
    );
    const el = h("div");
    fill(main, el);
    stop = render({ model: traits, el }) ?? stop;
    const foot = () => drawFooter(file, shown.view, traits, note);
    for (const name of ["found", "forgotten", "spec"]) traits.on(`change:${name}`, foot);
    foot();
    if (file.kind === "lesson") return;
    ask = () => void traits.ask?.();
    await traits.ask?.();
  };
  const safely = (note = "") => show(note).catch((error) => fill(main, failure(String(error.message ?? error))));
  addEventListener("popstate", () => safely());
  addEventListener("focus", () => ask()); // a file may have changed meanwhile
  await safely();
}

start(await fetched("api/files"));
