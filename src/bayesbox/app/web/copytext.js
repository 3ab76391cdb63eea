/** The current view as lines of Python, of the command and of curl. */

/** @param {string} text @returns {string} for a shell */
export function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {any} value @returns {string} in Python */
export function python(value) {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([name, each]) => `${python(name)}: ${python(each)}`).join(", ")}}`;
  }
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}

const IMPORT = "import bayesbox as bb";

/** Lines of Python. @param {...string} rest */
const lines = (...rest) => [IMPORT, ...rest].join("\n");

/** A command line, quoting words if needed. @param {...(string | null | undefined)} words */
const line = (...words) => words.filter((word) => word).map((word) => quoted(/** @type {string} */ (word))).join(" ");

/**
 * @typedef {{name: string, kind: string, lesson: string | null, path: string | null}} File
 * @typedef {import("./host.js").Traits} Traits
 */

/**
 * @param {File} file @param {string} view @param {any} spec @param {Traits} traits
 * @param {string} base the address of the app @param {string[]} sent the traits that are asked with
 * @returns {Record<string, string>}
 */
export function copyTexts(file, view, spec, traits, base, sent) {
  const body = Object.fromEntries(sent.map((name) => [name, traits.get(name)]).filter(([, value]) => value !== null));
  const curl = `curl -s -H 'content-type: application/json' -d ${quoted(JSON.stringify(body))} ${
    quoted(`${base}api/files/${traits.get("place") ?? 0}/${view}`)
  }`;
  if (file.kind === "lesson") return lessonTexts(traits);
  if (file.kind === "network") return { ...networkTexts(file, spec, traits), curl };
  if (file.kind === "chain") return { ...chainTexts(file, spec, traits), curl };
  return { ...(file.kind === "table" && !file.lesson ? tableTexts : modelTexts)(file, view, spec, traits), curl };
}

/** @param {Traits} traits */
function lessonTexts(traits) {
  const [prior, hit, alarm] = ["prior", "hit", "alarm"].map((name) => traits.get(name));
  const evidence = prior * hit + (1 - prior) * alarm;
  return {
    Python: lines(`bb.bayes_rule(prior=${prior}, likelihood=${hit}, evidence=${evidence})`),
    command: `bayes rule --prior ${prior} --likelihood ${hit} --evidence ${evidence}`,
  };
}

/** @param {File} file @param {any} spec @param {Traits} traits */
function networkTexts(file, spec, traits) {
  const { hard, soft } = traits.get("evidence"), target = traits.get("target") ?? spec.nodes[0].name;
  const name = (/** @type {string} */ text) => (/^\w+$/.test(text) ? text : JSON.stringify(text));
  const given = [
    ...Object.entries(hard).map(([node, state]) => `${name(node)}=${name(/** @type {string} */ (state))}`),
    ...Object.entries(soft).map(([node, shares]) =>
      `${name(node)}~(${
        Object.entries(/** @type {any} */ (shares)).map(([state, p]) => `${name(state)}:${p}`).join(", ")
      })`
    ),
  ].join(", ");
  const path = file.path ?? `${file.name}.bif`, { python: edits = [], command, output = path } = spec.edited ?? {};
  const query = line("bayes", "query", output, `P(${name(target)}${given ? ` | ${given}` : ""})`);
  return {
    Python: lines(
      `net = bb.read_network(${python(path)})`,
      ...edits,
      `net.posteriors(${python({ ...soft, ...hard })})`,
    ),
    ...(command === null ? {} : { command: command ? `${command} && ${query}` : query }),
  };
}

/** @param {File} file @param {any} spec @param {Traits} traits */
function chainTexts(file, spec, traits) {
  const path = file.path ?? file.name;
  /** @type {Record<string, any>[]} */
  const steps = traits.get("steps").map((/** @type {Record<string, string>} */ step) =>
    Object.fromEntries(spec.columns.map((/** @type {any} */ { name, levels }) => {
      return [name, step[name] === undefined ? null : levels ? step[name] : Number(step[name])];
    }))
  );
  const columns = Object.fromEntries(
    spec.columns.map((/** @type {any} */ { name }) => [name, steps.map((step) => step[name])]),
  );
  const rows = steps.map((step) => quoted(JSON.stringify(step))).join(" ");
  return {
    Python: lines(`hmm = bb.HiddenMarkovModel.load(${python(path)})`, `hmm.predict(${python(columns)})`),
    command: `printf '%s\\n' ${rows} | ${line("bayes", "hmm", "decode", path, "-", "-f", "jsonl")}`,
  };
}

/** Keyword arguments in Python, after others. @param {Record<string, any> | undefined} options */
function keywords(options) {
  return Object.entries(options ?? {}).map(([name, value]) => `, ${name}=${python(value)}`).join("");
}

/** The rows of a file in Python. @param {string} path @param {string} target @param {any} reading */
function readRows(path, target, reading) {
  const file = python(path), options = keywords(reading?.pandas);
  const tab = /\.tsv/.test(path) && !reading?.pandas?.sep ? ', sep="\\t"' : "";
  const read = /\.parquet$/.test(path) ? `parquet(${file})` : /\.jsonl/.test(path) ? `json(${file}, lines=True)` : null;
  const text = /\.xlsx$/.test(path) ? `excel(${file}${options})` : `csv(${file}${tab}${options})`;
  const rows = `rows = pd.read_${read ?? text}`;
  return ["import pandas as pd", rows, `X, y = rows.drop(columns=${python(target)}), rows[${python(target)}]`];
}

/** The line for a model trained on a table. @param {File} file @param {string} view @param {any} spec @param {Traits} traits */
function tableTexts(file, view, spec, traits) {
  const path = file.path ?? file.name, target = spec.target, types = traits.get("types") ?? {}, weight = spec.weight;
  const model = path.replace(/^.*\//, "").replace(/\.[^.]*$/, "") + ".bayes";
  const typed = Object.entries(types), declared = typed.map(([name, kind]) => `${name}=${kind}`).join(",");
  const blank = typed.length ? `bb.NaiveBayes(columns=${python(types)})` : "bb.NaiveBayes()";
  const reading = spec.reading, words = reading?.command ?? [];
  const data = [path, "-t", target, ...(typed.length ? ["--types", declared] : []), ...words];
  const weighed = weight ? ["--weight", weight] : [];
  const learn = line("bayes", "train", ...data, ...weighed, "--calibrate", "none", "-o", model);
  const more = (typed.length ? `, model=${blank}` : "") + (weight ? `, weight=${python(weight)}` : "") +
    keywords(reading?.train);
  const trained = `clf = bb.train(${python(path)}, target=${python(target)}${more})`;
  const rows = readRows(path, target, reading);
  if (view === "evaluate") {
    return {
      Python: lines(...rows, `bb.evaluate(${blank}, X, y, cv=10)`),
      command: line("bayes", "evaluate", ...data, "--cv", "10"),
    };
  }
  if (view === "compare") {
    return {
      Python: lines(...rows, `bb.compare([${blank}, bb.TAN(), bb.AODE(), bb.FullBayes()], X, y, cv=10)`),
      command: line("bayes", "evaluate", ...data, "--compare"),
    };
  }
  if (view === "data") {
    return { Python: lines(trained, "clf.importance()"), command: line("bayes", "schema", ...data) };
  }
  if (view === "audit") {
    return { Python: lines(trained, "clf.book_.digest()"), command: `${learn} && ${line("bayes", "show", model)}` };
  }
  const { Python, command } = rowTexts(model, traits);
  return { Python: lines(trained, Python), command: `${learn} && ${command}` };
}

/** @param {string} model @param {Traits} traits */
function rowTexts(model, traits) {
  const row = traits.get("row"), sets = Object.entries(row).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  return { Python: `clf.predict_proba([${python(row)}])`, command: line("bayes", "explain", model, ...sets) };
}

/** @param {File} file @param {string} view @param {any} spec @param {Traits} traits */
function modelTexts(file, view, spec, traits) {
  const model = file.path ?? `${file.name}.bayes`, load = `clf = bb.load(${python(model)})`, data = spec.table;
  const words = spec.reading?.command ?? [];
  if (view === "evaluate") {
    return {
      Python: lines(load, ...readRows(data, spec.judgedBy, spec.reading), "bb.evaluate(clf, X, y)"),
      command: line("bayes", "evaluate", model, data, "-t", spec.judgedBy, ...words),
    };
  }
  if (view === "data") return { Python: lines(load, "clf.importance()"), command: line("bayes", "show", model) };
  if (view === "audit") {
    const against = traits.get("against"), done = traits.get("forgotten");
    if (done?.command) {
      const numbers = done.shown.filter((/** @type {any} */ each) => each.why === null).map((
        /** @type {any} */ each,
      ) => each.number - 1);
      const rows = readRows(data, spec.judgedBy, spec.reading);
      return {
        Python: lines(load, ...rows, `clf.forget(X.iloc[${python(numbers)}], y.iloc[${python(numbers)}])`),
        command: done.command,
      };
    }
    const other = against === null ? null : spec.peers[against];
    if (other) {
      return {
        Python: lines(load, `other = bb.load(${python(other)})`, "clf.book_.digest() == other.book_.digest()"),
        command: line("bayes", "diff", model, other),
      };
    }
    return data && !file.lesson
      ? { Python: lines(load, `clf.drift(${python(data)})`), command: line("bayes", "drift", model, data, ...words) }
      : { Python: lines(load, "clf.book_.digest()"), command: line("bayes", "show", model) };
  }
  const { Python, command } = rowTexts(model, traits);
  return { Python: lines(load, Python), command };
}
