"""The check of `train` before it replaces an existing model: it must be similar, and is reported."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbox.cli.print.output import note, plural
from bayesbox.errors import BadModelFile, BadOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayesbox.file.reader import Json


@dataclass(frozen=True)
class ModelSummary:
    """What a user who replaces a model should know about it; None for unknown fields."""

    kind: str
    target: str | None
    classes: Sequence[str] | None
    rows: int = 0
    digest: str | None = None

    @classmethod
    def of(cls, model: Any) -> ModelSummary:
        """The summary of a classifier or a hidden Markov model."""
        from bayesbox.classifier.base import Classifier

        if isinstance(model, Classifier):
            rows = int(model.book.n.sum())
            return cls(model.kind, model.target, model.classes, rows, None if model.fixed else model.book.digest())
        rows = int(model.book_.emission.n.sum())
        return cls(model.kind, None, tuple(map(str, model.states_)), rows, model.book_.digest())

    def __str__(self) -> str:
        target = f" of `{self.target}`" if self.target else ""
        return f"a {self.kind} model{target}, {plural(self.rows, 'row')}"


def replaced(path: str, new: ModelSummary, *, force: bool) -> ModelSummary | None:
    """The model at a path, or None; an error if it is not similar to the new one, unless forced."""
    old = _at(path, force=force)
    if old is None or force:
        return old
    for what, differ in (
        (f"another kind of model: {old.kind}, not {new.kind}", old.kind != new.kind),
        (f"a model of another target: `{old.target}`, not `{new.target}`", _differ(old.target, new.target)),
        ("a model with no class in common with the new one", _apart(old.classes, new.classes)),
    ):
        if differ:
            raise BadOption(
                f"the file already holds {what} ({plural(old.rows, 'row')})",
                where=path,
                remedy="Nothing was changed. Write to another file with -o, or replace it with --force",
            )
    return old


def report_of(old: ModelSummary | None) -> Json:
    """The replaced model, for the report of a verb."""
    return {} if old is None else {"replaced": {"rows": old.rows, "digest": old.digest}}


def print_replaced(old: ModelSummary | None) -> None:
    """Print which model was replaced."""
    if old is not None:
        note(f"replaced {old}" + (f", digest {old.digest}" if old.digest else ""))


def _at(path: str, *, force: bool) -> ModelSummary | None:
    from bayesbox.file.load import load

    if not os.path.isfile(path) or os.path.getsize(path) == 0:
        return None
    try:
        return ModelSummary.of(load(path))
    except BadModelFile as error:
        if force:
            return None
        error.remedy = "Nothing was changed. Write to another file with -o, or replace it with --force"
        raise


def _differ(old: str | None, new: str | None) -> bool:
    return old is not None and new is not None and old != new


def _apart(old: Sequence[str] | None, new: Sequence[str] | None) -> bool:
    return bool(old) and bool(new) and not set(old or ()) & set(new or ())
