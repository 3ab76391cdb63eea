"""What all counting estimators share: fitted attributes and predictions.

An estimator keeps its classifier in `classifier_`; `_asked` converts X for it.
"""

from __future__ import annotations

import contextlib
import copy
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from numbers import Real
from os import PathLike
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.hints import Reason, said_once
from bayesbox.classifier.one_writer import writing
from bayesbox.classifier.report.size import Parameters
from bayesbox.classifier.report.tables import MOST_ROWS
from bayesbox.classifier.training import Training
from bayesbox.decide.costs import Costs, cheapest, cost_matrix
from bayesbox.decide.thresholds import Threshold, answers_at, best_threshold
from bayesbox.errors import BadData, BadOption, BayesboxError
from bayesbox.estimators.inputs import labels_from
from bayesbox.estimators.method_docs import METHODS
from bayesbox.estimators.questions import AsksQuestions
from bayesbox.estimators.rows.one_row import OneRowAnswers
from bayesbox.estimators.shared.doc_link import DocLink
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.credible import IntervalTable
from bayesbox.explain.printed_tables import PrintedTables
from bayesbox.file.digest import model_digest
from bayesbox.file.load import CLASSIFIER, from_bytes
from bayesbox.file.lock import WAIT
from bayesbox.file.save import to_bytes
from bayesbox.file.version import FromFile
from bayesbox.rule.priors import Prior
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.levels import Labels, class_position, level_text
from bayesbox.schema.parameters import HasParameters, describe_methods
from bayesbox.source.dask import partitions_of
from bayesbox.source.labels import labels_of
from bayesbox.source.shapes import is_dask, is_dask_frame
from bayesbox.tally.book import Book

C = TypeVar("C", bound=AnyClassifier)


class ReadEstimator(AsksQuestions, DocLink, OneRowAnswers, FromFile, HasParameters):
    """What an estimator adds to scikit-learn's methods: a report, a file, parameter counts, predictions for one row."""


@describe_methods(METHODS["CountedEstimator"])
class CountedEstimator(ReadEstimator, ClassifierMixin, BaseEstimator, Generic[C]):  # type: ignore[misc]
    """A counting classifier with scikit-learn's methods.

    Its parameters are the fields of the options dataclass that it inherits.
    """

    prior: Prior | None
    ledger: bool
    training_: Training

    @property
    def classifier_(self) -> C:
        """The trained classifier, with all rows counted that were learned one at a time."""
        self._count_waiting()
        try:
            found: C = self.__dict__["classifier_"]
        except KeyError:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet") from None
        return found

    @classifier_.setter
    def classifier_(self, classifier: C) -> None:
        self._changed_elsewhere()
        self.__dict__["classifier_"] = classifier

    def __post_init__(self) -> None:
        """Do nothing: `fit` parses parameters, since scikit-learn requires them to be stored as given."""

    @abstractmethod
    def _new_classifier(self) -> C:
        """An untrained classifier with this estimator's parameters."""

    def _blank_classifier(self) -> C:
        """An untrained classifier that also learns the requested derived parts, such as a calibration."""
        if not isinstance(self.ledger, (bool, np.bool_)):
            raise BadOption("ledger must be True or False", found=self.ledger)
        return self._new_classifier().with_ledger(bool(self.ledger))

    def _watch(self, classifier: C) -> None:
        """Attach the estimator's progress callback, if it has one, to a classifier."""

    @classmethod
    @abstractmethod
    def _of_classifier(cls, classifier: C) -> Self:
        """The estimator with this classifier's options, fitted with it."""

    @abstractmethod
    def _adopt(self, classifier: C) -> Self:
        """Adopt a classifier that was trained elsewhere."""

    @abstractmethod
    def _asked(self, X: object) -> Any:
        """X, rows to predict, as a batch for the classifier."""

    def _learned(self, X: object) -> Any:
        """X, training rows, as a batch for the classifier."""
        return self._asked(X)

    def __getstate__(self) -> dict[str, Any]:
        """The pickled state: the parameters, and the fitted model as the bytes of its model file.

        So a pickle contains no internal class, tools that inspect it (skops) find nothing untrusted, and a newer
        version reads it as it reads a model file. A model that cannot be saved, because one of its rules is not
        registered, is pickled as Python objects.
        """
        state: dict[str, Any] = dict(super().__getstate__())
        if "classifier_" in state:
            with contextlib.suppress(BayesboxError):
                state["classifier_"] = to_bytes(state["classifier_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        learned = state.get("classifier_")
        if isinstance(learned, bytes):
            state = {**state, "classifier_": from_bytes(learned, name="a pickled model", holds=CLASSIFIER)}
        super().__setstate__(state)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False, wait: float = WAIT) -> None:
        """Write the model to a file; `bayesbox.load` reads it, and the model can be trained further.

        If another process has changed the file since this model was loaded from it or saved to it, `ModelChanged` is
        raised, unless `overwrite` is true. If another process is writing the file, `save` waits for at most `wait`
        seconds, then raises `ModelLocked`.
        """
        check_is_fitted(self)
        with writing(self):
            self._save(self.classifier_, path, overwrite=overwrite, wait=wait)

    def redact(self, min_count: int = 5) -> Self:
        """A copy of the model in which levels and words of fewer than `min_count` rows are pooled into one.

        All other counts and probabilities, and those of the classes, do not change. Rows that have a pooled level can
        no longer be forgotten. `CannotRedact` is raised if the model stores more about rows than counts of levels and
        sums.

        >>> import bayesbox as bb
        >>> zips = ["10115"] * 6 + ["80331"] + ["10117"] * 5
        >>> clf = bb.NaiveBayes().fit({"zip": zips}, ["a", "b"] * 6)
        >>> clf.redact(min_count=5).book_["zip"].levels
        ('(rare)', '10115', '10117')
        """
        from bayesbox.classifier.privacy.redact import redact

        check_is_fitted(self)
        thinned = redact(self.classifier_, min_count)
        thinned.check()  # raises here if the model cannot be made
        return type(self)._of_classifier(thinned)

    def digest(self) -> str:
        """The SHA-256 of the whole model: counts, rules and derived parts; `bayes show` prints it.

        `book_.digest()` is the digest of the counts alone, which models of different kinds may share.
        """
        check_is_fitted(self)
        return model_digest(self.classifier_)

    def _warn_of_hints(self) -> None:
        """Warn once about each problem found in the rows."""
        for hint in said_once(self.classifier_.hints()):
            if hint.reason != Reason.IGNORED:  # which was requested
                warnings.warn(hint.as_warning(), stacklevel=3)

    def __add__(self, other: Self) -> Self:
        """The merged model, equal to one fit on the rows of both."""
        if not isinstance(other, CountedEstimator):
            return NotImplemented
        check_is_fitted(self)
        check_is_fitted(other)
        result = copy.copy(self)._loaded_from(*self._versions, *other._versions)
        return result._adopt(self.classifier_.merged(other.classifier_))

    def __radd__(self, other: object) -> Self:
        """Support `sum(models)`, which starts with 0."""
        return self if other == 0 else NotImplemented

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def classes_(self) -> Labels:
        """The class labels in their original type, sorted."""
        self._require_fitted()
        labels: Labels = self.classifier_.model.labels
        return labels

    @property
    def book_(self) -> Book:
        """The tallies of all columns and of the classes."""
        self._require_fitted()
        classifier = self.classifier_
        return classifier.book.with_classes(classifier.classes)

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """The log of the class prior."""
        self._require_fitted()
        log_prior: NDArray[np.float64] = self.classifier_.model.log_prior
        return log_prior

    def _require_fitted(self) -> None:
        if not hasattr(self, "classifier_"):
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classifier_")

    # -- answers -------------------------------------------------------------------------------------------------

    def _answers(self, X: object, answer: Callable[[C, Any], AnyArray]) -> AnyArray:
        """The result of a method of the classifier for X; a Dask DataFrame is processed one partition at a time."""
        if not is_dask_frame(X):
            batch = self._asked(X)
            return answer(self.classifier_, batch)
        now = copy.copy(self)  # one model for all partitions, even if another thread updates it meanwhile
        found = [answer(now.classifier_, now._asked(part)) for part in partitions_of(X) if len(part)]
        return np.concatenate(found) if found else answer(now.classifier_, now._asked(X))

    def predict(self, X: object) -> Labels:
        """The most probable class of each row."""
        return self._answers(X, lambda classifier, batch: classifier.predict(batch))

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """P(class | x), rows x classes."""
        return self._answers(X, lambda classifier, batch: classifier.posterior(batch))

    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """log P(class | x), rows x classes."""
        return self._answers(X, lambda classifier, batch: classifier.log_posterior(batch))

    def work(self, X: object, *, against: object = None) -> ClassWork:
        """The calculation for one row step by step: prior, likelihood, joint, evidence P(x), posterior and decision.

        It prints as text, shows as HTML in a notebook, and has `.html()`, `.latex()` and `.to_dict()`. Ratios of counts
        are exact fractions. The odds are those of the most probable class `against` another, or the next.

        >>> import bayesbox as bb
        >>> rows = {"outlook": ["sunny", "rainy", "rainy", "sunny"]}
        >>> clf = bb.NaiveBayes(smoothing="mle").fit(rows, ["no", "yes", "yes", "yes"])
        >>> print(clf.work({"outlook": "sunny"}))
        naive Bayes: class, given outlook=sunny
                                  no          yes
        P(class)                  1/4 = 0.25  3/4 = 0.75
        P(outlook=sunny | class)  1/1 = 1     1/3 = 0.3333333
        likelihood: P(x | class)  1           1/3 = 0.3333333
        joint: P(class, x)        1/4 = 0.25  1/4 = 0.25
        evidence: P(x) = 1/4 + 1/4 = 1/2 = 0.5
        posterior: joint / P(x)   1/2 = 0.5   1/2 = 0.5
        odds no : yes = 1
        so the class is no
        """
        batch = self._asked(X)
        if batch.rows != 1:
            raise BadData("the calculation shows one row", found=f"{batch.rows:,} rows", remedy="Pass one of them")
        other = None if against is None else self.classifier_.model.classes[self._place_of(against)]
        return self.classifier_.work(batch, against=other)

    def tables(self, most: int | None = MOST_ROWS, *, interval: float | None = None) -> PrintedTables:
        """The learned tables as textbooks print them: a mapping of tables by column, the prior as "P(class)".

        Ratios of counts are exact fractions that include the pseudo-counts of the smoothing rule. It prints as text,
        shows as HTML in a notebook, and has `.html()`, `.latex()` and `.to_dict()`. A longer table shows its `most`
        common rows and the number of the others; `most=None` shows all. `interval=0.95` adds credible intervals below
        each row of estimated probabilities, under the prior that the smoothing rule implies.

        >>> import bayesbox as bb
        >>> rows = {"heavy": ["No", "No", "Yes", "No", "Yes", "No", "No"]}
        >>> clf = bb.NaiveBayes().fit(rows, ["+", "+", "+", "-", "-", "-", "-"])
        >>> print(clf.tables())
        what was learned about class: naive Bayes
                              +                            -
        P(class)              3/7 = 0.4285714              4/7 = 0.5714286
        P(heavy=No | class)   (2 + 1)/(3 + 2) = 3/5 = 0.6  (3 + 1)/(4 + 2) = 2/3 = 0.6666667
        P(heavy=Yes | class)  (1 + 1)/(3 + 2) = 2/5 = 0.4  (1 + 1)/(4 + 2) = 1/3 = 0.3333333
        parameters: 3 free, 6 in total; P(x | class): 4 by naive Bayes, 4 by the full joint
        """
        check_is_fitted(self)
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1):
            raise BadOption("most must be a positive integer or None", found=most)
        return self.classifier_.tables(None if most is None else int(most), interval)

    def posterior_interval(
        self, X: object, level: float = 0.95, *, draws: int = 10_000, seed: int = 0
    ) -> IntervalTable:
        """Credible intervals of P(class | x) for one row, by class.

        Each probability that was estimated from counts is drawn `draws` times from its posterior, under the Dirichlet
        prior that the smoothing rule implies. The densities of numbers are fixed at their fitted values. It prints,
        shows as HTML and has `.to_frame()`; each entry is a pair (low, high) with its `.estimate`.

        >>> import bayesbox as bb
        >>> rows = {"outlook": ["sunny", "rainy", "rainy", "sunny"]}
        >>> few = bb.NaiveBayes().fit(rows, ["no", "yes", "yes", "yes"]).posterior_interval({"outlook": "sunny"})
        >>> many = bb.NaiveBayes().fit(rows | {"outlook": rows["outlook"] * 100}, ["no", "yes", "yes", "yes"] * 100)
        >>> sure = many.posterior_interval({"outlook": "sunny"})
        >>> few["no"].low < sure["no"].low < sure["no"].high < few["no"].high
        True
        """
        batch = self._asked(X)
        if batch.rows != 1:
            raise BadOption("an interval needs one row", found=f"{batch.rows:,} rows", remedy="Pass one: X.iloc[[0]]")
        return self.classifier_.posterior_interval(batch, level=level, draws=draws, seed=seed)

    def parameters(self) -> Parameters:
        """The number of parameters of the model, a named tuple.

        `free` counts the free parameters, `terms` all probabilities including the prior, as textbooks count them.
        `naive` and `joint` are the numbers of terms P(x | class) for the same columns under naive Bayes and under the
        full joint.

        >>> import bayesbox as bb
        >>> flags = [[0, 1, 0, 1, 1], [1, 0, 1, 0, 0], [1, 1, 1, 1, 0], [0, 0, 0, 1, 1]]
        >>> bb.NaiveBayes().fit(flags, ["a", "b", "a", "b"]).parameters()
        Parameters(free=11, terms=22, naive=20, joint=64)
        """
        check_is_fitted(self)
        return self.classifier_.parameters()

    def decide(
        self,
        X: object,
        *,
        costs: Costs | None = None,
        threshold: Mapping[Any, float] | None = None,
        abstain: float | None = None,
    ) -> Labels:
        """The decision of least expected cost for each row; None if no class has a probability of at least `abstain`.

        `costs` maps (true class, decision) to a cost; other pairs cost 1 if the decision is wrong, else 0.
        Alternatively, `threshold={class: p}` decides for the class if its probability is at least p, else for the most
        probable of the others.
        """
        now = copy.copy(self)  # its classes are fixed, even if another thread updates the model meanwhile
        posterior = now.predict_proba(X)
        classes = tuple(level_text(label) for label in now.classes_.tolist())
        if threshold is None:
            chosen = cheapest(posterior, cost_matrix({} if costs is None else costs, classes))
        elif costs is not None or not isinstance(threshold, Mapping) or len(threshold) != 1:
            raise BadOption(
                "choose one of costs and a threshold for one class", found=threshold, remedy="Write {class: 0.2}"
            )
        else:
            [(label, least)] = threshold.items()
            chosen = answers_at(posterior, now._place_of(label), least)
        answers: Labels = now.classes_[chosen]
        if abstain is None:
            return answers
        if not (isinstance(abstain, Real) and 0 <= abstain <= 1):
            raise BadOption("a probability must be between 0 and 1", found=abstain)
        answers = answers.astype(object)
        answers[posterior.max(axis=1) < abstain] = None
        return answers

    def best_threshold(self, X: object, y: object, label: object, *, metric: str = "f1") -> Threshold:
        """The threshold on P(label) that maximises a metric on held-out rows."""
        now = copy.copy(self)  # as in `decide`
        p = now.predict_proba(X)[:, now._place_of(label)]
        found = labels_from(y, len(p), now.classifier_.target_cuts)
        true = np.array([text == level_text(label) for text in found.levels], dtype=bool)[found.codes]
        return best_threshold(p, true, metric)

    def _place_of(self, label: object) -> int:
        """The index of a class."""
        return class_position(label, self.classes_.tolist())

    def joint_log_proba(self, X: object) -> NDArray[np.float64]:
        """log P(class, x), rows x classes."""
        return self._answers(X, lambda classifier, batch: classifier.joint_of_rows(batch))

    def leave_one_out(self, X: object, y: object) -> NDArray[np.float64]:
        """P(class | x) of each training row under the model of all other rows, without a refit."""
        batch = self._learned(X)
        return self.classifier_.leave_one_out(batch, labels_from(y, batch.rows, self.classifier_.target_cuts))

    def score(self, X: object, y: Any, sample_weight: object = None) -> float:
        """The accuracy; a numeric y is binned first if the model was trained on bins of its target."""
        cuts = self.classifier_.target_cuts if hasattr(self, "classifier_") else None
        if cuts is not None:
            labels = labels_from(y, len(labels_of(y)), cuts)
            y = [labels.levels[code] for code in labels.codes.tolist()]
        elif is_dask(y):
            y = y.compute()
        found: float = super().score(X, y, sample_weight)
        return found

    def with_prior(self, prior: Prior) -> Self:
        """The same model with another class prior: a dict, a list in the order of `classes_`, or "balanced"."""
        check_is_fitted(self)
        result = copy.copy(self)
        result.classifier_ = self.classifier_.with_prior(prior)
        result.prior = dict(prior) if isinstance(prior, Mapping) else prior
        return result
