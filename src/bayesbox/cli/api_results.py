"""The reference page of results: the classes that methods return, with their fields and methods."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import bayesbox
from bayesbox.cli.api_members import members, signature_of

RESULTS = {
    "AdjustmentSets": "network.act.results",
    "Answer": "network.joint.query",
    "AnswerPlan": "network.exact.conditioning",
    "ArcStrengths": "network.analyse.strengths",
    "Book": "tally.book",
    "ChainBook": "sequence.counts",
    "ClassWork": "explain.class_work",
    "ColumnQuestions": "classifier.answer.questions",
    "Comparison": "network.learn.compare",
    "CompiledScorer": "classifier.one_row.scorer",
    "Conflict": "network.analyse.conflict",
    "CredibleInterval": "explain.credible",
    "CrossEntropy": "network.analyse.cross_entropy",
    "Dependence": "table.dependence",
    "DocumentsExplanation": "text.explained_documents",
    "Drift": "classifier.answer.drifts",
    "Evaluation": "classifier.evaluation",
    "Exercise": "teach.exercise",
    "ExerciseSet": "teach.exercise_set",
    "Filter": "sequence.forecast",
    "Flips": "classifier.answer.flips",
    "Forecast": "sequence.forecast",
    "GraphLayout": "explain.graph.layout",
    "Identification": "network.act.results",
    "Importance": "classifier.answer.importance",
    "IntervalTable": "explain.credible",
    "LinearWeights": "table.naive.linear",
    "ModelComparison": "classifier.results.comparison",
    "NodeQuestions": "network.analyse.ask_next",
    "Nomogram": "explain.nomogram",
    "Parameters": "classifier.report.size",
    "Picture": "display.picture",
    "PoolReport": "estimators.auto_bayes",
    "PosteriorTable": "network.exact.posterior_table",
    "PrintedTables": "explain.printed_tables",
    "ProbabilityTable": "network.query.probability_table",
    "Robustness": "classifier.experiment.robustness",
    "RowsExplanation": "classifier.answer.explanation",
    "Sample": "sequence.forecast",
    "Sensitivity": "network.analyse.sensitivity",
    "Threshold": "decide.thresholds",
    "Verdict": "network.joint.independence",
    "WhatIf": "classifier.answer.what_if",
    "Work": "explain.steps",
}
"""The classes of results and where they are defined."""

NO_RESULTS = {"ChainWidget", "LessonWidget", "NetworkWidget", "OptimalClassifier", "RowWidget", "SqlSource"}
"""Other return types: notebook pictures, a source to train on, and an internal part."""

INNER_OF_RESULTS = {
    "Book": {
        "canonical", "empty", "pruned", "require_room", "with_classes", "with_label_type", "with_ledger",
        "with_tallies",
    },
    "ChainBook": {"canonical", "empty", "label_type", "of"},
    "ClassWork": {"calibrated", "facts"},
    "Dependence": {"advice", "called"},
    "DocumentsExplanation": {"batch", "classifier", "of", "position"},
    "Evaluation": {
        "absent", "batch", "before", "by_groups", "data", "each", "metrics", "model", "options", "scored", "skipped",
        "subset", "worse_than_baseline",
    },
    "Exercise": {"question"},
    "IntervalTable": {"heads"},
    "ModelComparison": {"of"},
    "Nomogram": {"reach", "remarks", "rest", "unmarked"},
    "PoolReport": {"of"},
    "RowsExplanation": {"batch", "classifier", "joined", "of", "position"},
}  # fmt: skip
"""Fields and methods that other parts of the package use, and which the reference leaves out."""


def result_class(name: str) -> Any:
    """The result class of this name."""
    return getattr(importlib.import_module(f"bayesbox.{RESULTS[name]}"), name)


def returned_types(function: object) -> Iterator[str]:
    """The names of classes in the return annotation of a function."""
    if callable(function):
        yield from re.findall(r"\b[A-Z]\w+", str(inspect.signature(function).return_annotation))


def given_by(names: Iterable[str]) -> dict[str, list[str]]:
    """For each class, the functions and methods that return it; a method is listed under its first class."""
    found: dict[str, list[str]] = defaultdict(list)
    seen = set()
    order = sorted(names, key=lambda name: (name != "NaiveBayes", name))  # the most used classifier first
    for name in order:
        public = getattr(bayesbox, name)
        if not isinstance(public, type):
            for each in returned_types(public):
                found[each].append(name)
            continue
        for member in members(public):
            if (member.owner, member.name) not in seen:
                seen.add((member.owner, member.name))
                for each in returned_types(member.function):
                    found[each].append(f"{name}.{member.name}")
    return found


def results_page(names: Iterable[str]) -> str:
    """The page of all result classes: description, origin, fields and methods."""
    parts = [
        "# Results\n\nWhat methods and functions give back. A result prints as text; most show as HTML in a notebook, "
        "and have `.to_frame()` and `.to_dict()`.\n"
    ]
    given = given_by(names)
    for name in sorted(RESULTS):
        cls = result_class(name)
        parts.append(f"## {name}\n\n{_prose(cls)}\n")
        if given.get(name):
            parts.append(f"Given by: {', '.join(_link(each) for each in given[name])}.\n")
        fields = [f"`{each}`" for each in fields_of(cls)]
        if fields:
            parts.append(f"Fields: {', '.join(fields)}.\n")
        rows = [
            f"| `{member.name}{'' if member.is_property else signature_of(member.function, method=True)}` | "
            f"{_first_paragraph(member.function)} |"
            for member in members(cls)
            if member.name not in INNER_OF_RESULTS.get(name, ())
        ]
        if rows:
            parts.append("\n".join(["| method or attribute | what it is |\n|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def fields_of(cls: Any) -> list[str]:
    """The public fields of a dataclass or a named tuple."""
    every = getattr(cls, "__dataclass_fields__", getattr(cls, "_fields", ()))
    return [each for each in every if not each.startswith("_") and each not in INNER_OF_RESULTS.get(cls.__name__, ())]


def _prose(found: Any) -> str:
    """The text of a docstring before its example."""
    text = inspect.getdoc(found) or ""
    return re.split(r"^(?:Examples\n---|>>> )", text, maxsplit=1, flags=re.M)[0].rstrip()


def _first_paragraph(function: object) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()).replace("|", "\\|")


def _link(name: str) -> str:
    page, dot, method = name.partition(".")
    return f"[{name}]({page}.md{'#' if dot else ''}{method})"
