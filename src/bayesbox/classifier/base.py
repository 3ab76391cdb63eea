"""What every classifier of tables does alike: schema and book, learning and forgetting, and the answers.

A classifier differs from another in what it counts of the rows (`count`), in the model it makes of the counts
(`make_model`), and in the joint log-probability of rows under that model (`joint_log_prob`). All else follows.
"""

from __future__ import annotations

import copy
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.calibrated import Calibrated, calibrated
from bayesbox.classifier.hints import Hint, hints
from bayesbox.classifier.options import options_from_command
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.size import ModelSize
from bayesbox.dist import posterior
from bayesbox.dist.base import Columns, Doubles
from bayesbox.errors import (
    BadData,
    BadOption,
    BadWeight,
    CannotForget,
    CannotMerge,
    LostCalibration,
    NoCounts,
    UnknownColumn,
)
from bayesbox.explain.evidence import Explanation
from bayesbox.rule.priors import given_prior
from bayesbox.schema.columns import as_view
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import label_order
from bayesbox.schema.one_hot import Fold, fold_of, folded
from bayesbox.schema.options import Options
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.tally.book import Book
from bayesbox.tally.count import count


class Classifier(ABC):
    """Schema, book and rules; the model follows from them and is made when it is first needed.

    `rules` is a frozen dataclass that holds a `prior` besides what the kind of model needs. `derived` holds what was
    learned from rows and is no tally, such as cut points; it decides what is counted, and is relearned, not undone.
    """

    kind: ClassVar[str]
    """Its name in the model file."""
    title: ClassVar[str]
    """What people call it."""
    options_type: ClassVar[type[Options]]
    """Its options: the parameters of the estimator, the rules in the file and the options of the command."""
    groups_levels: ClassVar[bool] = False
    """Whether it takes categories whose levels are grouped."""
    derived_prefix: ClassVar[str] = ""
    """How the names of the members begin in which the model file holds what was derived; none where it needs none."""

    def __init__(self, rules: Any, declared: Mapping[Any, object] | None = None, fold: Fold | None = None) -> None:
        self.rules = rules
        self.declared = declared
        self.fold = fold_of(fold)
        self.target: str | None = None  # the name of the column that holds the labels, where they had one
        self.schema: Schema | None = None
        self.book = Book.empty()
        self.derived: Any = None
        self._model: Any = None
        self.fixed = False  # made of given tables: there are no counts behind it
        self.calibrate: str | None = None  # the kind of calibration to learn with the first rows
        self.calibrated: Calibrated | None = None

    # -- what a kind of model brings -----------------------------------------------------------------------------

    @abstractmethod
    def make_model(self, schema: Schema, book: Book) -> Any:
        """The rules applied to the tallies: data with `classes`, `labels` and `log_prior` at least."""

    @abstractmethod
    def joint_log_prob(self, batch: Batch) -> Doubles:
        """log P(class, x), rows x classes: -inf where impossible."""

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        """What is counted of these rows: here each column by itself."""
        return count(columns, labels, schema, **options)

    def derive(self, schema: Schema, book: Book) -> bool:  # noqa: ARG002  most kinds derive nothing
        """Set `derived` from a first count of all rows; True asks for the rows again, to be counted by it."""
        return False

    @classmethod
    def rules_from_options(cls, parameter: str, given: Mapping[str, Any]) -> Any:
        """The rules of options as the command has them, and of what follows the name of the model after a colon."""
        return options_from_command(cls.options_type, cls.title, parameter, given)

    def derived_to_json(self) -> dict[str, Any] | None:
        """What was derived as the model file says it; None where nothing is."""
        return None

    @classmethod
    def derived_from_json(cls, written: dict[str, Any] | None) -> Any:
        """What the model file says was derived; ValueError where that cannot be."""
        if written is not None:
            raise ValueError(f"{cls.title} derives nothing")

    def derived_members(self) -> dict[str, bytes]:
        """What was derived and is too large for the document, as members of the model file."""
        return {}

    @classmethod
    def derived_from_members(cls, written: dict[str, Any] | None, members: dict[str, bytes]) -> Any:  # noqa: ARG003
        """The same as `derived_from_json` with such members."""
        return cls.derived_from_json(written)

    def given_members(self) -> dict[str, bytes]:
        """The members of a model that is made of given tables."""
        raise ValueError(f"no {self.title} is made of given tables")

    @classmethod
    def from_given_members(cls, members: dict[str, bytes], schema: Schema, label_type: str) -> Self:  # noqa: ARG003
        """The classifier of such members; ValueError where there is none."""
        raise ValueError(f"no {cls.title} is made of given tables")

    def has_second_pass(self) -> bool:
        """Whether something is derived from the rows themselves, once they are counted."""
        return False

    def refine(self, parts: Sequence[LabelledRows]) -> None:
        """Set `derived` from the rows that were counted."""
        raise NotImplementedError(f"{self.title} derives nothing from rows")  # refines() says so

    def needs_refit(self) -> bool:
        """Whether taking rows out of the tallies leaves something as they made it, so that folds must learn anew."""
        return self.derived is not None or self.calibrate is not None

    def irreversible_parts(self) -> tuple[str, ...]:
        """What was learned of the rows and is no tally, in words: taking rows out leaves it as it is."""
        return () if self.calibrated is None else (f"the calibration ({self.calibrated.calibration.kind})",)

    def size(self) -> ModelSize | None:
        """How many numbers the model is made of; None where it is several models in one."""
        return None

    @abstractmethod
    def explain(self, batch: Batch) -> Explanation:
        """How much each column says for each class."""

    @abstractmethod
    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each learned row under the model of all the others, what is derived left as it is."""

    # -- learning ------------------------------------------------------------------------------------------------

    def schema_for(self, batch: Batch, *, where: str | None = None) -> Schema:
        """The schema after these rows."""
        return self.schema_of(self.named(batch, where=where), where=where)

    def schema_of(self, columns: Columns, *, where: str | None = None) -> Schema:
        """The schema after rows with these columns."""
        if self.schema is None:
            for group, flags in self.fold.items():
                if group not in columns:
                    raise UnknownColumn(flags[0], available=columns, where=where)
            return Schema.of(columns, self.declared, where=where, numeric=self.density_of_numbers(self.rules))
        return self.schema.extended(columns, where=where)

    @classmethod
    def density_of_numbers(cls, rules: Any) -> str:  # noqa: ARG003  most kinds count moments, whatever the rules
        """The density of the numbers that declare none: it decides whether their values are counted."""
        return "gaussian"

    def named(self, batch: Batch, *, where: str | None = None) -> dict[str, Any]:
        """The columns of a batch by name, 1-of-M groups folded."""
        columns = {name: as_view(column) for name, column in zip(batch.names, batch.columns, strict=True)}
        return folded(columns, self.fold, where=where) if self.fold else columns

    def tally(
        self, batch: Batch, labels: Encoded, schema: Schema, *, weights: Any = None, where: str | None = None
    ) -> Book:
        """The book of these rows alone."""
        if len(labels.codes) != batch.rows:
            raise BadData(f"{batch.rows} rows, but {len(labels.codes)} labels", where=where)
        columns = self.named(batch, where=where)
        return self.count(columns, labels, schema, weights=weights, where=where, first_row=batch.first_row)

    def learn(self, batch: Batch, labels: Encoded, *, weights: Any = None, where: str | None = None) -> None:
        """Add these rows. Where they cannot be counted, nothing changes."""
        self.learn_all([LabelledRows(batch, labels, weights)], where=where)

    def learn_all(self, parts: Sequence[LabelledRows], *, where: str | None = None) -> None:
        """Add the rows of several batches, as one. Where they cannot be counted, nothing changes."""
        self.require_counts("learn")
        schema = self.schema
        for part in parts:
            columns = self.named(part.batch, where=where)
            if schema is None:
                schema = Schema.of(columns, self.declared, where=where, numeric=self.density_of_numbers(self.rules))
            else:
                schema = schema.extended(columns, where=where)
        if schema is None:
            return
        first, before = self.schema is None, self.derived
        try:
            while True:
                book = Book.empty(self.book.label_type)
                for part in parts:
                    book += self.tally(part.batch, part.labels, schema, weights=part.weights, where=where)
                if not (first and self.derive(schema, book)):
                    break
        except BaseException:
            self.derived = before
            raise
        self.accept(schema, self.book + book)
        if first:
            self.finish(parts)

    def finish(self, parts: Sequence[LabelledRows]) -> None:
        """What is learned of the first rows beyond their counts."""
        if self.has_second_pass():
            self.refine(parts)
        if self.calibrate is not None:
            self.calibrated = calibrated(self, parts)

    def forget(self, batch: Batch, labels: Encoded, *, weights: Any = None, where: str | None = None) -> None:
        """Take these rows out again, exactly. Where they were never learned, nothing changes."""
        self.require_counts("forget")
        if self.schema is None:
            raise CannotForget("nothing was learned yet")
        schema = self.schema_for(batch, where=where)
        self.accept(schema, self.book - self.tally(batch, labels, schema, weights=weights, where=where))

    def accept(self, schema: Schema, book: Book) -> None:
        """Take this as what was learned."""
        for name, kind in schema.kinds.items():
            group = getattr(kind, "group", None)
            if group is not None and not self.groups_levels:
                raise BadOption(f"{self.title} takes levels as they are", found=f"group={group} of column `{name}`")
        with np.errstate(over="ignore"):
            if not np.isfinite(book.class_counts.to_doubles().sum()):
                raise BadWeight("the weights of all rows sum to more than a double holds", remedy="Scale them down")
        self.schema, self.book, self._model = schema, book, None
        if self.calibrated is not None and self.calibrated.classes != self.classes:
            self.calibrated = None
            warnings.warn(
                "the classes are others than those that were calibrated, so the calibration is gone: train again",
                LostCalibration,
                stacklevel=4,
            )

    def with_empty_counts(self) -> Self:
        """The same schema, rules and derived choices with nothing counted."""
        result = copy.copy(self)
        result.calibrate = result.calibrated = None
        result.book, result._model = Book.empty(self.book.label_type), None
        return result

    def unfitted_clone(self) -> Self:
        """The same rules and declarations, nothing known of any row."""
        result = copy.copy(self)
        result.schema, result.book, result.derived, result._model = None, Book.empty(), None, None
        result.calibrated = None
        return result

    def merged(self, other: Classifier) -> Self:
        """What learning the rows of both would give."""
        self.require_counts("merge")
        other.require_counts("merge")
        if self.kind != other.kind:
            raise CannotMerge("the two models are of different kinds", found=f"{self.title} and {other.title}")
        if self.rules != other.rules or self.fold != other.fold:
            raise CannotMerge("the two models have different rules", remedy="Give both the same parameters")
        if self.schema is None or other.schema is None:
            raise CannotMerge("one of the two models has learned nothing")
        if self.derived != other.derived:
            raise CannotMerge(
                "the two models derived different choices from their rows, so that they counted different things",
                remedy="Train one on the rows of both, or train the second by updating a copy of the first",
            )
        result = copy.copy(self)
        result.accept(self.schema.merged(other.schema), self.book + other.book)
        return result

    def require_counts(self, what: str) -> None:
        """Refuse to learn, forget or merge without counts."""
        if not self.fixed:
            return
        error = CannotMerge if what == "merge" else NoCounts
        raise error(
            f"this model was made of given tables, so it cannot {what}: there are no counts behind it",
            remedy="Fit a model to rows",
        )

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def model(self) -> Any:
        """The rules applied to the tallies."""
        if self._model is None:
            assert self.schema is not None
            if not self.classes:
                raise BadData(
                    "no row counts, so there is nothing to predict",
                    remedy="Learn rows that have a label and a weight above 0",
                )
            self._model = self.make_model(self.schema, self.book)
        return self._model

    @property
    def classes(self) -> tuple[str, ...]:
        """The texts of the classes, those that were declared included."""
        declared = self.schema.classes if self.schema else ()
        return tuple(label_order(list({*self.book.classes, *declared}), self.book.label_type))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns as rows bring them: folded groups stand for their flags."""
        names = self.schema.kinds if self.schema else ()
        return tuple(flag for name in names for flag in self.fold.get(name, (name,)))

    def with_prior(self, prior: Mapping[Any, float]) -> Self:
        """The same likelihoods with another base rate."""
        given_prior(prior, self.model.classes)  # refuses a prior that does not fit
        result = copy.copy(self)
        result.rules, result._model = replace(self.rules, prior=dict(prior)), None
        return result

    def hints(self) -> list[Hint]:
        """What looks wrong in the rows that were learned."""
        return [] if self.fixed or self.schema is None else hints(self.schema, self.book)

    # -- answers -------------------------------------------------------------------------------------------------

    def columns_of(self, batch: Batch, *, where: str | None = None) -> Columns:
        """The columns of a batch that take part, by name; a column that is absent is missing in every row."""
        assert self.schema is not None
        present = self.named(batch, where=where)
        used = {name: present[name] for name in self.schema.used if name in present}
        if not used and self.schema.used:
            raise UnknownColumn(self.schema.used[0], available=batch.names, where=where)
        return used

    def predict(self, batch: Batch) -> NDArray[Any]:
        """The most probable label of each row."""
        labels: NDArray[Any] = self.model.labels[np.argmax(self.posterior(batch), axis=1)]
        return labels

    def posterior(self, batch: Batch) -> Doubles:
        """P(class | x), rows x classes."""
        return np.exp(self.log_posterior(batch))

    def log_posterior(self, batch: Batch) -> Doubles:
        """log P(class | x), rows x classes, calibrated if the model is."""
        if self.calibrated is None:
            return self.plain_log_posterior(batch)
        return self.calibrated.log_posterior(self, batch)

    def plain_log_posterior(self, batch: Batch) -> Doubles:
        """log P(class | x) before calibration; a row that no class allows gets the prior, with a warning."""
        return posterior.normalised_log(self.joint_log_prob(batch), self.model.log_prior)

    def log_density(self, batch: Batch) -> Doubles:
        """log P(x), a value a row."""
        return posterior.log_sum(self.joint_log_prob(batch))
