"""What the table classifiers share: named columns, their types, and one-hot groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa

from bayesbox.classifier.base import AnyClassifier, Classifier
from bayesbox.classifier.contracts import PriorRules, TableModel
from bayesbox.classifier.opened import AS_IT_IS, EVERY, Opened, ReadingOptions
from bayesbox.classifier.options import calibration_of_command, options_from_command
from bayesbox.classifier.report.asked import KnownLevels, known_levels, none_there
from bayesbox.classifier.rows import LabelledRows, minus_rows
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.rule.options import NaiveOptions
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.columns import Column, CountMatrix
from bayesbox.schema.encode import Encoded, as_dictionary
from bayesbox.schema.infer import kind_of
from bayesbox.schema.kind import Kind
from bayesbox.schema.one_hot import OneHot, as_one_hot, join_one_hot
from bayesbox.schema.schema import Schema, declared_kinds
from bayesbox.source.base import Batch
from bayesbox.source.shapes import is_path
from bayesbox.tally.book import Book
from bayesbox.tally.count import count

if TYPE_CHECKING:
    from bayesbox.classifier.case import RowCase
    from bayesbox.classifier.hints import Hint
    from bayesbox.classifier.train import CountedBook
    from bayesbox.explain.evidence import Explanation
    from bayesbox.file.reader import Json

R = TypeVar("R", bound=PriorRules)
D = TypeVar("D")
M = TypeVar("M", bound=TableModel)

MOST_NAMED, SOME_NAMED = 30, 12  # columns named in the title of a row: all up to the first number, else the second


class TableClassifier(Classifier[R, D, M]):
    """A classifier of rows with named columns; `declared` are the declared types of columns."""

    calibrates_by_default = True
    groups_levels: ClassVar[bool] = False
    """Whether it supports categories with grouped levels."""
    rules_by_column: ClassVar[bool] = False
    """Whether columns may have different smoothing rules."""
    counts_any_time: ClassVar[bool] = True
    """Whether rows can be added at any time, so that rows learned one by one may be buffered."""
    core_finds_unseen: ClassVar[bool] = False
    """Whether the core finds unseen numeric levels while it predicts, so that they are not counted before."""
    derived_prefix: ClassVar[str] = ""
    """The prefixes of the model file members with derived parts; empty if there are none."""

    def __init__(
        self,
        rules: R,
        declared: Mapping[Any, object] | None = None,
        one_hot: OneHot | None = None,
        *,
        target: str | None = None,
        calibrate: str | None = None,
    ) -> None:
        super().__init__(rules, target=target, calibrate=calibrate)
        self.declared = declared
        self.one_hot = as_one_hot(one_hot)
        self.absent = "missing"  # how absent columns of new rows are handled
        self.ignore: str | None = None  # "auto": identifiers are ignored
        self.ignored: Mapping[str, str] = {}  # the identifiers found, each with the reason
        self._known: tuple[object, dict[str, KnownLevels]] | None = None  # cache: a model, its levels

    # -- what each kind defines --------------------------------------------------------------------------------------

    def explain(self, batch: Batch) -> Explanation:
        """The evidence of each column for each class; by default, from predictions with and without the column."""
        from bayesbox.explain.evidence import Explanation
        from bayesbox.explain.missing import terms_of_absence

        assert self.schema is not None
        names, log_prior = self.schema.used_columns, self.model.log_prior
        given = dict(zip(batch.names, batch.columns, strict=True))
        columns = {name: name for name in names if name in given}

        def answer(present: Columns) -> Doubles:
            some = {name: given[name] for name in present} or {names[0]: pa.nulls(batch.rows)}
            return self.plain_log_posterior(Batch(tuple(some), tuple(some.values()), batch.rows, batch.first_row))

        return Explanation(self.model.labels, names, log_prior, terms_of_absence(answer, columns, names, log_prior))

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each training row under the model of all other rows, which is made for each row."""
        self.require_counts("forget")
        rows = LabelledRows(batch, labels)
        found = np.zeros((batch.rows, len(self.classes)))
        for place in range(batch.rows):
            one = rows.take(np.array([place]))
            other = minus_rows(self, [one])
            where = [self.classes.index(name) for name in other.classes]
            found[place, where] = functions.exp(other.plain_log_posterior(one.batch))[0]
        return found

    def slow_leave_one_out(self) -> bool:
        return type(self).leave_one_out is TableClassifier.leave_one_out

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        """The tallies of these rows; by default, each column separately."""
        return count(columns, labels, schema, **options)

    @classmethod
    def density_of_numbers(cls, rules: object) -> str:
        """The default density of numeric columns, which determines whether distinct values are counted.

        Naive Bayes takes it from its options; other kinds count moments.
        """
        return rules.numeric if isinstance(rules, NaiveOptions) else "gaussian"

    @classmethod
    def from_options(
        cls,
        parameter: str,
        options: Mapping[str, Any],
        declared: Mapping[Any, object] | None = None,
        one_hot: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        rules = cls.rules_from_options(parameter, options)
        return cls(rules, declared, one_hot, calibrate=calibration_of_command(options.get("calibrate")))

    # -- the options and the model file ----------------------------------------------------------------------------

    @classmethod
    def rules_from_options(cls, parameter: str, given: Mapping[str, Any]) -> Any:
        """The rules from command options and from the parameter after the colon of the model's name."""
        return options_from_command(cls.options_type, cls.title, parameter, given)

    def derived_to_json(self) -> Json | None:
        """The derived parts as JSON for the model file; None if there are none."""
        return None

    @classmethod
    def derived_from_json(cls, written: Json | None) -> D | None:
        """The derived parts from the JSON of a model file; ValueError if they are not valid."""
        if written is not None:
            raise ValueError(f"{cls.title} derives nothing")
        return None

    def derived_members(self) -> dict[str, bytes]:
        """The derived parts that are too large for JSON, as members of the model file."""
        return {}

    @classmethod
    def derived_from_members(cls, written: Json | None, members: dict[str, bytes]) -> D | None:  # noqa: ARG003
        """Like `derived_from_json`, with these members."""
        return cls.derived_from_json(written)

    def require_consistent(self) -> None:
        """Raise ValueError if the derived parts do not match the schema and the tallies, as in a forged file."""

    def given_members(self) -> dict[str, bytes]:
        """The file members of a model made from given tables."""
        raise ValueError(f"{self.title} cannot be made from given tables")

    @classmethod
    def from_given_members(cls, members: dict[str, bytes], schema: Schema, label_type: str) -> Self:  # noqa: ARG003
        """The classifier from such members; ValueError if they are not valid."""
        raise ValueError(f"{cls.title} cannot be made from given tables")

    # -- columns -------------------------------------------------------------------------------------------------

    def schema_of(self, columns: Columns, *, where: str | None = None) -> Schema:
        if self.schema is None:
            for group, flags in self.one_hot.items():
                if group not in columns:
                    raise UnknownColumn(flags[0], available=columns, where=where)
            numeric = self.density_of_numbers(self.rules)
            return Schema.of(columns, self.declared, where=where, numeric=numeric, ignores_constants=True)
        return self.schema.extended(columns, where=where)

    def named(self, batch: Batch, *, where: str | None = None) -> dict[str, Column]:
        """The columns of a batch by name, with one-hot groups combined."""
        columns = super().named(batch, where=where)
        if self.one_hot:
            columns = join_one_hot(columns, self.one_hot, where=where)
        for name, kind in self._translating(tuple(columns), where).items():
            if name in columns:
                columns[name] = kind.read(columns[name], name=name, where=where, first_row=batch.first_row)
        return columns

    def _translating(self, names: tuple[str, ...], where: str | None) -> Mapping[str, Kind]:
        """The columns whose texts are parsed by their types."""
        if self.schema is not None:
            return self.schema.translating
        kinds = declared_kinds(self.declared, names, where=where)
        return {name: kind for name, kind in kinds.items() if kind.translates and not kind.has_parts}

    def columns_of(self, batch: Batch, *, where: str | None = None) -> Columns:
        """The columns of a batch that are used, by name; an absent column is missing in every row."""
        assert self.schema is not None
        present = self.schema.expanded(self.named(batch, where=where), where=where, first_row=batch.first_row)
        used = {name: present[name] for name in self.schema.used if name in present}
        if not used and self.schema.used:
            raise none_there(self.schema.used, batch.names, where=where)
        return used

    def shown_columns(self, batch: Batch) -> Columns:
        """The columns of a batch as given: dates as text, not in seconds."""
        return self.named(batch)

    def as_counted(self, rows: LabelledRows) -> LabelledRows:
        """The rows with their columns converted for counting."""
        columns, batch = self.columns_of(rows.batch), rows.batch
        return replace(rows, batch=Batch(tuple(columns), tuple(columns.values()), batch.rows, batch.first_row))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the input columns: the flags of one-hot groups, dates without their parts."""
        names = self.schema.columns if self.schema else ()
        if not self.one_hot:
            return names
        return tuple(flag for name in names for flag in self.one_hot.get(name, (name,)))

    def absent_columns(self, names: Sequence[str], *, where: str | None) -> list[str]:
        """The columns of the model that are absent, each with the nearest name; an error if all are absent."""
        assert self.schema is not None
        used = [flag for name in self.schema.used_columns for flag in self.one_hot.get(name, (name,))]
        there = frozenset(names)
        absent = [name for name in used if name not in there]
        if used and len(absent) == len(used):
            raise none_there(used, names, where=where)
        silent = self.model.ignored
        return [name for name in absent if name not in silent and name not in self.ignored]

    def known_levels(self) -> dict[str, KnownLevels]:
        """The known levels of each column."""
        model = self.model
        if self._known is None or self._known[0] is not model:
            self._known = model, known_levels(self, here=not self.core_finds_unseen)
        return self._known[1]

    def number_flags(self) -> Collection[str]:
        """The flags given as numbers, in which any other number is an unseen level."""
        return ()

    def names_values(self) -> bool:
        """Whether the smoothing rule of all columns names values."""
        rule = getattr(self.rules, "smoothing", None)
        return rule is not None and bool(rule.listed)

    def listed_levels(self, name: str) -> tuple[str, ...]:
        """The levels of a column that its smoothing rule names."""
        from bayesbox.rule.naive import rule_of_column

        assert self.schema is not None
        rule = rule_of_column(self.schema, self.rules, name) if hasattr(self.rules, "smoothing") else None
        return () if rule is None or not self.schema.kinds[name].lists_levels else rule.listed

    @property
    def unseen(self) -> str:
        """How unseen levels are handled: they are ignored in given tables and in kinds without the option."""
        return "ignore" if self.fixed else getattr(self.rules, "unseen", "ignore")

    def model_schema(self) -> Schema:
        """The schema of the model, with identifiers ignored if requested."""
        assert self.schema is not None
        return self.schema.without(self.ignored)

    def kept_columns(self, columns: Columns) -> dict[str, Column]:
        """The columns with text encoded once for all folds."""
        return {name: _encoded(column) for name, column in columns.items()}

    # -- learning ------------------------------------------------------------------------------------------------

    def accept(self, schema: Schema, book: Book) -> None:
        for name, kind in schema.those(lambda kind: kind.group is not None or kind.smoothing is not None).items():
            if kind.group is not None and not self.groups_levels:
                raise BadOption(f"{self.title} cannot group levels", found=f"group={kind.group} of column `{name}`")
            if kind.smoothing is not None and not self.rules_by_column:
                raise BadOption(
                    f"{self.title} uses one smoothing rule for all columns", found=f"smoothing of column `{name}`"
                )
        super().accept(schema, book)

    def take_in(self, schema: Schema, book: Book, counted: CountedBook) -> None:
        """Replace schema and book, and look for identifiers if rows were added rather than forgotten."""
        fewer = book.n.sum() < self.book.n.sum()
        super().take_in(schema, book, counted)
        if self.ignore is not None:
            self.ignored = {**(self.ignored if fewer else {}), **_identifiers(schema, book)}

    def without_identifiers(self, schema: Schema, book: Book) -> Schema:
        """The schema of the columns that may be used to derive something, after all rows were counted."""
        if self.ignore is not None:
            self.ignored = _identifiers(schema, book)
        return schema.without(self.ignored)

    def merged(self, other: AnyClassifier) -> Self:
        result = super().merged(other)
        if self.ignore is not None and isinstance(other, TableClassifier):
            assert result.schema is not None
            result.ignored = {**self.ignored, **other.ignored, **_identifiers(result.schema, result.book)}
        return result

    def unfitted_clone(self) -> Self:
        return super().unfitted_clone().changed(ignored={})

    def counts_like(self, other: AnyClassifier) -> bool:
        if not super().counts_like(other) or not isinstance(other, TableClassifier):
            return False
        return bool((self.one_hot, self.target_cuts) == (other.one_hot, other.target_cuts))

    def hints(self) -> list[Hint]:
        from bayesbox.classifier.hints import hints

        return [] if self.fixed or self.schema is None else hints(self.model_schema(), self.book, self.ignored)

    # -- where rows come from --------------------------------------------------------------------------------------

    def open_rows(
        self,
        data: Any,
        *,
        target: str | None = None,
        weight: str | None = None,
        text: str | None = None,
        label: str | None = None,
        learning: bool = True,
        reading: ReadingOptions = AS_IT_IS,
    ) -> Opened[Self]:
        """Open the rows of a table. Before training, the types of columns are declared or detected."""
        if text is not None:
            raise BadOption(
                "text= names the text column of a TextClassifier, but this is a model of tables", found=text
            )
        if label is not None:
            raise BadOption("class= applies to documents: the classes of a table are in its target column", found=label)
        target = target or self.target
        if target is None:
            raise BadOption("no target column", remedy="Pass target=")
        from bayesbox.classifier.train import source_of

        if self.schema is None:
            source = source_of(data, target, self.declared, weight=weight, threads=reading.threads, **reading.of_file)
            if reading.target_bins is None:
                return Opened(self, source, target)
            from bayesbox.classifier.target.bins import BinnedTarget, bin_cuts

            cuts = bin_cuts(source, target, reading.target_bins)
            return Opened(self.changed(target_cuts=cuts), BinnedTarget(source, target, cuts), target)
        from bayesbox.source.files.open import open_source

        if is_path(data):
            columns = self.columns_read(target=target, weight=weight, learning=learning)
            source = open_source(data, **columns, threads=reading.threads, **reading.of_file)
        else:
            source = source_of(data, target, **reading.of_file)
        if self.target_cuts is not None:
            from bayesbox.classifier.target.bins import BinnedTarget

            source = BinnedTarget(source, target, self.target_cuts)
        return Opened(self, source, target)

    def open_unlabelled(
        self, data: Any, *, keep: Sequence[str] = (), reading: ReadingOptions = AS_IT_IS
    ) -> Opened[Self]:
        from bayesbox.source.files.open import open_source

        columns = self.columns_read(keep=keep)
        return Opened(self, open_source(data, **columns, threads=reading.threads, **reading.of_file))

    def columns_read(
        self,
        *,
        keep: Sequence[str] = (),
        target: str | None = None,
        weight: str | None = None,
        learning: bool = False,
    ) -> dict[str, Any]:
        """How to read a file so that its columns have the types of the model: which as `text` and which as `number`;
        `only` the columns of the model, those to keep, the `target` and the `weight` are read.

        A column that is only kept is read as text, so that 007 stays 007. In training, a flag is detected from its
        values, and any other value is an error; in prediction, it is read as text, and any other value is unseen.
        """
        assert self.schema is not None
        kinds = {name: self.schema.kinds[name] for name in self.schema.columns}
        declared = self.schema.declared
        number = {name for name, kind in kinds.items() if kind.is_number and not kind.translates}
        text = {name for name, kind in kinds.items() if kind.reads_text or kind.translates}
        text |= {name for name, kind in kinds.items() if kind.is_flag and (name in declared or not learning)}
        used = set(self.feature_names) - {name for name, kind in kinds.items() if not kind.is_used}
        text |= {name for name in keep if name not in used}
        text |= {name for name in (target or self.target,) if name is not None}
        if weight is not None:
            number.add(weight)
        every = EVERY in keep
        only = None if every else frozenset(used | text | number)
        columns = {"text": frozenset(text), "number": frozenset(number), "only": only, "as_text": every}
        return {**columns, "finite": True, "weight": weight}

    def one_row(self, values: Mapping[str, str], *, where: str | None = None) -> Batch:
        from bayesbox.classifier.case import batch_of_values

        return batch_of_values(self, values, where=where)

    # -- answers -------------------------------------------------------------------------------------------------

    def case(self, batch: Batch, *, against: str | None = None) -> RowCase:
        from bayesbox.classifier.case import RowCase

        return RowCase.of(self, batch, against=against)

    def case_title(self, batch: Batch) -> str:
        from bayesbox.classifier.case import value_text
        from bayesbox.classifier.report.strongest import cut

        values = {name: value_text(column) for name, column in self.shown_columns(batch).items()}
        listed = [f"{name}={cut(value)}" for name, value in values.items() if value is not None]
        more = f" and {len(listed) - SOME_NAMED:,} more columns" if len(listed) > MOST_NAMED else ""
        given = ", ".join(listed[:SOME_NAMED] if more else listed) + more
        return f"{self.title}: {self.target or 'class'}, given {given or 'nothing'}"

    def explained_texts(self, batch: Batch, best: AnyArray, against: AnyArray, number: int) -> pa.Array:
        from bayesbox.classifier.report.strongest import strongest_columns

        return strongest_columns(self, batch, best, against, number)


def _identifiers(schema: Schema, book: Book) -> dict[str, str]:
    from bayesbox.classifier.hints import identifiers

    return identifiers(schema, book)


def _encoded(column: Column) -> Column:
    if isinstance(column, (np.ndarray, CountMatrix)) or not kind_of(column, name="").lists_levels:
        return column
    return as_dictionary(column)


AnyTableClassifier = TableClassifier[Any, Any, Any]
"""A table classifier of any kind."""
