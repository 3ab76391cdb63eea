"""Full Bayes on tables: the columns are counted together, and nothing is taken to be independent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.classifier.hints import Hint, Reason
from bayesbox.classifier.report.size import ModelSize
from bayesbox.classifier.table import TableClassifier
from bayesbox.dist.base import Columns, Doubles
from bayesbox.explain.evidence import Explanation
from bayesbox.file.reader import Reader
from bayesbox.schema.encode import Encoded
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.table.full import posterior
from bayesbox.table.full.leave_one_out import leave_one_out
from bayesbox.table.full.model import FullModel, full_model, size_of_full
from bayesbox.table.full.options import FullOptions
from bayesbox.tally.book import Book
from bayesbox.tally.joint_columns import count_all, numbers_that_are_flags

if TYPE_CHECKING:
    from bayesbox.file.reader import Json


class FullClassifier(TableClassifier[FullOptions, tuple[str, ...], FullModel]):
    """Full Bayes: P(class) times P(all columns | class).

    `derived` names the numbers that hold only 0 and 1, and so are levels of a tuple: what a column is, found in the
    first rows that are learned.
    """

    kind = "full-bayes"
    title = "full Bayes"
    options_type = FullOptions

    @property
    def flags(self) -> tuple[str, ...]:
        """The numbers that are counted as flags."""
        return self.derived or ()

    def make_model(self, schema: Schema, book: Book) -> FullModel:
        return full_model(schema, book, self.rules, self.flags)

    def size(self) -> ModelSize:
        return size_of_full(self.model)

    def notes(self) -> tuple[str, ...]:
        return tuple(self.model.notes)

    # -- counting ------------------------------------------------------------------------------------------------

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        """Each column by itself, and all of them together."""
        return count_all(columns, labels, schema, flags=self.flags, **options)

    def derive(self, schema: Schema, book: Book) -> bool:
        """Numbers that turn out to hold only 0 and 1 are flags: then the rows are counted once more."""
        if self.derived is not None:
            return False
        self.derived = numbers_that_are_flags(schema, book)
        return bool(self.derived)

    def irreversible_parts(self) -> tuple[str, ...]:
        return (
            *((f"which numbers are flags: {', '.join(self.flags)}",) if self.flags else ()),
            *super().irreversible_parts(),
        )

    def needs_refit(self) -> bool:
        """What a column is belongs to the whole table: folds keep it."""
        return False

    def derived_to_json(self) -> Json | None:
        return {"flags": list(self.flags)} if self.flags else None

    @classmethod
    def derived_from_json(cls, written: Json | None) -> Any:
        if written is None:
            return ()
        reader = Reader(written, "derived")
        flags = reader.texts("flags")
        reader.done()
        if not flags or len(set(flags)) < len(flags):
            raise ValueError("the flags that were derived are none, or one is there twice")
        return flags

    def hints(self) -> list[Hint]:
        """What looks wrong in the rows, and which covariances had to be shrunk. Flags may well be 1-of-M here."""
        found = [hint for hint in super().hints() if hint.reason != Reason.ONE_HOT]
        if self.schema is None:
            return found
        remedy = "More rows, fewer columns, or covariance='pooled' need no shrinking"
        return [*found, *(Hint(Reason.SHRUNK, (), note, remedy) for note in self.model.notes)]

    # -- answers -------------------------------------------------------------------------------------------------

    def predict(self, batch: Batch) -> NDArray[Any]:
        if self.calibrated is not None:
            return super().predict(batch)
        labels: NDArray[Any] = self.model.labels
        return labels[posterior.best_class(self.model, self.columns_of(batch), batch.rows, batch.first_row)]

    def posterior(self, batch: Batch) -> Doubles:
        if self.calibrated is not None:
            return super().posterior(batch)
        return posterior.posterior(self.model, self.columns_of(batch), batch.rows, _core.POSTERIOR, batch.first_row)

    def plain_log_posterior(self, batch: Batch) -> Doubles:
        return posterior.posterior(self.model, self.columns_of(batch), batch.rows, _core.LOG_POSTERIOR, batch.first_row)

    def joint_log_prob(self, batch: Batch) -> Doubles:
        return posterior.joint_log_prob(self.model, self.columns_of(batch), batch.rows)

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each learned row under the model of all the others."""
        assert self.schema is not None
        return leave_one_out(self.schema, self.book, self.rules, self.flags, self.model, self.columns_of(batch), labels)

    def explain(self, batch: Batch) -> Explanation:
        """The terms of the chain rule: each column given the class and all columns before it, which sum to the joint.

        The order is that of the columns, so the same value says more or less in another place.
        """
        assert self.schema is not None
        columns, model = self.columns_of(batch), self.model
        names = self.schema.used
        terms = np.zeros((batch.rows, len(model.classes), len(names)))
        before = np.zeros((batch.rows, len(model.classes)))
        for place, name in enumerate(names):
            if name in model.columns and name in columns:
                so_far = {other: columns[other] for other in names[: place + 1] if other in columns}
                after = posterior.log_terms(model, so_far, batch.rows)
                with np.errstate(invalid="ignore"):
                    terms[:, :, place] = np.where(after == before, 0.0, after - before)
                before = after
        return Explanation(model.labels, names, model.log_prior, terms)
