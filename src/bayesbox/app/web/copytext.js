/** What is on the screen as a line of Python, of the command and of curl. */

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

/**
 * @param {{name: string, kind: string, lesson: string | null}} file @param {string} view @param {any} spec
 * @param {import("./host.js").Traits} traits @param {string} base the address of the app
 * @returns {Record<string, string>}
 */
export function copyTexts(file, view, spec, traits, base) {
  const asked = (/** @type {Record<string, any>} */ body) =>
    `curl -s -H 'content-type: application/json' -d ${quoted(JSON.stringify(body))} ${
      quoted(`${base}api/files/${traits.get("place") ?? 0}/${view}`)
    }`;
  if (file.kind === "lesson") {
    const { prior, hit, alarm } = Object.fromEntries(["prior", "hit", "alarm"].map((name) => [name, traits.get(name)]));
    const evidence = prior * hit + (1 - prior) * alarm;
    return {
      Python: `import bayesbox as bb\nbb.bayes_rule(prior=${prior}, likelihood=${hit}, evidence=${evidence})`,
      command: `bayes rule --prior ${prior} --likelihood ${hit} --evidence ${evidence}`,
    };
  }
  if (file.kind === "network") {
    const { hard, soft } = traits.get("evidence"), target = traits.get("target") ?? spec.nodes[0].name;
    const name = (/** @type {string} */ text) => (/^\w+$/.test(text) ? text : JSON.stringify(text));
    const given = Object.entries(hard).map(([node, state]) => `${name(node)}=${name(/** @type {string} */ (state))}`)
      .join(", ");
    const query = `P(${name(target)}${given ? ` | ${given}` : ""})`;
    return {
      Python: `import bayesbox as bb\nnet = bb.read_network(${python(file.name)})\nnet.posteriors(${
        python({ ...soft, ...hard })
      })`,
      command: `bayes query ${quoted(file.name)} ${quoted(query)}`,
      curl: asked({ evidence: traits.get("evidence"), target: traits.get("target") }),
    };
  }
  if (file.kind === "chain") {
    /** @type {Record<string, string>[]} */
    const steps = traits.get("steps");
    const columns = spec.columns.map((/** @type {any} */ column) => [
      column.name,
      steps.map((step) =>
        step[column.name] === undefined ? null : column.levels ? step[column.name] : Number(step[column.name])
      ),
    ]);
    return {
      Python: `import bayesbox as bb\nhmm = bb.HiddenMarkovModel.load(${python(file.name)})\nhmm.predict(${
        python(Object.fromEntries(columns))
      })`,
      curl: asked({ steps }),
    };
  }
  if (["evaluate", "data", "audit", "compare"].includes(view)) return {};
  const row = traits.get("row"), model = file.lesson ? `${file.name}.bayes` : file.name;
  const sets = Object.entries(row).map(([name, value]) => `--set ${quoted(`${name}=${value}`)}`);
  return {
    Python: `import bayesbox as bb\nclf = bb.load(${python(model)})\nclf.predict_proba([${python(row)}])`,
    command: ["bayes explain", quoted(model), ...sets].join(" "),
    curl: asked(view === "nomogram" ? { row, pair: traits.get("pair") } : { row }),
  };
}
