"""`bayes hmm update`, `forget` and `merge`: models that were counted, by their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bayesbox.cli.hmm.rows import placed, read_rows
from bayesbox.cli.print.output import emit_json, note, plural
from bayesbox.errors import CannotForget

if TYPE_CHECKING:
    from bayesbox.file.reader import Json


def change(action: str, files: tuple[str, ...], given: Json) -> Json:
    """Learn more, forget, or merge: by counts."""
    from bayesbox.sequence.hmm import HiddenMarkovModel

    model = HiddenMarkovModel.load(files[0])
    before = model.book_.digest()
    output = given["output"]
    if action == "merge":
        if output is None:
            raise click.UsageError("merge writes another file: -o FILE")
        for other in files[1:]:
            model = model + HiddenMarkovModel.load(other)
    else:
        if given["labels"] is None:
            raise click.UsageError(f"{action} counts states that are known: --labels COLUMN")
        text, number = model.reading()
        rows, _, source = read_rows(files[1:], given, text=text, number=number)
        apply = model.partial_fit if action == "update" else model.forget
        with placed(source):
            apply(rows, given["labels"], sequence=given["sequence"], order=given["order"])
    if not model.book_.states:
        remedy = "Nothing was changed; remove the file instead"
        raise CannotForget("these are all the steps it has learned", where=files[0], remedy=remedy)
    path = output or files[0]
    model.save(path)
    return {
        "model": path,
        "states": list(model.book_.states),
        "steps": int(model.book_.emission.n.sum()),
        "digest_before": before,
        "digest": model.book_.digest(),
    }


def print_change(report: Json, *, as_json: bool) -> None:
    if as_json:
        emit_json(report)
        return
    states = ", ".join(report["states"])
    note(f"{report['model']}: {plural(report['steps'], 'step')}, states {states}")
    for text in dict.fromkeys(report["warnings"]):
        note(f"note: {text}")
    note(f"digest before {report['digest_before']}")
    note(f"digest now    {report['digest']}")
