"""The base of all classifiers: schema and book, training and forgetting, and predictions.

A kind defines what it counts (`count`), the model it makes from the counts (`make_model`), and the joint
log-probability of rows under that model (`joint_log_prob`). Everything else is derived from these and can be
overridden.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa

from bayesbox.classifier.answer.methods import AnswersQuestions
from bayesbox.classifier.calibration.calibrates import Calibrates
from bayesbox.classifier.contracts import ClassModel, Evidence, PriorRules
from bayesbox.classifier.one_row.compiling import AnswersRows
from bayesbox.classifier.opened import AS_IT_IS, Opened, ReadingOptions
from bayesbox.classifier.report.tables import Learns
from bayesbox.classifier.rows import LabelledRows, check_merge, minus_rows, refit_on
from bayesbox.dist import functions, posterior
from bayesbox.dist.base import Columns, Doubles
from bayesbox.errors import BadData, BadOption, BadWeight, CannotForget, CannotMerge, NoCounts
from bayesbox.rule.priors import Prior, given_prior
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.columns import Column, named_views
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import label_order
from bayesbox.schema.options import Options
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch, Source
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.classifier.case import Case
    from bayesbox.classifier.hints import Hint
    from bayesbox.classifier.report.size import ModelSize
    from bayesbox.classifier.train import CountedBook, RowCounter
    from bayesbox.explain.class_work import ClassWork


R = TypeVar("R", bound=PriorRules)
D = TypeVar("D")
M = TypeVar("M", bound=ClassModel)


class Classifier(AnswersRows, Calibrates, Learns, AnswersQuestions, ABC, Generic[R, D, M]):
    """A classifier: schema, book and rules; the model follows from them and is made on first use.

    `rules` define how counts become probabilities. `derived` holds what was learned from rows but is not a tally, such
    as cut points; it determines what is counted, and it is refitted rather than subtracted.
    """

    kind: ClassVar[str]
    """The name of the kind in the model file."""
    title: ClassVar[str]
    """The name of the kind in messages."""
    options_type: ClassVar[type[Options]]
    """The options dataclass: the parameters of the estimator, the rules in the file and the options of the command."""
    unit: ClassVar[str] = "row"  # what messages call an example: row or document
    needs_target: ClassVar[bool] = True  # whether the classes are always in a column, not in file names
    looks_for_dependence: ClassVar[bool] = False
    """Whether dependent columns are harmful, so that `train` looks for them in a sample of the rows."""
    second_pass_rows: ClassVar[int | None] = None  # the most rows kept for a second pass; None for all

    def __init__(self, rules: R, *, target: str | None = None, calibrate: str | None = None) -> None:
        self.rules = rules
        self.target = target  # the name of the target column, if it has one
        self.schema: Schema | None = None
        self.book = Book.empty()
        self.derived: D | None = None
        self._model: M | None = None
        self.fixed = False  # made from given tables, without counts
        self.init_calibration(calibrate)
        self.target_cuts: tuple[float, ...] | None = None  # the cut points of a binned numeric target
        self.redacted: int | None = None  # levels of fewer rows than this were pooled
        self.ledger = False  # whether a hash of the rows is kept beside the tallies

    # -- what each kind defines --------------------------------------------------------------------------------------

    @abstractmethod
    def schema_of(self, columns: Columns, *, where: str | None = None) -> Schema:
        """The schema after adding rows with these columns."""

    @abstractmethod
    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        """The tallies of these rows."""

    @abstractmethod
    def make_model(self, schema: Schema, book: Book) -> M:
        """The rules applied to the tallies."""

    @abstractmethod
    def joint_log_prob(self, batch: Batch) -> Doubles:
        """log P(class, x), rows x classes: -inf where impossible."""

    @abstractmethod
    def explain(self, batch: Batch) -> Evidence:
        """The evidence of each column or word for each class."""

    @abstractmethod
    def case(self, batch: Batch, *, against: str | None = None) -> Case:
        """The prediction for a batch of one row with its evidence; `against` is by default the runner-up."""

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        """The calculation before calibration: by default one factor per column."""
        from bayesbox.explain.work import prior_factor, work_of_terms

        prior, answer = prior_factor(self.model, self.book, self.rules), self.plain_log_posterior(batch)[0]
        return work_of_terms(self.case_title(batch), prior, self.model.classes, self.explain(batch), answer, against)

    def case_title(self, batch: Batch) -> str:  # noqa: ARG002
        """The title of a calculation: the model and the row."""
        return self.title

    @abstractmethod
    def explained_texts(self, batch: Batch, best: AnyArray, against: AnyArray, number: int) -> pa.Array:
        """For each row, the strongest evidence for its class `best` over another as text: `age=34 +1.39; ...`."""

    @abstractmethod
    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each training row under the model of all other rows; derived parts are not refitted."""

    @abstractmethod
    def open_rows(
        self,
        data: object,
        *,
        target: str | None = None,
        weight: str | None = None,
        text: str | None = None,
        label: str | None = None,
        learning: bool = True,
        reading: ReadingOptions = AS_IT_IS,
    ) -> Opened[Self]:
        """Labelled rows for training or evaluation, read as this classifier needs them.

        `text` is the column of documents, `label` the class of all documents.
        """

    @abstractmethod
    def open_unlabelled(
        self, data: Any, *, keep: Sequence[str] = (), reading: ReadingOptions = AS_IT_IS
    ) -> Opened[Self]:
        """Rows to predict, with the columns to keep."""

    @abstractmethod
    def one_row(self, values: Mapping[str, str], *, where: str | None = None) -> Batch:
        """A batch of one row of texts, parsed by the type of each column; an empty text is missing."""

    @abstractmethod
    def absent_columns(self, names: Sequence[str], *, where: str | None) -> list[str]:
        """The columns of the model that are not among these names; an error if they are required."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The names of the input columns."""

    @classmethod
    @abstractmethod
    def from_options(
        cls,
        parameter: str,
        options: Mapping[str, Any],
        declared: Mapping[Any, object] | None = None,
        one_hot: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """A classifier from options of the command and the parameter after the colon of the model's name."""

    # -- what some kinds define --------------------------------------------------------------------------------------

    def derive(self, schema: Schema, book: Book) -> bool:  # noqa: ARG002  most kinds derive nothing
        """Set `derived` from a first count of all rows; returns True if the rows must be counted again."""
        return False

    def has_second_pass(self) -> bool:
        """Whether something is learned in a second pass over the rows, after counting."""
        return False

    def unfinished(self) -> bool:
        """Whether training on rows now needs a second pass over them."""
        return self.schema is None and (self.has_second_pass() or self.calibrate is not None)

    def recorded(self, source: Source, target: str) -> Source:  # noqa: ARG002
        """The source, or a `Recorded` source that keeps rows for the second pass, so that it can be a pipe."""
        return source

    def report_progress(self, report: Callable[[float, float | None, str], object]) -> None:
        """Set the callback for progress beyond counting: share done, seconds left, and description."""

    def refine(self, parts: Sequence[LabelledRows]) -> None:
        """Set `derived` from the counted rows, in a second pass."""
        raise NotImplementedError(f"{self.title} derives nothing from rows")  # only if has_second_pass()

    def needs_refit(self) -> bool:
        """Whether subtracting rows leaves something that depends on them, so that folds must be refitted."""
        return self.derived is not None or self.calibrate is not None

    def irreversible_parts(self) -> tuple[str, ...]:
        """Descriptions of what was learned from the rows but is not a tally: forgetting does not change it."""
        stale = ", stale: refit it with `bayes calibrate MODEL DATA`" if self.stale else ""
        return () if self.calibrated is None else (f"the calibration ({self.calibrated.name}){stale}",)

    def keeps_rows_by(self) -> str | None:
        """What the model stores about single rows beyond counts and sums per column, in words; None if nothing."""
        return None if self.book.joint is None else "it counts columns together, so that rare combinations stay"

    def kept_points(self) -> int:
        """The number of training rows that the model stores as points."""
        return 0

    def size(self) -> ModelSize | None:
        """The number of parameters; None if the model combines several models."""
        return None

    def notes(self) -> tuple[str, ...]:
        """Notes on how the model was made."""
        return ()

    def hints(self) -> list[Hint]:
        """Suspicious facts about the training rows."""
        return []

    def named(self, batch: Batch, *, where: str | None = None) -> dict[str, Column]:  # noqa: ARG002
        """The columns of a batch by name."""
        return named_views(batch.names, batch.columns)

    def kept_columns(self, columns: Columns) -> dict[str, Column]:
        """These columns in the form best suited to be counted and predicted repeatedly."""
        return dict(columns)

    def counter(
        self,
        where: str | None,
        *,
        streams: bool = False,  # noqa: ARG002  each batch is counted by itself
        remote: bool = False,
        forget: bool = False,  # noqa: ARG002
    ) -> RowCounter:
        """The counter of batches of rows; `streams` if there are many, `remote` if it is sent to other machines."""
        from bayesbox.classifier.train import RowCounter

        return RowCounter(self.with_empty_counts() if remote else self, where)

    # -- learning ------------------------------------------------------------------------------------------------

    def learn(self, batch: Batch, labels: Encoded, *, weights: object = None, where: str | None = None) -> None:
        """Count these rows. If they cannot be counted, nothing changes."""
        self.learn_all([LabelledRows(batch, labels, weights)], where=where)

    def learn_all(self, parts: Sequence[LabelledRows], *, where: str | None = None) -> None:
        """Count the rows of several batches together. If they cannot be counted, nothing changes."""
        from bayesbox.classifier.train import RowsInMemory, count_into

        count_into(self, RowsInMemory(parts, where))

    def forget(self, batch: Batch, labels: Encoded, *, weights: object = None, where: str | None = None) -> None:
        """Subtract these rows exactly. If they were never learned, nothing changes."""
        from bayesbox.classifier.train import RowsInMemory, count_into

        if self.schema is None:
            self.require_counts("forget")
            raise CannotForget("the model is not trained yet")
        count_into(self, RowsInMemory([LabelledRows(batch, labels, weights)], where), forget=True)

    def accept(self, schema: Schema, book: Book) -> None:
        """Replace the schema and the book."""
        with np.errstate(over="ignore"):
            if not np.isfinite(book.class_counts.to_doubles().sum()):
                raise BadWeight(
                    "the weights of the rows add up to more than a double can hold", remedy="Scale them down"
                )
        if self.schema is not None and self.learned_at is None and self.learned_beyond_counts():
            self.learned_at = self.book.digest()
        self.schema, self.book, self._model = schema, book, None
        if book.classes:
            self.ledger = book.ledger is not None
        self.drop_calibration_of_other_classes()

    def schema_with(self, more: Schema) -> Schema:
        """The schema merged with that of more rows."""
        return more if self.schema is None else self.schema.merged(more)

    def take_in(self, schema: Schema, book: Book, counted: CountedBook) -> None:  # noqa: ARG002  most count all there is
        """Replace the schema and the book after rows were added; `counted` are the tallies of the new rows."""
        self.accept(schema, book)

    def require_possible(self, book: Book) -> None:
        """Raise an error if the tallies that remain after a forget cannot be those of any rows."""

    def declare(self, classes: tuple[str, ...]) -> None:
        """Declare these classes, even if no row has them."""
        assert self.schema is not None
        self.accept(self.schema.with_classes(classes), self.book)

    def learned_from(self, target: str) -> None:
        """Store the name of the target column."""
        self.target = target

    def require_counts(self, what: str) -> None:
        """Raise an error if the model has no counts, so that it cannot learn, forget or merge."""
        if not self.fixed:
            return
        error = CannotMerge if what == "merge" else NoCounts
        raise error(
            f"this model was made from given tables, so it cannot {what}: it has no counts",
            remedy="Train a model on rows",
        )

    def merged(self, other: AnyClassifier) -> Self:
        """The merged classifier, equal to one trained on the rows of both."""
        self.require_counts("merge")
        other.require_counts("merge")
        check_merge(self, other)
        assert self.schema is not None
        assert other.schema is not None
        kept = self if self.calibrated is not None else other
        result = self.changed(
            redacted=max(self.redacted or 0, other.redacted or 0) or None,
            calibrated=kept.calibrated,
            calibrate=kept.calibrate,
        )
        result.accept(self.schema.merged(other.schema), self.book + other.book)
        return result

    def derived_like(self, other: AnyClassifier) -> bool:
        """Whether the derived parts of another classifier of this kind make it count the same."""
        return bool(self.derived == other.derived)

    def counts_like(self, other: AnyClassifier) -> bool:
        """Whether another classifier of this kind counts by the same rules."""
        return bool(self.rules == other.rules)

    def without(self, rows: Sequence[LabelledRows], others: Callable[[], list[LabelledRows]]) -> Self:
        """The classifier without some rows: by subtraction, or refitted on the `others`."""
        if self.needs_refit():
            return refit_on(self, others())
        other = minus_rows(self, rows)
        if getattr(self.rules, "prior_smoothing", None) is not None:  # a class without rows keeps its share
            assert other.schema is not None
            other.accept(other.schema.with_classes(self.model.classes), other.book)
        return other

    # -- modified copies ---------------------------------------------------------------------------------------------

    def changed(self, **attributes: Any) -> Self:
        """A copy with other values of some attributes; its model is rebuilt."""
        result = copy.copy(self)
        model = self._model if self.fixed else None  # a model made from tables cannot be rebuilt from counts
        for name, value in {"_model": model, **attributes}.items():
            setattr(result, name, value)
        return result

    def with_empty_counts(self) -> Self:
        """A copy with the same schema, rules and derived parts, and empty counts."""
        return self.changed(calibrate=None, calibrated=None, learned_at=None, book=Book.empty(self.book.label_type))

    def unfitted_clone(self) -> Self:
        """An unfitted copy with the same rules and declarations."""
        return self.changed(schema=None, book=Book.empty(), derived=None, calibrated=None, chosen=None, learned_at=None)

    def with_rules(self, rules: R) -> Self:
        """A copy with the same counts and other rules."""
        return self.changed(rules=rules)

    def with_prior(self, prior: Prior) -> Self:
        """A copy with another class prior and the same likelihoods."""
        given_prior(prior, self.classes)  # raises an error if the prior does not fit
        return self.with_rules(replace(self.rules, prior=dict(prior) if isinstance(prior, Mapping) else prior))

    def with_ledger(self, ledger: bool) -> Self:
        """A copy that keeps a ledger (a hash of its rows), or does not."""
        if ledger and self.book.classes and self.book.ledger is None:
            raise BadOption("a ledger must be kept from the first row", remedy="Train again with ledger=True")
        book = self.book if ledger else self.book.with_ledger(None)
        return self.changed(ledger=ledger, book=book, _model=self._model)

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def model(self) -> M:
        """The model: the rules applied to the tallies."""
        if self._model is None:
            if not self.classes:
                raise self.nothing_learned()
            self._model = self.make_model(self.model_schema(), self.book)
        return self._model

    def model_schema(self) -> Schema:
        """The schema of the model."""
        return self.schema or Schema({})

    def check(self) -> None:
        """Raise an error if no model can be made from the prior, the rules and the counts."""
        assert self.model is not None

    def nothing_learned(self) -> BadData:
        """The error if there are no classes."""
        return BadData(
            "all rows have weight 0, so there is nothing to predict from",
            remedy="Train on rows with a label and a positive weight",
        )

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as texts, including declared ones."""
        declared = self.schema.classes if self.schema else ()
        return tuple(label_order(list({*self.book.classes, *declared}), self.book.label_type))

    # -- answers -------------------------------------------------------------------------------------------------

    def predict(self, batch: Batch) -> AnyArray:
        """The most probable label of each row."""
        labels: AnyArray = self.model.labels[np.argmax(self.posterior(batch), axis=1)]
        return labels

    def posterior(self, batch: Batch) -> Doubles:
        """P(class | x), rows x classes."""
        return functions.exp(self.log_posterior(batch))

    def joint_of_rows(self, batch: Batch) -> Doubles:
        """log P(class, x), rows x classes, also for a kind that returns only the prior if there are no columns."""
        joint = self.joint_log_prob(batch)
        return np.tile(joint, (batch.rows, 1)) if joint.ndim == 1 else joint

    def plain_log_posterior(self, batch: Batch) -> Doubles:
        """log P(class | x) before calibration; a row impossible in every class gets the prior, with a warning."""
        return posterior.normalised_log(self.joint_of_rows(batch), self.model.log_prior)

    def work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        """The calculation for a batch of one row step by step, calibrated if the model is."""
        work = self.plain_work(batch, against=against)
        if self.calibrated is None:
            return work
        shares = self.posterior(batch)[0]
        return work.calibrated(self.calibrated.name, shares.tolist(), self.model.classes[int(shares.argmax())])

    def log_density(self, batch: Batch) -> Doubles:
        """log P(x), one value per row."""
        return posterior.log_sum(self.joint_of_rows(batch))


AnyClassifier = Classifier[Any, Any, Any]
"""A classifier of whatever kind."""
