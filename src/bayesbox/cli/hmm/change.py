"""`bayes hmm update`, `forget` and `merge`, for models with counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bayesbox.cli.hmm.rows import placed, read_rows
from bayesbox.cli.print.output import emit_json, note, plural
from bayesbox.errors import CannotForget, ModelChanged

if TYPE_CHECKING:
    from bayesbox.file.reader import Json


def change(action: str, files: tuple[str, ...], given: Json) -> Json:
    """Update, forget or merge by counts. Rows are read first, then the newest version of the file is changed."""
    from bayesbox.file.load import load_newest, load_version
    from bayesbox.file.lock import FileLock
    from bayesbox.file.save import save
    from bayesbox.sequence.codec import HOLDS

    output = given["output"]
    if action == "merge" and output is None:
        raise click.UsageError("merge writes a new file: pass -o FILE")
    if action != "merge" and given["labels"] is None:
        raise click.UsageError(f"{action} needs known states: pass --labels COLUMN")
    path = output or files[0]
    model, known = load_version(files[0], holds=HOLDS)
    text, number = reading = model.reading()
    steps = None if action == "merge" else read_rows(files[1:], given, text=text, number=number)
    with FileLock(path, wait=given["wait"], verb=f"hmm {action}") as lock:
        model, version = load_newest(files[0], model, known, holds=HOLDS)
        before = model.book_.digest()
        if steps is None:
            for other in files[1:]:
                model = model + load_version(other, holds=HOLDS)[0]
        else:
            if model.reading() != reading:
                remedy = "Nothing was changed. The types of the columns have changed: read the rows again"
                raise ModelChanged(files[0], expected=known.sha256, found=version.sha256, remedy=remedy)
            apply = model.partial_fit if action == "update" else model.forget
            rows, _, source = steps
            with placed(source):
                apply(rows, given["labels"], sequence=given["sequence"], order=given["order"])
        if not model.book_.states:
            remedy = "Nothing was changed. Delete the file instead"
            raise CannotForget("these are all the steps that the model has learned", where=files[0], remedy=remedy)
        expected = version if version.is_at(path) else None
        save(model, path, expected=expected, lock=lock, keep_old=given["keep_old"])
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
