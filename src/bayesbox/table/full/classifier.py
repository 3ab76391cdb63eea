"""Full Bayes on tables: the columns are counted jointly, without an independence assumption."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.classifier.hints import Hint, Reason
from bayesbox.classifier.report.size import ModelSize, Parameters
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.table import TableClassifier
from bayesbox.dist.base import Columns, Doubles
from bayesbox.explain.evidence import Explanation
from bayesbox.file.reader import Reader
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.table.full import posterior
from bayesbox.table.full.leave_one_out import leave_one_out
from bayesbox.table.full.model import FullModel, full_model, level_rows, parameters_of_full, size_of_full
from bayesbox.table.full.options import FullOptions
from bayesbox.table.full.refine import found_shrinkage
from bayesbox.table.full.shrinkage import DERIVED, LEAVE_ONE_OUT, ROWS, Shrinkage
from bayesbox.tally.book import Book
from bayesbox.tally.joint_columns import count_all, numbers_that_are_flags

if TYPE_CHECKING:
    from bayesbox.classifier.one_row.compiling import CodedScorer
    from bayesbox.dist.learned import LearnedTable
    from bayesbox.explain.class_work import ClassWork
    from bayesbox.file.reader import Json


@dataclass(frozen=True)
class Derived:
    """What was derived from the rows."""

    flags: tuple[str, ...]
    shrinkage: Shrinkage | None = None


class FullClassifier(TableClassifier[FullOptions, Derived, FullModel]):
    """Full Bayes: P(class) times P(all columns | class).

    `derived` lists the numeric columns with only 0 and 1, which are treated as flags; they are found in the first
    training. It also has the shrinkage of correlations, if it is learned.
    """

    kind = "full-bayes"
    title = "full Bayes"
    options_type = FullOptions
    second_pass_rows = ROWS

    @property
    def flags(self) -> tuple[str, ...]:
        """The numbers that are counted as flags."""
        return () if self.derived is None else self.derived.flags

    @property
    def shrinkage(self) -> Shrinkage | None:
        """The learned shrinkage of correlations."""
        return None if self.derived is None else self.derived.shrinkage

    @classmethod
    def rules_from_options(cls, parameter: str, given: Mapping[str, Any]) -> FullOptions:
        """The rules from command options; the default shrinkage in the command is leave-one-out."""
        rules: FullOptions = super().rules_from_options(parameter, given)
        said = any(part.partition("=")[0] == "shrink" for part in parameter.split(","))
        return rules if said or rules.covariance == "diagonal" else replace(rules, shrink=LEAVE_ONE_OUT)

    def number_flags(self) -> tuple[str, ...]:
        return self.flags

    def make_model(self, schema: Schema, book: Book) -> FullModel:
        return full_model(schema, book, self.rules, self.flags, self.shrinkage)

    def size(self) -> ModelSize:
        return size_of_full(self.model)

    def parameters(self) -> Parameters:
        return parameters_of_full(self.model)

    def learned_tables(self, most: int | None) -> Iterator[LearnedTable]:
        from bayesbox.table.full.tables import learned_together

        return learned_together(self, most)

    def notes(self) -> tuple[str, ...]:
        said = () if self.shrinkage is None else (self.shrinkage.text(),)
        return (*said, *self.model.notes)

    # -- counting ------------------------------------------------------------------------------------------------

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        """The tallies of each column, and of all columns jointly."""
        return count_all(columns, labels, schema, flags=self.flags, **options)

    def derive(self, schema: Schema, book: Book) -> bool:
        """Treat numeric columns with only 0 and 1 as flags; then the rows are counted again."""
        if self.derived is not None:
            return False
        self.derived = Derived(numbers_that_are_flags(schema, book))
        return bool(self.derived.flags)

    def has_second_pass(self) -> bool:
        return self.rules.shrink in DERIVED and self.rules.covariance != "diagonal"

    def refine(self, parts: Sequence[LabelledRows]) -> None:
        self.derived, self._model = Derived(self.flags, found_shrinkage(self, parts)), None

    def irreversible_parts(self) -> tuple[str, ...]:
        return (
            *((f"which numbers are flags: {', '.join(self.flags)}",) if self.flags else ()),
            *(("how far correlations are shrunk",) if self.shrinkage is not None else ()),
            *super().irreversible_parts(),
        )

    def needs_refit(self) -> bool:
        """Whether folds must be refitted: only for the shrinkage, since flags are those of the whole table."""
        return self.has_second_pass()

    def derived_to_json(self) -> Json | None:
        written: dict[str, Any] = {"flags": list(self.flags)} if self.flags else {}
        if self.shrinkage is not None:
            rows = sorted(self.shrinkage.rows.items())
            written["shrinkage"] = {name: None if math.isinf(m) else m for name, m in rows}
        return written or None

    @classmethod
    def derived_from_json(cls, written: Json | None) -> Any:
        if written is None:
            return Derived(())
        reader = Reader(written, "derived")
        flags = reader.texts("flags") if "flags" in written else ()
        rows = reader.take_if_present("shrinkage", dict)
        reader.done()
        if ("flags" in written and not flags) or len(set(flags)) < len(flags):
            raise ValueError("the derived flags are not columns, or one occurs twice")
        if rows is None:
            return Derived(flags)
        if not all(m is None or (type(m) is float and 0 <= m < math.inf) for m in rows.values()):
            raise ValueError("correlations must be shrunk by a non-negative number of rows")
        return Derived(flags, Shrinkage({name: math.inf if m is None else m for name, m in rows.items()}))

    def hints(self) -> list[Hint]:
        """Suspicious facts about the rows, and which covariances were shrunk. One-hot groups are harmless here."""
        found = [hint for hint in super().hints() if hint.reason != Reason.ONE_HOT]
        if self.schema is None:
            return found
        remedy = "Use more rows, fewer columns, or covariance='pooled' to avoid it"
        return [*found, *(Hint(Reason.SHRUNK, (), note, remedy) for note in self.model.notes)]

    # -- answers -------------------------------------------------------------------------------------------------

    def predict(self, batch: Batch) -> AnyArray:
        if self.calibrated is not None:
            return super().predict(batch)
        labels: AnyArray = self.model.labels
        return labels[posterior.best_class(self.model, self.columns_of(batch), batch.rows, batch.first_row)]

    def posterior(self, batch: Batch) -> Doubles:
        if self.calibrated is not None:
            return super().posterior(batch)
        return posterior.posterior(self.model, self.columns_of(batch), batch.rows, _core.POSTERIOR, batch.first_row)

    def plain_log_posterior(self, batch: Batch) -> Doubles:
        return posterior.posterior(self.model, self.columns_of(batch), batch.rows, _core.LOG_POSTERIOR, batch.first_row)

    def joint_log_prob(self, batch: Batch) -> Doubles:
        return posterior.joint_log_prob(self.model, self.columns_of(batch), batch.rows)

    def coded(self) -> CodedScorer | None:
        from bayesbox.table.full.scorer import joint_scorer

        plain, calibration = (self, None) if self.calibrated is None else self.calibrated.compiled(self)
        return joint_scorer(plain.model, plain.model_schema(), calibration)

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each learned row under the model of all the others."""
        schema = self.model_schema()
        found = leave_one_out(schema, self.book, self.rules, self.flags, self.model, self.columns_of(batch), labels)
        rows = np.flatnonzero(self._last_others(batch))
        if len(rows):
            alone = LabelledRows(batch, labels).take(rows)
            found[rows] = super().leave_one_out(alone.batch, alone.labels)
        return found

    def _last_others(self, batch: Batch) -> NDArray[np.bool_]:
        """The rows without which a category would have a single value and be ignored: each needs its own model."""
        schema, columns = self.model_schema(), self.columns_of(batch)
        found = np.zeros(batch.rows, dtype=bool)
        for axis in self.model.table.axes if self.model.table is not None and schema.ignores_constants else ():
            rows = level_rows(schema, self.book, self.rules, axis.column)
            lasting = schema.lasting_levels(axis.column)
            single = [level for level, number in rows.items() if number == 1 and level not in lasting]
            if len(rows) != 2 or not single:
                continue
            column = columns.get(axis.column, pa.nulls(batch.rows))
            codes, levels, _ = encode(column)
            places = {axis.position.get(level) for level in single if level is not None}
            alone = [axis.position.get(level.lower() if axis.flag else level) in places for level in levels]
            found |= np.array([*alone, None in single])[codes]
        return found

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        from bayesbox.table.full.work import full_work

        return full_work(self, batch, against)

    def explain(self, batch: Batch) -> Explanation:
        """The terms of the chain rule: each column given the class and all columns before it, which sum to the joint.

        The terms depend on the order of the columns.
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
        return Explanation(model.labels, names, model.log_prior, terms).joined(self.schema.parts)
