"""The contents of a report about a classifier or a network."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

import numpy as np

from bayesbox.app.document.classifier import classifier_document
from bayesbox.app.document.network import network_document
from bayesbox.app.judged import HOW
from bayesbox.app.networks import network_spec
from bayesbox.app.report.page import Section, page, safe, table
from bayesbox.app.report.suppress import suppressed
from bayesbox.app.rows import row_answer, row_spec
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.report.describe import column_facts, remarks
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import CannotExport
from bayesbox.file.reader import Json
from bayesbox.network.network import BayesianNetwork

MOST_COLUMNS = 200  # of the table of columns
MOST_SCENARIOS = 400
FIGURES = ("accuracy", "log_loss", "brier", "auc", "calibration_error")


def classifier_report(
    classifier: AnyTableClassifier,
    evaluation: Evaluation | None = None,
    rows: Sequence[Json] = (),
    *,
    suppress: int = 0,
    name: str = "",
) -> str:
    """The report of a classifier, with its evaluation and explanations of some rows, if given."""
    hidden: list[str] = []
    if suppress:
        classifier, hidden = suppressed(classifier, suppress)
    spec = row_spec(classifier, suppress=suppress)
    spec["columns"] = [each for each in spec["columns"] if each["name"] not in hidden]
    sections = [Section("The model", _overview(classifier, suppress, hidden)), *_data(classifier, hidden)]
    sections += _quality(evaluation, suppress)
    documents: Json = {}
    try:
        document = classifier_document(classifier)
        if document["form"]["kind"] == "product":
            document["form"]["terms"] = [each for each in document["form"]["terms"] if each["column"] not in hidden]
        elif hidden:
            raise CannotExport("columns that must not be shown are part of joint tables")
        documents = {"model": document, "spec": spec}
        sections += _alive(classifier, document)
    except CannotExport as error:
        sections.append(Section("What if", _scenarios(classifier, spec, str(error))))
    if rows:
        sections.append(Section("Explained rows", _explained(classifier, rows, bool(documents))))
    return page(f"{name or classifier.target or 'Model'}: {classifier.title}", sections, documents)


def network_report(network: BayesianNetwork, *, name: str = "") -> str:
    """The report of a network: an interactive view."""
    size = network.parameters().terms
    about = [
        ["nodes", f"{len(network.nodes):,}"],
        ["arcs", f"{len(network.edges):,}"],
        ["numbers in tables", f"{size:,}"],
    ]
    sections = [
        Section("The network", table(["what", "how many"], about)),
        Section(
            "Ask it",
            '<p class="bb-small">Click a state to know it; drag its bar to believe it in part.</p>'
            '<div id="network" data-picture="network"></div>',
        ),
    ]
    documents = {"model": network_document(network), "spec": network_spec(network)}
    return page(name or network.graph.name or "Network", sections, documents)


def _overview(classifier: AnyTableClassifier, suppress: int, hidden: Sequence[str]) -> str:
    shares = np.exp(classifier.model.log_prior)
    lines: list[Sequence[object]] = [["kind", classifier.title], ["target", classifier.target or ""]]
    if not classifier.fixed:
        lines += [
            ["rows", f"{float(classifier.book.n.sum()):,.10g}"],
            ["digest of the counts", classifier.book.digest()],
        ]
    if classifier.calibrated is not None:
        lines.append(["calibrated by", classifier.calibrated.name])
    classes = [[name, f"{share:.1%}"] for name, share in zip(classifier.model.classes, shares.tolist(), strict=True)]
    text = table(["what", "value"], lines) + table(["class", "share"], classes[:50], "Classes")
    if suppress:
        more = f" Not shown at all: {', '.join(hidden)}." if hidden else ""
        text += f'<p class="bb-note">Levels with fewer than {suppress} rows in a class are pooled as (rare), in the '
        text += f"tables of the page too.{safe(more)}</p>"
    return text


def _data(classifier: AnyTableClassifier, hidden: Sequence[str]) -> Iterator[Section]:
    if classifier.schema is None or classifier.fixed:
        return
    rows = []
    for each in column_facts(classifier.schema, classifier.book)[:MOST_COLUMNS]:
        if each.name in hidden:
            continue
        seen = each.observed + each.missing
        rows.append([each.name, each.kind, f"{each.missing / seen:.1%}" if seen else "", each.values])
    notes = "".join(
        f'<p class="bb-note">{safe(hint)}</p>'
        for hint in remarks(classifier.schema, classifier.book)[:20]
        if not set(hint.columns) & set(hidden)
    )
    yield Section("The data", table(["column", "type", "missing", "values"], rows) + notes)


def _quality(evaluation: Evaluation | None, suppress: int) -> Iterator[Section]:
    if evaluation is None:
        yield Section("Quality", "<p>The model was not evaluated, since no rows were given.</p>")
        return
    found = evaluation.as_dict()
    lines = []
    for name in FIGURES:
        value = getattr(evaluation, name)
        if math.isnan(value):  # the area under ROC of rows of one class
            continue
        low, high = value.interval
        lines.append([name.replace("_", " "), f"{float(value):.4f}", f"{low:.4f} to {high:.4f}"])
    held = HOW.get(found["how"], found["how"])
    how = f", {held}" if held else ""
    text = table(["figure", "value", "95 % interval"], lines, f"{found['rows']:,} rows{how}")
    classes, cells = found["classes"], found["confusion"]
    if len(classes) <= 20:
        rows = [[name, *(_count(cell, suppress) for cell in row)] for name, row in zip(classes, cells, strict=True)]
        text += table(["true \\ predicted", *classes], rows, "Confusion")
    if found["weight"] != found["rows"]:
        text += '<p class="bb-note">Rows have weights: a fold holds out a row with its whole weight.</p>'
    if not suppress:
        text += f'<div class="bb-figure">{evaluation.svg()}</div>'
    yield Section("Quality", text)


def _count(cell: float, suppress: int) -> str:
    return f"under {suppress}" if 0 < cell < suppress else f"{cell:,.10g}"


def _alive(classifier: AnyTableClassifier, document: Json) -> Iterator[Section]:
    yield Section("What if", '<div id="what-if" data-picture="what-if"></div>')
    if document["form"]["kind"] == "product":
        about = "The expected information of each column about the class; numeric columns at 24 points."
        yield Section(
            "Importance of the columns", f'<p class="bb-small">{about}</p><div id="bits" data-picture="bits"></div>'
        )
    if isinstance(classifier.model, NaiveModel) and len(classifier.model.classes) > 1:
        yield Section("Nomogram", '<div id="nomogram" data-picture="nomogram"></div>')


def _scenarios(classifier: AnyTableClassifier, spec: Json, why: str) -> str:
    """Precomputed predictions for rows with one known column."""
    classes = spec["classes"][:6]
    rows: list[list[str]] = []
    for column in spec["columns"]:
        for value in (column.get("levels") or column.get("marks") or [])[:12]:
            answer = row_answer(classifier, {column["name"]: value})
            if "posterior" in answer and len(rows) < MOST_SCENARIOS:
                shares = [f"{100 * share:.1f} %" for share in answer["posterior"][: len(classes)]]
                rows.append([f"{column['name']} = {value}", *shares])
    about = f"This page cannot compute answers itself: {why} These were computed beforehand."
    note = f'<p class="bb-note">{safe(about)}</p>'
    return note + table(["where", *classes], rows, "P(class) given one column")


def _explained(classifier: AnyTableClassifier, rows: Sequence[Json], alive: bool) -> str:
    parts = []
    for number, row in enumerate(rows, start=1):
        answer = row_answer(classifier, row)
        if "error" in answer:
            continue
        label = classifier.model.classes[answer["label"]]
        terms = sorted(answer["terms"], key=lambda term: -abs(term["logOdds"]))[:5]
        why = ", ".join(f"{term['column']} {term['text']} ({term['logOdds']:+.2f})" for term in terms)
        data = safe(json.dumps(row, ensure_ascii=False, default=str))
        opens = f' <button type="button" data-row="{data}">open in what if</button>' if alive else ""
        share = answer["posterior"][answer["label"]]
        parts.append(f"<li>Row {number}: {safe(label)}, {100 * share:.1f} %. {safe(why)}{opens}</li>")
    return f"<ul>{''.join(parts)}</ul>"
