"""`bayes ask` for a classifier: the most informative unknown columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import captured_warnings, emit_json, note, say


def ask_classifier(
    path: str,
    target: str | None,
    known: Sequence[str],
    costs: Mapping[str, float] | None,
    *,
    top: int | None,
    as_json: bool,
) -> None:
    """Print the unset columns, ranked by their expected information about the class."""
    from bayesbox.file.load import load_classifier

    with captured_warnings() as warned:
        classifier = load_classifier(path)
        if target is not None and target != classifier.target:
            raise click.UsageError(
                f"--target names a node of a network; the target of {path} is already {classifier.target}"
            )
        values = options.values_set(known, classifier.feature_names)
        found = classifier.ask_next(classifier.one_row(values, where=path), costs)
    if as_json:
        emit_json({"model": path, "evidence": values, **found.to_dict()})
    else:
        say(str(found if top is None else replace(found, questions=found.questions[:top])))
    for text in warned:
        note(f"note: {text}")
