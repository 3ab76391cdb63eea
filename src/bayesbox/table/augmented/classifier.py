"""What the models with dependent columns share: bins for numbers, and counts of pairs of columns.

Numbers are cut into bins. The cut points need the values themselves, so rows with numbers are read twice: for the cut
points, then for the counts. The cut points are derived: they do not change when rows are learned or forgotten later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast

import numpy as np

from bayesbox.classifier.contracts import TableModel
from bayesbox.classifier.report.size import ModelSize, Parameters, compared
from bayesbox.classifier.table import TableClassifier
from bayesbox.dist.base import Columns, Doubles
from bayesbox.dist.number.cuts import between, binning
from bayesbox.dist.posterior import refuse_infinite
from bayesbox.errors import BadOption
from bayesbox.file.reader import Reader
from bayesbox.rule.discrete import Coding, coded_columns, coding_of, is_number
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import MISSING, Encoded
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.stat.leave_one_out import learned_target, prior_table
from bayesbox.table.augmented.leave_one_out import Column, Removal, require_learned
from bayesbox.table.augmented.options import AugmentedOptions
from bayesbox.tally.base import Tally, positions
from bayesbox.tally.book import Book
from bayesbox.tally.count import checked_weights, count
from bayesbox.tally.counts import Counts
from bayesbox.tally.dependent import Dependent
from bayesbox.tally.distinct import Distinct
from bayesbox.tally.pairs import Pairs

if TYPE_CHECKING:
    from bayesbox.file.reader import Json


@dataclass(frozen=True)
class CutPoints:
    """The derived cut points of numbers, by column."""

    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


class CodedModel(TableModel, Protocol):
    """A model over codes."""

    @property
    def coding(self) -> Coding: ...
    @property
    def parameters(self) -> int: ...
    @property
    def terms(self) -> int: ...


R = TypeVar("R", bound=AugmentedOptions)
D = TypeVar("D", bound=CutPoints)
M = TypeVar("M", bound=CodedModel)


class AugmentedClassifier(TableClassifier[R, D, M]):
    """A classifier over codes: schema, cut points, and the counts of pairs of columns."""

    derives: ClassVar[type[CutPoints]] = CutPoints
    counts_together: ClassVar[type[Pairs] | type[Dependent]] = Pairs

    @property
    def cuts(self) -> Mapping[str, tuple[float, ...]]:
        """The cut points of numbers."""
        return {} if self.derived is None else self.derived.cuts

    def cut_points(self, name: str) -> tuple[float, ...] | None:
        return self.cuts.get(name)

    def counted_bins(self, name: str) -> tuple[tuple[float, ...], Doubles] | None:
        joint, cuts, known = self.book.joint, self.cuts.get(name), self.model.coding.levels.get(name)
        if cuts is None or known is None or not isinstance(joint, Pairs) or name not in joint.names:
            return None
        places = positions(known, joint.levels[joint.names.index(name)])
        counts = joint.single(name).sum(axis=0)
        return cuts, np.where(places >= 0, counts[np.maximum(places, 0)], 0.0)

    def size(self) -> ModelSize:
        return ModelSize(self.model.parameters, None)

    def parameters(self) -> Parameters:
        model = self.model
        naive, joint = compared([len(model.coding.levels[name]) for name in model.columns], 0, len(model.classes))
        return Parameters(model.parameters, model.terms, naive, joint)

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        """The tallies of each column, and of the groups of columns that the model needs."""
        book = count(columns, labels, schema, **options)
        weights = checked_weights(options.get("weights"), len(labels.codes))
        if self._needs_cuts(schema):
            joint: Tally = self._values(columns, labels, schema, weights)
        else:
            joint = self.count_together(columns, labels, schema, weights, where=options.get("where"))
        return book.with_tallies(book.columns, joint=joint.with_classes(book.classes))

    def _needs_cuts(self, schema: Schema) -> bool:
        """Whether this is the first pass over rows that have, or may have, numbers."""
        kinds = (schema.kinds[name] for name in schema.used)
        return self.derived is None and any(is_number(kind) or not kind.is_known for kind in kinds)

    def _values(self, columns: Columns, labels: Encoded, schema: Schema, weights: Any) -> Distinct:
        numbers = {}
        for name, column in columns.items():
            kind = schema.kinds[name]
            if kind.is_matrix:
                raise BadOption(
                    f"{self.title} does not support sparse matrices", remedy="Pass a dense array, or use naive Bayes"
                )
            if is_number(kind):
                numbers[name] = as_numbers(column, name=name)
        return Distinct.of(tuple(labels.levels), numbers, labels.codes, weights)

    def count_together(
        self, columns: Columns, labels: Encoded, schema: Schema, weights: Any, *, where: str | None = None
    ) -> Tally:
        """The joint tallies of several columns; by default, every pair."""
        coded = coded_columns(columns, schema, self.cuts, where=where)
        return Pairs.of(tuple(labels.levels), coded, labels.codes, weights)

    def derive(self, schema: Schema, book: Book) -> bool:  # noqa: ARG002  the arcs of some kinds need the schema
        if not isinstance(book.joint, Distinct):
            return False
        method = binning(self.rules.numeric)
        cuts = {}
        for name, (values, counts) in sorted(book.joint.columns.items()):
            found = between(values, np.array([0])) if len(values) == 2 else method(values, counts)
            cuts[name] = tuple(found.tolist())
        self.derived = cast("D", self.derives(cuts))  # a class variable cannot be typed by the class parameter
        return True

    def coding(self, schema: Schema, book: Book) -> Coding:
        """The known levels of each column."""
        levels = {name: tally.levels for name, tally in book.columns.items() if isinstance(tally, Counts)}
        levels |= dict.fromkeys((name for name in book.columns if is_number(schema.kinds[name])), ())
        return coding_of(schema, levels, self.cuts, unseen=self.rules.unseen)

    # -- answers -------------------------------------------------------------------------------------------------

    def codes_of(self, batch: Batch, *, learned: bool = False) -> dict[str, Any]:
        """The columns of a batch as the model's codes; an infinite number is an error.

        In training rows (`learned`), an unseen level gets a code, so that it can be reported.
        """
        assert self.schema is not None
        columns = self.columns_of(batch)
        numbers = {name: column for name, column in columns.items() if is_number(self.schema.kinds[name])}
        refuse_infinite(numbers, np.ones(batch.rows, dtype=bool), batch.first_row)
        coding = self.model.coding
        return (replace(coding, unseen="smooth") if learned else coding).codes(columns)

    def removal(
        self, batch: Batch, labels: Encoded, singles: Mapping[str, Doubles]
    ) -> tuple[Removal, dict[str, Column]]:
        """The input of leave-one-out: the classes of the rows, and their columns with the counts by class."""
        self.require_counts("forget")
        assert self.schema is not None
        book, coding = self.book.with_classes(self.model.classes), self.model.coding
        target = learned_target(labels, self.model.classes, book)
        codes, missing = self.codes_of(batch, learned=True), np.full(batch.rows, MISSING, dtype=np.int32)
        columns = {
            name: Column(codes.get(name, missing), counts, coding.declared(name), self.rules.unseen == "ignore")
            for name, counts in singles.items()
        }
        require_learned(columns, target)
        return Removal(target, len(self.model.classes), self.rules), columns

    def prior_without_row(self, labels: Encoded) -> Doubles:
        """The log prior of each row after subtracting the row itself, rows x classes."""
        assert self.schema is not None
        book = self.book.with_classes(self.model.classes)
        target = learned_target(labels, self.model.classes, book)
        prior: Doubles = prior_table(self.schema.classes, book, self.rules, self.model)[target]
        return prior

    # -- the file ------------------------------------------------------------------------------------------------

    def cells_per_row(self) -> int:
        return super().cells_per_row() * len(self.feature_names)

    def irreversible_parts(self) -> tuple[str, ...]:
        cut = [name for name, cuts in self.cuts.items() if cuts]
        return (*((f"the cut points of {', '.join(cut)}",) if cut else ()), *super().irreversible_parts())

    def derived_to_json(self) -> Json | None:
        if self.derived is None:
            return None
        return {"cuts": {name: list(self.derived.cuts[name]) for name in sorted(self.derived.cuts)}}

    @classmethod
    def derived_from_json(cls, written: Json | None) -> Any:
        if written is None:
            return None
        reader = Reader(written, "derived")
        derived = cls.derives(cuts_of(reader.take("cuts", dict)), **cls.more_derived(reader))
        reader.done()
        return derived

    def require_consistent(self) -> None:
        assert self.schema is not None
        joint = self.book.joint
        if joint is not None and not isinstance(joint, self.counts_together):
            raise ValueError(f"{self.title} has other counts of pairs of columns")
        known = self.coding(self.schema, self.book).levels
        for name in _columns_of(joint):
            if name not in known:
                raise ValueError(f"column `{name}` is counted jointly with others, but has no tally of its own")

    @classmethod
    def more_derived(cls, reader: Reader) -> dict[str, Any]:  # noqa: ARG003  most derive nothing but cut points
        """What a kind derives besides cut points, from the model file."""
        return {}


def _columns_of(joint: Tally | None) -> set[str]:
    """The columns of a joint tally."""
    if isinstance(joint, Pairs):
        return set(joint.names)
    if isinstance(joint, Dependent):
        return {name for column, given in joint.parents.items() for name in (column, *given)}
    return set()


def cuts_of(written: Json) -> dict[str, tuple[float, ...]]:
    """The cut points from a file, checked: finite and ascending."""
    cuts = {}
    for name, values in written.items():
        if type(values) is not list or not all(type(value) is float for value in values):
            raise ValueError(f"the cut points of `{name}` are not a list of numbers")
        if not all(np.isfinite(values)) or any(low >= high for low, high in pairwise(values)):
            raise ValueError(f"the cut points of `{name}` are not ascending")
        cuts[name] = tuple(values)
    return cuts
