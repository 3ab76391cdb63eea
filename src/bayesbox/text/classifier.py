"""The document classifier: tallies of words, rules, and the model made from them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from bayesbox import _core
from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.opened import AS_IT_IS, Opened, ReadingOptions
from bayesbox.classifier.options import options_from_command
from bayesbox.classifier.report.size import Parameters
from bayesbox.classifier.rows import LabelledRows, warn_of_lost_ledger
from bayesbox.classifier.train import CountedBook, RowCounter
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles, Plan
from bayesbox.dist.posterior import normalised
from bayesbox.errors import BadData, BadOption, CannotForget, CannotMerge, DroppedWords, UnknownColumn
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.columns import Column, CountMatrix
from bayesbox.schema.encode import Encoded
from bayesbox.schema.kinds import CountGroup, Words
from bayesbox.schema.schema import Schema, union_of
from bayesbox.schema.token_options import PAIRS, SINGLE
from bayesbox.schema.tokens import Documents, Tokens, as_text_column
from bayesbox.source.base import Batch, Source
from bayesbox.source.wrapped import Recorded
from bayesbox.tally.book import Book
from bayesbox.tally.documents import WORDS, count_documents, limited, require_possible_documents
from bayesbox.text.case import DocumentCase
from bayesbox.text.choice import ChosenClassifier, defaults_of_command
from bayesbox.text.explanation import TextExplanation, explained, telling
from bayesbox.text.model import TextModel, model_prior, parameters, text_model
from bayesbox.text.options import AUTO, DocumentOptions, TextOptions

if TYPE_CHECKING:
    from bayesbox.classifier.answer.drifts import Drift
    from bayesbox.dist.learned import LearnedTable
    from bayesbox.explain.class_work import ClassWork
    from bayesbox.explain.credible import IntervalTable
    from bayesbox.text.explained_documents import DocumentsExplanation
    from bayesbox.text.word_answers import WordLosses

Texts = Documents | CountMatrix

TEXT = "text"  # the default name of the text column


class DocumentClassifier(ChosenClassifier):
    """Naive Bayes of documents: a batch has one column of texts, or a matrix of counts.

    `column` is the name of the text column, if it has one.
    """

    kind = "text"
    title = "a model of documents"
    options_type = DocumentOptions
    unit = "document"
    needs_target = False

    def __init__(
        self,
        rules: TextOptions,
        tokens: Tokens,
        *,
        column: str | None = None,
        target: str | None = None,
    ) -> None:
        self.chooses = rules.occurrence == AUTO  # whether to choose the model after counting
        super().__init__(replace(rules, occurrence="count") if self.chooses else rules, target=target)
        self.asked = (rules, tokens)  # the options before the choice
        self.phrases_open = tokens.phrases == AUTO  # pairs of words are counted, and may be dropped later
        words = replace(tokens, phrases=PAIRS) if self.phrases_open else tokens
        places = rules.occurrence == "position"
        self.tokens = words if words.places is places else replace(words, places=places)
        self.column = column
        self.dropped = 0  # words dropped from the tallies by a limit
        self.too_many_pairs = False  # too many pairs of words to try

    @classmethod
    def from_options(
        cls,
        parameter: str,
        options: Mapping[str, Any],
        declared: Mapping[Any, object] | None = None,  # noqa: ARG003  documents have no columns
        fold: Mapping[str, Sequence[str]] | None = None,  # noqa: ARG003
    ) -> Self:
        from bayesbox.text.documents import stop_words_in

        known = {**defaults_of_command(options), "stop_words": stop_words_in(options)}
        rules = options_from_command(TextOptions, cls.title, parameter, known)
        return cls(rules, options_from_command(Tokens, cls.title, "", known))

    # -- where documents come from -----------------------------------------------------------------------------------

    @property
    def text_column(self) -> str:
        """The text column of a batch."""
        return self.column or TEXT

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (self.text_column,)

    def absent_columns(self, names: Sequence[str], *, where: str | None) -> list[str]:
        """Empty, since the single column is required: its absence is an error."""
        if names and self.text_column not in names:
            raise UnknownColumn(self.text_column, available=names, where=where)
        return []

    def open_rows(
        self,
        data: object,
        *,
        target: str | None = None,
        weight: str | None = None,
        text: str | None = None,
        label: str | None = None,
        learning: bool = True,  # noqa: ARG002  texts are texts
        reading: ReadingOptions = AS_IT_IS,
    ) -> Opened[Self]:
        from bayesbox.text.documents import open_labelled

        if reading.target_bins is not None:
            raise BadOption("the target of documents cannot be binned", remedy="Convert it to classes first")
        return open_labelled(self, data, target=target, weight=weight, text=text, label=label, reading=reading)

    def open_unlabelled(
        self,
        data: Any,
        *,
        keep: Sequence[str] = (),
        reading: ReadingOptions = AS_IT_IS,
    ) -> Opened[Self]:
        from bayesbox.text.documents import open_unlabelled

        return open_unlabelled(self, data, keep=keep, reading=reading)

    def one_row(self, values: Mapping[str, str], *, where: str | None = None) -> Batch:
        """A batch of one document."""
        column = self.text_column
        if set(values) != {column}:
            raise BadOption(f"no document: pass a file, - for standard input, or --set {column}=...", where=where)
        return Batch((column,), (pa.array([values[column]]),), 1)

    def texts(self, columns: Columns, *, where: str | None = None) -> Texts:
        """The documents of these columns in the form of the core."""
        column = self._column(columns, where)
        return column if isinstance(column, CountMatrix) else Documents.of(column, where=where)

    def _column(self, columns: Columns, where: str | None) -> Column:
        self.absent_columns(tuple(columns), where=where)
        return columns[self.text_column]

    def texts_of(self, batch: Batch) -> Texts:
        """The documents of a batch to predict."""
        texts = self.texts(dict(zip(batch.names, batch.columns, strict=True)))
        self._require_like(texts.width if isinstance(texts, CountMatrix) else None)
        return texts

    def kept_columns(self, columns: Columns) -> dict[str, Column]:
        return {self.text_column: columns[self.text_column]}

    # -- learning ------------------------------------------------------------------------------------------------

    def schema_of(self, columns: Columns, *, where: str | None = None) -> Schema:
        """A schema of one column: words, or a matrix of counts; later rows must have the same form."""
        column = self._column(columns, where)
        width = column.width if isinstance(column, CountMatrix) else None
        self._require_like(width)
        kind = Words() if width is None else CountGroup(width=width)
        return Schema({self.text_column: kind}, classes=self.schema.classes if self.schema else ())

    def _require_like(self, width: int | None) -> None:
        if width is not None and self.rules.occurrence == "position":
            raise BadData("a matrix of counts has no word positions", remedy="Pass the texts")
        if self.book.classes and width != self.width:
            if width is not None and self.width is not None:
                raise BadData(f"X has {width} features, but TextClassifier is expecting {self.width} features as input")
            raise BadData(
                "the model was trained on " + ("texts" if self.width is None else "a matrix of counts"),
                found="a matrix of counts" if self.width is None else "texts",
            )

    @property
    def width(self) -> int | None:
        """The width of the matrix of counts; None for texts."""
        kinds = self.schema.kinds.values() if self.schema else ()
        return next((kind.width for kind in kinds if kind.is_matrix), None)

    @property
    def often(self) -> bool:
        """Whether the tallies count the documents with two and with three occurrences of a word."""
        return self.rules.occurrence == "table"

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:  # noqa: ARG002
        texts = self.texts(columns, where=options.get("where"))
        return count_documents(texts, labels, self.tokens, weights=options.get("weights"), often=self.often)

    def counter(
        self, where: str | None, *, streams: bool = False, remote: bool = False, forget: bool = False
    ) -> RowCounter:
        """The counter: many batches share one table of words; so does a single batch with a limit on words."""
        from bayesbox.text.counting import DocumentCounting

        limit = None if forget else self.rules.limit
        if self.phrases_open and (remote or limit is not None):
            self.keep_phrases(SINGLE)  # counted remotely, pairs would be unbounded
        if remote or not (streams or limit is not None or self.phrases_open):
            return super().counter(where, remote=remote)
        return DocumentCounting(self, where, limit)

    def schema_with(self, more: Schema) -> Schema:
        """The merged schema; while nothing is counted, documents may be texts or a matrix."""
        return super().schema_with(more) if self.book.classes else more

    def take_in(self, schema: Schema, book: Book, counted: CountedBook) -> None:
        """Replace schema and book; the rarest words are dropped if there are more than the limit."""
        self.accept(schema, self._limited(book, counted.dropped))

    def _limited(self, book: Book, dropped: int = 0) -> Book:
        book, now = limited(book, self.rules.limit)
        dropped += now
        if dropped and self.rules.limit is not None:
            self.dropped += dropped
            warnings.warn(DroppedWords(dropped, self.rules.limit), stacklevel=6)
        return book

    def require_possible(self, book: Book) -> None:
        require_possible_documents(book)

    def learned_from(self, target: str) -> None:
        """Store the name of the target column of the first training."""
        self.target = self.target or target

    def require_counts(self, what: str) -> None:
        """Raise an error if words were dropped from the tallies, or if there are no counts."""
        if what == "forget":
            if not self.book.classes:
                raise CannotForget("the model is not trained yet")
            self.require_all_words()

    def require_all_words(self) -> None:
        """Raise an error if words were dropped, so that the counts are incomplete."""
        if self.dropped:
            raise CannotForget(
                f"{self.dropped:,} rare words were dropped by the limit, so no document can be forgotten exactly",
                remedy="Train without a limit; top= and min_documents= keep the tallies complete",
            )

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        """A copy with these classes declared."""
        schema = self.schema or Schema({self.text_column: Words()})
        return self.changed(schema=schema.with_classes(tuple(sorted({*schema.classes, *classes}))))

    def merged(self, other: AnyClassifier) -> Self:
        """The merged classifier, equal to one trained on the documents of both."""
        if not isinstance(other, DocumentClassifier):
            raise CannotMerge("the two models are of different kinds", found=f"{self.title} and {other.title}")
        if self.rules != other.rules or self.tokens != other.tokens or self.width != other.width:
            raise CannotMerge("the two models have different rules", remedy="Give both the same parameters")
        warn_of_lost_ledger(self, other)
        larger = self if float(np.sum(self.book.n)) >= float(np.sum(other.book.n)) else other
        result = self.changed(
            derived=replace(self.settled, strength=larger.settled.strength),  # derived parts cannot be added
            calibrated=larger.calibrated,
            dropped=self.dropped + other.dropped,
            redacted=max(self.redacted or 0, other.redacted or 0) or None,
        )
        schema = self.schema or other.schema
        assert schema is not None
        classes = union_of(schema.classes, () if other.schema is None else other.schema.classes)
        result.accept(schema.with_classes(classes), result._limited(self.book + other.book))
        return result

    def counts_like(self, other: AnyClassifier) -> bool:
        return super().counts_like(other) and isinstance(other, DocumentClassifier) and self.tokens == other.tokens

    def refine(self, parts: Sequence[LabelledRows]) -> None:
        from bayesbox.text.sample import sample_of_documents
        from bayesbox.text.select_model import settle

        settle(self, sample_of_documents(parts, self.text_column, len(self.classes)))

    def recorded(self, source: Source, target: str) -> Recorded:
        from bayesbox.text.sample import SampledDocuments

        return SampledDocuments(source, self.text_column, target)

    def keeps_rows_by(self) -> str | None:
        if self.width is not None:
            return "it was trained on a matrix of counts, which has no words to pool"
        if self.rules.occurrence in ("table", "position"):
            return f"the {self.rules.occurrence} model counts more about a document than its words"
        return super().keeps_rows_by()

    # -- what was learned ----------------------------------------------------------------------------------------

    def make_model(self, schema: Schema, book: Book) -> TextModel:
        return text_model(book, self.rules, declared=schema.classes, width=self.width, strength=self.settled.strength)

    @property
    def log_prior(self) -> Doubles:
        """The log prior, without making the model."""
        return model_prior(self.book.with_classes(self.classes), self.rules)

    def nothing_learned(self) -> BadData:
        return BadData("no document has a label, so there is nothing to predict from")

    @property
    def words(self) -> tuple[str, ...]:
        """All counted words, whether or not the rules keep them."""
        return self.book[WORDS].levels if WORDS in self.book else ()

    # -- answers -------------------------------------------------------------------------------------------------

    def _plan(self, batch: Batch) -> Plan:
        texts = self.texts_of(batch)
        terms = self.model.conditional.terms(texts, self.tokens)
        plan = Plan(len(terms), self.model.log_prior)
        plan.add_terms(terms)
        return plan

    def batch_of_row(self, row: object) -> Batch:
        """A batch of one document."""
        return Batch((self.text_column,), (as_text_column([row]),), 1)

    def predict(self, batch: Batch) -> AnyArray:
        """The most probable label of each document; the first in case of a tie."""
        if self.calibrated is not None:
            return super().predict(batch)
        plan = self._plan(batch)
        assert plan.extra is not None
        if np.isneginf(plan.extra).any() or np.isneginf(plan.prior).any():
            best = np.argmax(normalised(plan, self.model.log_prior, _core.POSTERIOR), axis=1)
        else:
            best = plan.run(_core.ARGMAX)
        labels: AnyArray = self.model.labels[best]
        return labels

    def posterior(self, batch: Batch) -> Doubles:
        if self.calibrated is not None:
            return super().posterior(batch)
        return normalised(self._plan(batch), self.model.log_prior, _core.POSTERIOR)

    def log_posterior(self, batch: Batch) -> Doubles:
        if self.calibrated is not None:
            return super().log_posterior(batch)
        return normalised(self._plan(batch), self.model.log_prior, _core.LOG_POSTERIOR)

    def joint_log_prob(self, batch: Batch) -> Doubles:
        """log P(class, document); for the complement, its score."""
        joint: Doubles = self._plan(batch).run(_core.JOINT)
        return joint

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | document) of each training document under the model of all other documents."""
        from bayesbox.text.leave_one_out import leave_one_out

        self.require_all_words()
        found = leave_one_out(self, batch, labels)
        if self.calibrated is None or self.calibrated.calibration is None:
            return found
        with np.errstate(divide="ignore"):
            return functions.exp(self.calibrated.calibration.applied(functions.log(found)))

    def explain(self, batch: Batch) -> TextExplanation:
        """The words of each document, with their terms for each class."""
        texts = self.texts_of(batch)
        model, weights = self.model, self.model.conditional
        listed = weights.listed(texts, self.tokens)
        offset, strength = weights.offset, np.ones(listed.rows)
        if weights.scaled:
            strength = weights.factors(weights.sums(texts, self.tokens)[1])
            offset = weights.offset * strength[:, None]
        return explained(model.labels, model.log_prior, offset, weights, listed, strength)

    def explain_rows(self, batch: Batch) -> DocumentsExplanation:
        from bayesbox.text.explained_documents import DocumentsExplanation

        return DocumentsExplanation.of(self, batch)

    def losses(self) -> WordLosses:
        from bayesbox.text.word_answers import WordLosses

        return WordLosses(self)

    def drift(self, batches: Iterable[Batch]) -> Drift:
        from bayesbox.text.word_answers import word_drift

        return word_drift(self, batches)

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        from bayesbox.text.work import document_work

        return document_work(self, batch, against)

    def posterior_interval(self, batch: Batch, *, level: float, draws: int, seed: int) -> IntervalTable:
        from bayesbox.text.interval import posterior_interval

        return posterior_interval(self, batch, level=level, draws=draws, seed=seed)

    def case_title(self, batch: Batch) -> str:
        known = int(self.explain(batch).counts[0].sum())
        return (
            f"naive Bayes for documents, {self.rules.occurrence}: {self.target or 'class'}, given {known} known words"
        )

    def case(self, batch: Batch, *, against: str | None = None) -> DocumentCase:
        return DocumentCase.of(self, batch, against=against)

    def explained_texts(self, batch: Batch, best: AnyArray, against: AnyArray, number: int) -> pa.Array:
        """For each document, the words with the most evidence for one class over another, as `word +1.39; ...`."""
        explanation, labels = self.explain(batch), self.model.labels
        found = []
        for row in range(batch.rows):
            words = explanation.top(row, labels[best[row]], labels[against[row]], number)
            found.append("; ".join(f"{each.word} {each.log_odds:+.2f}" for each in words if each.log_odds))
        return pa.array(found, pa.string())

    def parameters(self) -> Parameters:
        """The number of probabilities of the model."""
        kind, names, classes = self.rules.occurrence, self.model.conditional.words, len(self.model.classes)
        if kind != "position":
            return parameters(kind, words=len(names), classes=classes)
        places = int(names[-1].partition(" ")[0]) if names else 0
        return parameters(kind, words=len(names) // max(places, 1), classes=classes, length=places)

    def learned_tables(self, most: int | None) -> Iterator[LearnedTable]:
        from bayesbox.text.tables import learned_words

        return learned_words(self, most)

    def telling_words(self, number: int) -> dict[str, list[tuple[str, float]]]:
        """For each class, the words with a higher weight than in all other classes, the largest lead first."""
        found = telling(self.model.conditional.words, self.model.conditional.weights, number)
        return dict(zip(self.model.classes, found, strict=True))
