"""What the classifiers share that are trained on all rows at once, beyond counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

from bayesbox.classifier.contracts import PriorRules
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.table import TableClassifier
from bayesbox.dist.base import Columns
from bayesbox.errors import CannotForget
from bayesbox.schema.encode import Encoded
from bayesbox.schema.kinds import as_kind
from bayesbox.schema.one_hot import OneHot
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.table.pooled_model import PooledModel
from bayesbox.tally.book import Book

R = TypeVar("R", bound=PriorRules)
D = TypeVar("D")


class BatchLearner(TableClassifier[R, D, PooledModel]):
    """A classifier that keeps the counted rows until it is trained on them. It is trained once."""

    calibrates_by_default = False
    counts_any_time = False
    on_progress: Callable[[float, float | None, str], object] | None = None
    """The progress callback: the share done, the seconds left, and what is being trained."""

    def report_progress(self, report: Callable[[float, float | None, str], object]) -> None:
        self.on_progress = report

    def __init__(
        self,
        rules: R,
        declared: Mapping[Any, object] | None = None,
        one_hot: OneHot | None = None,
        *,
        target: str | None = None,
        calibrate: str | None = None,
    ) -> None:
        super().__init__(rules, declared, one_hot, target=target, calibrate=calibrate)
        self._seen: list[tuple[int, dict[str, Any], Encoded, Any]] = []
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "on_progress")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def unfitted_clone(self) -> Self:
        result = super().unfitted_clone()
        result._seen, result._lock, result.on_progress = [], threading.Lock(), None
        return result

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        if self.derived is not None:
            raise self.learns_once()
        book = super().count(columns, labels, schema, **options)
        with self._lock:
            self._seen.append((options.get("first_row") or 0, dict(columns), labels, options.get("weights")))
        return book

    def take_rows(self) -> list[LabelledRows]:
        """The counted rows in order; they are released."""
        seen, self._seen = sorted(self._seen, key=lambda part: part[0]), []
        return [
            LabelledRows(Batch(tuple(columns), tuple(columns.values()), len(labels.codes)), labels, weights)
            for _, columns, labels, weights in seen
        ]

    @property
    def declared_of_counted(self) -> dict[Any, object] | None:
        """The declared types of the counted columns; dates are seconds with their parts by then."""
        if self.declared is None:
            return None
        return {key: kind for key, kind in self.declared.items() if not as_kind(kind).has_parts}

    def needs_refit(self) -> bool:
        return True

    def forget(self, batch: Batch, labels: Encoded, *, weights: object = None, where: str | None = None) -> None:  # noqa: ARG002
        raise self.learns_once()

    def learns_once(self) -> CannotForget:
        """The error if rows are to be added or forgotten."""
        raise NotImplementedError
