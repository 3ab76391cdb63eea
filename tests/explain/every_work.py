"""One work, or one set of tables, of each kind there is; with names that LaTeX and HTML would trip over.

`python -m tests.explain.every_work FILE.tex` writes all of them as one document, to be compiled by a TeX.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import bayesbox as bb

NASTY = "50% of $_x & {#1} ~^\\ <b>"


class Shown(Protocol):
    """What is shown: text, HTML and LaTeX."""

    def latex(self) -> str: ...
    def html(self) -> str: ...


ROWS = {
    "size": ["S", "M", "L", "S", "M", "L", "S", "S", "M", "L", "L", "M"] * 5,
    NASTY: [NASTY, "größer", "a_b", NASTY, "größer", "a_b", "a_b", NASTY, "größer", NASTY, "a_b", "größer"] * 5,
    "age": [float(20 + 7 * place % 31 + place % 3) for place in range(60)],
}
LABELS = ["no", "no", "yes", "no", "yes", "yes"] * 10
CASE = {"size": "M", NASTY: NASTY, "age": 31.5}
KINDS = {
    "naive": bb.NaiveBayes(),
    "normals": bb.NaiveBayes(numeric="gaussian", smoothing="mle"),
    "bins": bb.NaiveBayes(numeric="bins:3"),
    "kernel": bb.NaiveBayes(numeric="kernel"),
    "calibrated": bb.NaiveBayes(calibration="temperature"),
    "full": bb.FullBayes(),
    "averaged": bb.AveragedNaiveBayes(),
    "TAN": bb.TAN(),
    "KDB": bb.KDB(k=1),
    "AODE": bb.AODE(),
    "auto": bb.AutoBayes(budget=0.2),
}
TEXTS = ["Kiwi Sheep Kiwi", "Kiwi Kiwi Bird", "Kiwi Auckland", "Munich Oktoberfest Kiwi"]


def every_work() -> Iterator[tuple[str, Shown]]:
    """Names and works."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bb.DataWarning)
        for name, model in KINDS.items():
            clf = model.fit(ROWS, LABELS)
            yield f"{name}: work", clf.work(CASE)
            yield f"{name}: tables", clf.tables()
        both = [model.fit(ROWS, LABELS) for model in (bb.NaiveBayes(), bb.TAN())]
        optimal = bb.BayesOptimal(hypotheses=both, weights=[0.4, 0.6])
        yield "optimal: work", optimal.work(CASE)
        for occurrence in ("count", "binary", "table", "position"):
            documents = bb.TextClassifier(occurrence=occurrence).fit(TEXTS, ["NZ", "NZ", "NZ", "DE"])
            yield f"documents, {occurrence}: work", documents.work(["Kiwi Kiwi Munich"])
            yield f"documents, {occurrence}: tables", documents.tables()
    yield from _networks()
    yield from _chains()
    third = {"h 1": 1 / 3, NASTY: 2 / 3}
    yield "rule: numbers", bb.bayes_rule(prior=0.00002, likelihood=0.5, evidence=0.05, work=True)
    yield "rule: hypotheses", bb.bayes_rule(prior=third, likelihood=[{"h 1": 0.25, NASTY: 0.5}] * 2, work=True)
    for seed in range(6):
        drawn = bb.exercise(seed=seed)
        yield f"exercise: {drawn.topic}", drawn.solution


def _networks() -> Iterator[tuple[str, Shown]]:
    net = bb.BayesianNetwork(
        {"a_b": [], NASTY: ["a_b"], "z": [NASTY, "a_b"]},
        {
            "a_b": {"x%": 0.1, "y": 0.9},
            NASTY: {("x%",): {"t": 0.25, "f": 0.75}, ("y",): {"t": 0.5, "f": 0.5}},
            "z": {(first, second): {"t": 0.3, "f": 0.7} for first in "tf" for second in ("x%", "y")},
        },
    )
    yield "network: tables", net.tables()
    yield "network: product", net.work(f'P("a_b"="x%", {_quoted(NASTY)}=t, z=f)')
    for method in ("enumeration", "elimination"):
        yield f"network: {method}", net.work('P("a_b"="x%" | z=t)', method=method)
    for approx in ("weighting", "gibbs"):
        yield f"network: {approx}", net.work('P("a_b"="x%" | z=t)', approx=approx, samples=1000)


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\") + '"'


def _chains() -> Iterator[tuple[str, Shown]]:
    hmm = bb.HiddenMarkovModel.from_tables(
        start=[0.6, 0.4],
        transition=[[0.7, 0.3], [0.4, 0.6]],
        emission=[[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]],
        states=["rain_%", "dry"],
        symbols=["walk", "shop", NASTY],
    )
    yield "chain: tables", hmm.tables()
    for algorithm in ("forward", "viterbi", "baum-welch"):
        yield f"chain: {algorithm}", hmm.work(["walk", "shop", NASTY], algorithm)


def document(works: Mapping[str, Shown]) -> str:
    """All of them in one document, and some sheets of exercises."""
    from bayesbox.explain.work_latex import text
    from bayesbox.teach.documents import fitted_to_page, latex_document

    sections = [rf"\section*{{{text(name)}}}" + "\n" + fitted_to_page(work.latex()) for name, work in works.items()]
    sheets = [bb.exercise(seed=seed).sheet.latex() for seed in range(12)]
    return latex_document(*sections, *sheets)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(document(dict(every_work())), encoding="utf-8")
