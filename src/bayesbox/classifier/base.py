"""What every classifier does alike: schema and book, learning and forgetting, and the answers.

A classifier differs from another in what it counts of the rows (`count`), in the model it makes of the counts
(`make_model`), and in the joint log-probability of rows under that model (`joint_log_prob`). All else follows, and can
be overridden where a kind does it in another way.
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
from bayesbox.schema.columns import Column, as_view
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
    """Schema, book and rules; the model follows from them and is made when it is first needed.

    `rules` say how counts become probabilities. `derived` holds what was learned from rows and is not a tally, such as
    cut points; it decides what is counted, and is relearned, not undone.
    """

    kind: ClassVar[str]
    """Its name in the model file."""
    title: ClassVar[str]
    """What people call it."""
    options_type: ClassVar[type[Options]]
    """Its options: the parameters of the estimator, the rules in the file and the options of the command."""
    unit: ClassVar[str] = "row"  # what messages call one of those it learns from
    needs_target: ClassVar[bool] = True  # whether its classes are always in a column; those of files are not
    looks_for_dependence: ClassVar[bool] = False
    """Whether columns that depend on each other do harm, so that `train` looks for them in a sample of the rows."""
    second_pass_rows: ClassVar[int | None] = None  # that a second pass takes at most, kept as they pass by; None: all

    def __init__(self, rules: R, *, target: str | None = None, calibrate: str | None = None) -> None:
        self.rules = rules
        self.target = target  # the name of the column that holds the labels, where they had one
        self.schema: Schema | None = None
        self.book = Book.empty()
        self.derived: D | None = None
        self._model: M | None = None
        self.fixed = False  # made of given tables: there are no counts behind it
        self.init_calibration(calibrate)
        self.target_cuts: tuple[float, ...] | None = None  # between the bins of a target of numbers
        self.redacted: int | None = None  # levels of fewer rows than this were pooled
        self.ledger = False  # whether a hash of the rows is kept beside the tallies

    # -- what a kind of model brings -----------------------------------------------------------------------------

    @abstractmethod
    def schema_of(self, columns: Columns, *, where: str | None = None) -> Schema:
        """The schema after rows with these columns."""

    @abstractmethod
    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        """What is counted of these rows."""

    @abstractmethod
    def make_model(self, schema: Schema, book: Book) -> M:
        """The rules applied to the tallies."""

    @abstractmethod
    def joint_log_prob(self, batch: Batch) -> Doubles:
        """log P(class, x), rows x classes: -inf where impossible."""

    @abstractmethod
    def explain(self, batch: Batch) -> Evidence:
        """How much each column, or each word, says for each class."""

    @abstractmethod
    def case(self, batch: Batch, *, against: str | None = None) -> Case:
        """The answer for the one row of a batch, and what decided; `against` is the runner-up unless it is given."""

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        """The work before calibration: a factor for each column, unless a kind can write out more."""
        from bayesbox.explain.work import prior_factor, work_of_terms

        prior, answer = prior_factor(self.model, self.book, self.rules), self.plain_log_posterior(batch)[0]
        return work_of_terms(self.case_title(batch), prior, self.model.classes, self.explain(batch), answer, against)

    def case_title(self, batch: Batch) -> str:  # noqa: ARG002
        """The model and the one row of a batch in words."""
        return self.title

    @abstractmethod
    def explained_texts(self, batch: Batch, best: AnyArray, against: AnyArray, number: int) -> pa.Array:
        """For each row, in an Arrow column, what says most for its class `best` over another: `age=34 +1.39; ...`."""

    @abstractmethod
    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each learned row under the model of all the others, what is derived left as it is."""

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
        """Rows with their classes, as this classifier reads them, to learn or to be evaluated by.

        `text` is the column of documents, `label` the class of all documents.
        """

    @abstractmethod
    def open_unlabelled(
        self, data: Any, *, keep: Sequence[str] = (), reading: ReadingOptions = AS_IT_IS
    ) -> Opened[Self]:
        """Rows to be answered, with the columns that are to be kept."""

    @abstractmethod
    def one_row(self, values: Mapping[str, str], *, where: str | None = None) -> Batch:
        """One row of texts, each read as its column's kind has it; an empty text is a missing value."""

    @abstractmethod
    def absent_columns(self, names: Sequence[str], *, where: str | None) -> list[str]:
        """The model's columns that are not among these names; an error if it cannot do without them."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The columns as rows bring them."""

    @classmethod
    @abstractmethod
    def from_options(
        cls,
        parameter: str,
        options: Mapping[str, Any],
        declared: Mapping[Any, object] | None = None,
        one_hot: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """A classifier of options as the command has them, and of what follows the name of the model after a colon."""

    # -- what some kinds do -----------------------------------------------------------------------------------------

    def derive(self, schema: Schema, book: Book) -> bool:  # noqa: ARG002  most kinds derive nothing
        """Set `derived` from a first count of all rows; True asks for the rows again, to be counted by it."""
        return False

    def has_second_pass(self) -> bool:
        """Whether something is derived from the rows themselves, once they are counted."""
        return False

    def unfinished(self) -> bool:
        """Whether rows that are to be learned now are gone over again, for what follows from the rows themselves."""
        return self.schema is None and (self.has_second_pass() or self.calibrate is not None)

    def recorded(self, source: Source, target: str) -> Source:  # noqa: ARG002
        """The source, or a `Recorded` one that keeps rows for the second pass, so that they may come from a pipe."""
        return source

    def report_progress(self, report: Callable[[float, float | None, str], object]) -> None:
        """Call this while something beyond counts is learned: the share done, the seconds left, and what it is."""

    def refine(self, parts: Sequence[LabelledRows]) -> None:
        """Set `derived` from the rows that were counted."""
        raise NotImplementedError(f"{self.title} derives nothing from rows")  # has_second_pass() says so

    def needs_refit(self) -> bool:
        """Whether taking rows out of the tallies leaves something as they made it, so that folds must learn again."""
        return self.derived is not None or self.calibrate is not None

    def irreversible_parts(self) -> tuple[str, ...]:
        """What was learned of the rows and is no tally, in words: taking rows out leaves it as it is."""
        stale = ", stale: refit it with `bayes calibrate MODEL DATA`" if self.stale else ""
        return () if self.calibrated is None else (f"the calibration ({self.calibrated.name}){stale}",)

    def keeps_rows_by(self) -> str | None:
        """What the model keeps of single rows beyond counts and sums of each column, in words; None for nothing."""
        return None if self.book.joint is None else "it counts columns together, so that rare combinations stay"

    def kept_points(self) -> int:
        """How many rows the model keeps as points, whole."""
        return 0

    def size(self) -> ModelSize | None:
        """How many numbers the model is made of; None if it is several models in one."""
        return None

    def notes(self) -> tuple[str, ...]:
        """What the making of the model had to do, in words."""
        return ()

    def hints(self) -> list[Hint]:
        """What looks wrong in the rows that were learned."""
        return []

    def named(self, batch: Batch, *, where: str | None = None) -> dict[str, Column]:  # noqa: ARG002
        """The columns of a batch by name."""
        return {name: as_view(column) for name, column in zip(batch.names, batch.columns, strict=True)}

    def kept_columns(self, columns: Columns) -> dict[str, Column]:
        """These columns as they are best kept, to be counted and answered again."""
        return dict(columns)

    def counter(
        self,
        where: str | None,
        *,
        streams: bool = False,  # noqa: ARG002  each batch is counted by itself
        remote: bool = False,
        forget: bool = False,  # noqa: ARG002
    ) -> RowCounter:
        """What counts batches of rows, many of them where they stream; it is sent to them where they are `remote`."""
        from bayesbox.classifier.train import RowCounter

        return RowCounter(self.with_empty_counts() if remote else self, where)

    # -- learning ------------------------------------------------------------------------------------------------

    def learn(self, batch: Batch, labels: Encoded, *, weights: object = None, where: str | None = None) -> None:
        """Add these rows. Where they cannot be counted, nothing changes."""
        self.learn_all([LabelledRows(batch, labels, weights)], where=where)

    def learn_all(self, parts: Sequence[LabelledRows], *, where: str | None = None) -> None:
        """Add the rows of several batches, as one. Where they cannot be counted, nothing changes."""
        from bayesbox.classifier.train import RowsInMemory, count_into

        count_into(self, RowsInMemory(parts, where))

    def forget(self, batch: Batch, labels: Encoded, *, weights: object = None, where: str | None = None) -> None:
        """Take these rows out again, exactly. Where they were never learned, nothing changes."""
        from bayesbox.classifier.train import RowsInMemory, count_into

        if self.schema is None:
            self.require_counts("forget")
            raise CannotForget("the model is not trained yet")
        count_into(self, RowsInMemory([LabelledRows(batch, labels, weights)], where), forget=True)

    def accept(self, schema: Schema, book: Book) -> None:
        """Take this as what was learned."""
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
        """The schema after rows of which this is the schema."""
        return more if self.schema is None else self.schema.merged(more)

    def take_in(self, schema: Schema, book: Book, counted: CountedBook) -> None:  # noqa: ARG002  most count all there is
        """Take this as what was learned, of which `counted` is new."""
        self.accept(schema, book)

    def require_possible(self, book: Book) -> None:
        """Refuse tallies, left of a forgetting, that no rows have together, though some have each by itself."""

    def declare(self, classes: tuple[str, ...]) -> None:
        """Know of these classes, though no row may have one of them."""
        assert self.schema is not None
        self.accept(self.schema.with_classes(classes), self.book)

    def learned_from(self, target: str) -> None:
        """Remember the column that held the labels."""
        self.target = target

    def require_counts(self, what: str) -> None:
        """Refuse to learn, forget or merge without counts."""
        if not self.fixed:
            return
        error = CannotMerge if what == "merge" else NoCounts
        raise error(
            f"this model was made from given tables, so it cannot {what}: it has no counts",
            remedy="Train a model on rows",
        )

    def merged(self, other: AnyClassifier) -> Self:
        """What learning the rows of both would give."""
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
        """Whether what another classifier of this kind derived makes it count the same."""
        return bool(self.derived == other.derived)

    def counts_like(self, other: AnyClassifier) -> bool:
        """Whether another classifier of this kind has the same rules."""
        return bool(self.rules == other.rules)

    def without(self, rows: Sequence[LabelledRows], others: Callable[[], list[LabelledRows]]) -> Self:
        """The classifier that never saw some rows: a subtraction, or refitted on the `others`."""
        if self.needs_refit():
            return refit_on(self, others())
        other = minus_rows(self, rows)
        if getattr(self.rules, "prior_smoothing", None) is not None:  # a class that is gone keeps a share
            assert other.schema is not None
            other.accept(other.schema.with_classes(self.model.classes), other.book)
        return other

    # -- the same with something else ------------------------------------------------------------------------------

    def changed(self, **attributes: Any) -> Self:
        """The same classifier with other values of some attributes; its model is rebuilt."""
        result = copy.copy(self)
        model = self._model if self.fixed else None  # one that is given has no counts to be made of again
        for name, value in {"_model": model, **attributes}.items():
            setattr(result, name, value)
        return result

    def with_empty_counts(self) -> Self:
        """The same schema, rules and derived choices with nothing counted."""
        return self.changed(calibrate=None, calibrated=None, learned_at=None, book=Book.empty(self.book.label_type))

    def unfitted_clone(self) -> Self:
        """The same rules and declarations, nothing known of any row."""
        return self.changed(schema=None, book=Book.empty(), derived=None, calibrated=None, chosen=None, learned_at=None)

    def with_rules(self, rules: R) -> Self:
        """The same counts under other rules; nothing is counted again."""
        return self.changed(rules=rules)

    def with_prior(self, prior: Prior) -> Self:
        """The same likelihoods with another base rate."""
        given_prior(prior, self.classes)  # refuses a prior that does not fit
        return self.with_rules(replace(self.rules, prior=dict(prior) if isinstance(prior, Mapping) else prior))

    def with_ledger(self, ledger: bool) -> Self:
        """The same that keeps a hash of the rows it learns, or none."""
        if ledger and self.book.classes and self.book.ledger is None:
            raise BadOption("a ledger must be kept from the first row", remedy="Train again with ledger=True")
        book = self.book if ledger else self.book.with_ledger(None)
        return self.changed(ledger=ledger, book=book, _model=self._model)

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def model(self) -> M:
        """The rules applied to the tallies."""
        if self._model is None:
            if not self.classes:
                raise self.nothing_learned()
            self._model = self.make_model(self.model_schema(), self.book)
        return self._model

    def model_schema(self) -> Schema:
        """The schema that the model is made of."""
        return self.schema or Schema({})

    def check(self) -> None:
        """Refuse a prior, a rule or counts that no model can be made of."""
        assert self.model is not None

    def nothing_learned(self) -> BadData:
        """What to say if there is no class."""
        return BadData(
            "all rows have weight 0, so there is nothing to predict from",
            remedy="Train on rows with a label and a positive weight",
        )

    @property
    def classes(self) -> tuple[str, ...]:
        """The texts of the classes, those that were declared included."""
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
        """log P(class, x), rows x classes: also of a kind that, without any column, returns the prior alone."""
        joint = self.joint_log_prob(batch)
        return np.tile(joint, (batch.rows, 1)) if joint.ndim == 1 else joint

    def plain_log_posterior(self, batch: Batch) -> Doubles:
        """log P(class | x) before calibration; a row that no class allows gets the prior, with a warning."""
        return posterior.normalised_log(self.joint_of_rows(batch), self.model.log_prior)

    def work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        """The answer to the one row of a batch step by step, calibrated if the model is."""
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
