"""A classifier of documents that learns, forgets and predicts: tallies of words, rules, and the model they give."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist.base import Doubles, Plan
from bayesbox.dist.posterior import normalised
from bayesbox.errors import BadData, CannotForget, CannotMerge, DroppedWords
from bayesbox.rule.priors import given_prior
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import label_order
from bayesbox.schema.tokens import Documents, Tokens
from bayesbox.tally.book import Book
from bayesbox.tally.documents import WORDS, DocumentCounter, count_documents, limited
from bayesbox.text.explanation import TextExplanation, explained, telling
from bayesbox.text.model import Parameters, Strength, TextModel, parameters, text_model
from bayesbox.text.options import AUTO, TextOptions

Texts = Documents | CountMatrix


class DocumentClassifier:
    """Tokens, book and rules; the model follows from them and is made when it is first needed."""

    kind = "text"
    title = "a model of documents"

    def __init__(self, rules: TextOptions, tokens: Tokens) -> None:
        self.chooses = rules.occurrence == AUTO  # whether the model is to be chosen when documents were counted
        self.rules = replace(rules, occurrence="count") if self.chooses else rules
        self.tried: tuple[Any, ...] = ()  # the models it was chosen among: derived, so that choice is never undone
        self.tokens = replace(tokens, places=rules.occurrence == "position")
        self.target: str | None = None  # the column of the labels, where they had one
        self.column: str | None = None  # the column of the texts, where they had one
        self.declared: tuple[str, ...] = ()  # classes that may come
        self.width: int | None = None  # of a matrix of counts, where documents come as one
        self.dropped = 0  # words that a limit took out of the tallies
        self.strength: Strength | None = None  # of the words, where it was calibrated: derived, so it is never undone
        self.book = Book.empty()
        self._model: TextModel | None = None

    # -- learning ------------------------------------------------------------------------------------------------

    def learn(self, texts: Texts, labels: Encoded, *, weights: Any = None) -> None:
        """Add these documents. Where they cannot be counted, nothing changes."""
        self._require_like(texts)
        dropped = 0
        if self.rules.limit is None:
            learned = self.tally(texts, labels, weights)
        else:  # far more words than the limit are never held by class
            self._require_labels(texts, labels)
            counter = DocumentCounter(self.tokens, limit=self.rules.limit, often=self.often)
            counter.add(texts, labels, weights)
            learned, dropped = counter.handed_over(), counter.dropped
        book = self.book + learned
        if isinstance(texts, CountMatrix):
            self.width = texts.width
        self.accept(book, dropped=dropped)

    def forget(self, texts: Texts, labels: Encoded, *, weights: Any = None) -> None:
        """Take these documents out again, exactly. Where they were never learned, nothing changes."""
        if not self.book.classes:
            raise CannotForget("nothing was learned yet")
        self.require_all_words()
        self._require_like(texts)
        self.accept(self.book - self.tally(texts, labels, weights))

    def require_all_words(self) -> None:
        """Refuse to subtract from tallies out of which words were dropped."""
        if self.dropped:
            raise CannotForget(
                f"{self.dropped:,} rare words were dropped by the limit, so no document can be taken out exactly",
                remedy="Train without a limit; top= and min_documents= keep the tallies whole",
            )

    def take_rules(self, rules: TextOptions, tried: tuple[Any, ...]) -> None:
        """From now on go by these rules, the best of those that were tried."""
        self.rules, self.tried, self._model = rules, tried, None

    def with_empty_counts(self) -> Self:
        """The same options with nothing counted."""
        result = copy.copy(self)
        result.accept(Book.empty(self.book.label_type))
        return result

    def merged(self, other: DocumentClassifier) -> Self:
        """What learning the documents of both would give."""
        if self.rules != other.rules or self.tokens != other.tokens or self.width != other.width:
            raise CannotMerge("the two models have different rules", remedy="Give both the same parameters")
        result = copy.copy(self)
        result.declared = tuple(sorted({*self.declared, *other.declared}))
        larger = self if float(np.sum(self.book.n)) >= float(np.sum(other.book.n)) else other
        result.dropped = self.dropped + other.dropped
        result.strength = larger.strength  # nothing that was derived can be added up
        result.accept(self.book + other.book)
        return result

    def declare(self, classes: tuple[str, ...]) -> None:
        """Classes that may come later."""
        self.declared, self._model = tuple(sorted({*self.declared, *classes})), None

    def tally(self, texts: Texts, labels: Encoded, weights: Any) -> Book:
        """What these documents alone count."""
        self._require_labels(texts, labels)
        return count_documents(texts, labels, self.tokens, weights=weights, often=self.often)

    @staticmethod
    def _require_labels(texts: Texts, labels: Encoded) -> None:
        if len(labels.codes) != texts.rows:
            raise BadData(f"{texts.rows} documents, but {len(labels.codes)} labels")

    @property
    def often(self) -> bool:
        """Whether the tallies tell how many documents hold a word twice and three times."""
        return self.rules.occurrence == "table"

    def accept(self, book: Book, *, dropped: int = 0) -> None:
        """Take this as what was learned, the rarest words dropped where there are more than the limit.

        `dropped` words were dropped on the way.
        """
        book, now = limited(book, self.rules.limit)
        dropped += now
        if dropped and self.rules.limit is not None:
            self.dropped += dropped
            warnings.warn(DroppedWords(dropped, self.rules.limit), stacklevel=4)
        self.book, self._model = book, None

    def _require_like(self, texts: Texts) -> None:
        """Text goes with text, and a matrix with one of the same width."""
        width = texts.width if isinstance(texts, CountMatrix) else None
        if width is not None and self.rules.occurrence == "position":
            raise BadData("a matrix of counts does not tell where a word stands", remedy="Give the texts")
        if self.book.classes and width != self.width:
            if width is not None and self.width is not None:
                raise BadData(f"X has {width} features, but TextClassifier is expecting {self.width} features as input")
            raise BadData(
                "the model was learned from " + ("texts" if self.width is None else "a matrix of counts"),
                found="a matrix of counts" if self.width is None else "texts",
            )

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def model(self) -> TextModel:
        """The rules applied to the tallies."""
        if self._model is None:
            if not self.classes:
                raise BadData("no document has a label, so there is nothing to predict")
            self._model = text_model(
                self.book, self.rules, declared=self.declared, width=self.width, strength=self.strength
            )
        return self._model

    @property
    def classes(self) -> tuple[str, ...]:
        """The texts of the classes, those that were declared included."""
        return tuple(label_order(list({*self.book.classes, *self.declared}), self.book.label_type))

    @property
    def words(self) -> tuple[str, ...]:
        """Every word that was counted, whether the rules keep it or not."""
        return self.book[WORDS].levels if WORDS in self.book else ()

    def irreversible_parts(self) -> tuple[str, ...]:
        """What was learned of the documents and is no tally, in words: taking some out leaves it as it is."""
        chosen = ("the choice among models",) if self.tried else ()
        return chosen if self.strength is None else (*chosen, "the calibration")

    def uncalibrated(self) -> Self | None:
        """The same with words that speak as strongly as they were learned; None where they do so already."""
        if self.strength is None:
            return None
        plain = copy.copy(self)
        plain.strength, plain._model = None, None
        return plain

    def with_rules(self, rules: TextOptions) -> Self:
        """The same counts under other rules; nothing is counted again."""
        result = copy.copy(self)
        result.rules, result._model = rules, None
        return result

    def with_prior(self, prior: Mapping[Any, float]) -> Self:
        """The same weights with another base rate."""
        given_prior(prior, self.classes)  # refuses one that does not fit
        return self.with_rules(replace(self.rules, prior=dict(prior)))

    # -- answers -------------------------------------------------------------------------------------------------

    def _plan(self, texts: Texts) -> Plan:
        self._require_like(texts)
        terms = self.model.conditional.terms(texts, self.tokens)
        plan = Plan(len(terms), self.model.log_prior)
        plan.add_terms(terms)
        return plan

    def predict(self, texts: Texts) -> NDArray[Any]:
        """The most probable label of each document; of equal ones the first."""
        plan = self._plan(texts)
        assert plan.extra is not None
        if np.isneginf(plan.extra).any() or np.isneginf(plan.prior).any():
            best = np.argmax(normalised(plan, self.model.log_prior, _core.POSTERIOR), axis=1)
        else:
            best = plan.run(_core.ARGMAX)
        labels: NDArray[Any] = self.model.labels[best]
        return labels

    def posterior(self, texts: Texts) -> Doubles:
        return normalised(self._plan(texts), self.model.log_prior, _core.POSTERIOR)

    def log_posterior(self, texts: Texts) -> Doubles:
        return normalised(self._plan(texts), self.model.log_prior, _core.LOG_POSTERIOR)

    def joint_log_prob(self, texts: Texts) -> Doubles:
        """log P(class, document); for the complement, its score."""
        joint: Doubles = self._plan(texts).run(_core.JOINT)
        return joint

    def leave_one_out(self, texts: Texts, labels: Encoded) -> Doubles:
        """P(class | document) of each of these learned documents by the model of all the others."""
        from bayesbox.stat.leave_one_out import learned_target

        self.require_all_words()
        self._require_like(texts)
        model, counted = self.model, self.book.with_classes(self.classes)
        target = learned_target(labels, model.classes, counted)
        left = counted.class_counts.to_doubles()[target] - 1
        refit = np.ones(len(target), dtype=bool) if self.tokens.places else left <= 0
        prior = self._prior_of_others(counted)[target]
        terms = np.zeros_like(prior)
        rows = np.flatnonzero(~refit)
        if len(rows):
            sums, known = self.sums_of_others(counted, texts.take(rows), target[rows])
            weights = model.conditional
            terms[rows] = sums * weights.factors(known)[:, None] if weights.scaled else sums
        plan = Plan(len(target), np.zeros(len(model.classes)))
        plan.add_terms(prior + terms)
        answer = normalised(plan, prior, _core.POSTERIOR)
        for row in np.flatnonzero(refit).tolist():  # its class goes with it, or places shift
            answer[row] = self._refitted(texts.take(np.array([row])), labels._replace(codes=labels.codes[[row]]))
        return answer

    def sums_of_others(self, counted: Book, texts: Texts, target: NDArray[np.int32]) -> tuple[Doubles, Doubles]:
        """The sums of the weights for each of these documents by the model of all others, and its known words."""
        from bayesbox.text import leave_one_out as others

        learned = others.LeaveOneOutStart(counted, self.rules, self.model, self.width is None)
        return others.sums_of_others(learned, self.model.conditional.listed(texts, self.tokens), target)

    def _prior_of_others(self, counted: Book) -> Doubles:
        """The log prior of all classes (columns) when one document of a class (rows) is gone."""
        from bayesbox.stat.leave_one_out import prior_table

        if self.rules.prior is None and self.rules.occurrence == "complement" and len(self.classes) > 1:
            return np.zeros((len(self.classes), len(self.classes)))
        return prior_table(self.declared, counted, self.rules, self.model)

    def _refitted(self, text: Texts, label: Encoded) -> Doubles:
        other = copy.copy(self)
        other.accept(self.book - self.tally(text, label, None).with_label_type(self.book.label_type))
        answer = np.zeros(len(self.classes))
        if other.classes:
            answer[[self.classes.index(name) for name in other.classes]] = other.posterior(text)[0]
        return answer

    def explain(self, texts: Texts) -> TextExplanation:
        """The words of each document with what they add to each class."""
        self._require_like(texts)
        model, weights = self.model, self.model.conditional
        listed = weights.listed(texts, self.tokens)
        offset, strength = weights.offset, np.ones(listed.rows)
        if weights.scaled:
            strength = weights.factors(weights.sums(texts, self.tokens)[1])
            offset = weights.offset * strength[:, None]
        return explained(model.labels, model.log_prior, offset, weights, listed, strength)

    def parameters(self) -> Parameters:
        """How many probabilities the model has."""
        kind, names, classes = self.rules.occurrence, self.model.conditional.words, len(self.model.classes)
        if kind != "position":
            return parameters(kind, words=len(names), classes=classes)
        places = int(names[-1].partition(" ")[0]) if names else 0
        return parameters(kind, words=len(names) // max(places, 1), classes=classes, length=places)

    def rules_in_words(self) -> dict[str, Any]:
        """The options of tokens and rules, by name."""
        rules, tokens = self.rules, self.tokens
        return {
            "occurrence": rules.occurrence,
            "smoothing": rules.smoothing.text(),
            "prior_smoothing": None if rules.prior_smoothing is None else rules.prior_smoothing.text(),
            "prior": None if rules.prior is None else {str(label): p for label, p in rules.prior.items()},
            "top": rules.top,
            "min_documents": rules.min_documents,
            "once": rules.once,
            "limit": rules.limit,
            "dropped": self.dropped,
            "calibration": rules.calibration,
            "strength": None if self.strength is None else list(self.strength),
            "shortest": tokens.shortest,
            "phrases": list(tokens.phrases),
            "punctuation": tokens.punctuation,
            "characters": None if tokens.characters is None else list(tokens.characters),
            "stop_words": list(tokens.stop_words),
        }

    def telling_words(self, number: int) -> dict[str, list[tuple[str, float]]]:
        """Of each class the words whose weight in it exceeds that in all others, with that lead, the largest first."""
        found = telling(self.model.conditional.words, self.model.conditional.weights, number)
        return dict(zip(self.model.classes, found, strict=True))
