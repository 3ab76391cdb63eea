"""`BayesOptimal`: the average of several hypotheses, each weighted by its posterior probability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesbox.classifier.answer.explanation import RowsExplanation
from bayesbox.classifier.one_writer import writing
from bayesbox.classifier.report.size import Parameters
from bayesbox.classifier.report.tables import MOST_ROWS
from bayesbox.classifier.table import TableClassifier
from bayesbox.errors import BadData, BadOption
from bayesbox.estimators.inputs import batch_from, labels_from, row_of
from bayesbox.estimators.method_docs import METHODS
from bayesbox.estimators.parameters import estimator
from bayesbox.estimators.questions import AsksQuestions
from bayesbox.estimators.shared.doc_link import DocLink
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.printed_tables import PrintedTables
from bayesbox.file.digest import model_digest
from bayesbox.file.lock import WAIT
from bayesbox.file.version import FromFile
from bayesbox.schema.levels import Labels, level_text
from bayesbox.schema.options import Options, option, options, required
from bayesbox.schema.parameters import HasParameters, describe_methods
from bayesbox.schema.takes import Takes
from bayesbox.source.base import Batch
from bayesbox.table.optimal.classifier import OptimalClassifier
from bayesbox.table.optimal.work import sum_over_hypotheses

Doubles = NDArray[np.float64]

WAYS = ("evidence", "leave-one-out")


@options
class HypothesesOptions(Options):
    """Trained classifiers and the weight of each."""

    hypotheses: Sequence[Any] = required(
        Takes("list of fitted classifiers"),
        kw_only=False,
        help="Anything with `predict_proba` and `classes_`. Their classes may differ.",
    )
    weights: Sequence[float] | str | None = option(
        Takes('list of numbers, "evidence", "leave-one-out", or None'),
        default=None,
        kw_only=False,
        help='P(h | D), up to a common factor; None gives all the same. "evidence": `prior` times the exponential of '
        '`log_evidence`. "leave-one-out": `fit(X, y)` takes the rows that the hypotheses have learned, and weights '
        "each by `prior` times the probability of all labels, every row judged by the model of the others.",
    )
    prior: Sequence[float] | None = option(
        Takes("list of numbers, or None"),
        default=None,
        help="P(h) before the rows, for both of these; None means all equal.",
    )
    log_evidence: Sequence[float] | None = option(Takes("list of numbers, or None"), default=None, help="log P(D | h).")


@estimator
@describe_methods(METHODS["BayesOptimal"])
class BayesOptimal(
    AsksQuestions,
    DocLink,
    FromFile,
    HasParameters,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    HypothesesOptions,
):
    """The Bayes optimal classifier: P(v | x) = sum over the hypotheses h of P(v | h, x) P(h | D).

    Examples
    --------
    >>> from bayesbox import NaiveBayes
    >>> says = lambda p: NaiveBayes.from_tables(prior={"+": p, "-": 1 - p}, tables={"x": {
    ...     "+": {"a": 0.5, "b": 0.5}, "-": {"a": 0.5, "b": 0.5}}})
    >>> optimal = BayesOptimal([says(1), says(0), says(0)], [0.4, 0.3, 0.3])
    >>> optimal.predict_proba([{"x": "a"}])
    array([[0.4, 0.6]])
    >>> optimal.predict([{"x": "a"}]), optimal.map_hypothesis_.predict([{"x": "a"}])
    (array(['-'], dtype='<U1'), array(['+'], dtype='<U1'))
    """

    def __post_init__(self) -> None:
        """Do nothing: parameters are checked on use, since scikit-learn requires them to be stored as given."""

    def fit(self, X: object, y: object) -> Self:
        """Compute the weights of the hypotheses from these rows, if `weights="leave-one-out"`.

        The hypotheses are not refitted: they must be fitted already, on these same rows for leave-one-out.
        """
        self._require_hypotheses()
        if self.weights == "leave-one-out":
            labels = [level_text(label) for label in np.asarray(y).tolist()]
            scores = [self._log_score(hypothesis, X, y, labels) for hypothesis in self.hypotheses]
            self._log_scores = np.array(scores)
        return self

    @staticmethod
    def _log_score(hypothesis: Any, X: Any, y: Any, labels: list[str]) -> float:
        if not hasattr(hypothesis, "leave_one_out"):
            raise BadOption(
                "this hypothesis has no leave_one_out", found=type(hypothesis).__name__, remedy="Pass its weight"
            )
        found = hypothesis.leave_one_out(X, y)
        place = {level_text(label): index for index, label in enumerate(hypothesis.classes_.tolist())}
        own = found[np.arange(len(labels)), [place[label] for label in labels]]
        with np.errstate(divide="ignore"):
            return float(np.log(own).sum())

    @property
    def weights_(self) -> Doubles:
        """P(h | D): the weights as probabilities."""
        count = self._require_hypotheses()
        if self.weights is None or not isinstance(self.weights, str):
            return _shares(_numbers(self.weights, count, "weight"), count, "weight")
        if self.weights not in WAYS:
            raise BadOption(f"weights must be numbers, or one of {', '.join(WAYS)}", found=self.weights)
        if self.weights == "evidence":
            if self.log_evidence is None:
                raise BadOption("weights='evidence' needs log_evidence, one per hypothesis")
            scores = _numbers(self.log_evidence, count, "log evidence")
        else:
            if not hasattr(self, "_log_scores"):
                raise BadData("weights='leave-one-out' needs the training rows: call fit(X, y)")
            scores = self._log_scores
        if scores.shape != (count,) or np.isnan(scores).any() or not np.isfinite(scores.max()):
            raise BadOption(
                "log_evidence must have one number per hypothesis, at least one of them finite", found=scores.tolist()
            )
        prior = _shares(_numbers(self.prior, count, "prior"), count, "prior")
        return _shares(prior * np.exp(scores - scores[prior > 0].max()), count, "weight")

    @property
    def map_hypothesis_(self) -> Any:
        """The most probable (MAP) hypothesis; the first in case of a tie."""
        return self.hypotheses[int(np.argmax(self.weights_))]

    @property
    def classes_(self) -> Labels:
        """The union of the classes of all hypotheses, sorted."""
        self._require_hypotheses()
        labels = np.concatenate([np.asarray(each.classes_) for each in self.hypotheses])
        return np.unique(labels)

    def predict_proba(self, X: object) -> Doubles:
        """P(class | x), rows x classes."""
        weights, labels = self.weights_, self.classes_
        total: Doubles | None = None
        for weight, hypothesis in zip(weights.tolist(), self.hypotheses, strict=True):
            found = np.asarray(hypothesis.predict_proba(X))
            place = np.searchsorted(labels, np.asarray(hypothesis.classes_))
            if total is None:
                total = np.zeros((len(found), len(labels)))
            total[:, place] += weight * found
        assert total is not None
        return total

    def predict(self, X: object) -> Labels:
        """The class with the highest weighted average probability; the first in case of a tie."""
        best: Labels = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return best

    def leave_one_out(self, X: object, y: object) -> Doubles:
        """P(class | x) of each training row by every hypothesis without that row; the weights do not change."""
        batch = batch_from(X)
        return self._classifier().leave_one_out(batch, labels_from(y, batch.rows))

    def explain(self, X: object) -> RowsExplanation:
        """The contribution of each column: terms that sum to log P(class | x)."""
        found: RowsExplanation = self._classifier().explain_rows(self._asked(X))
        return found

    @property
    def classifier_(self) -> OptimalClassifier:
        """The hypotheses combined in one classifier.

        >>> from bayesbox import NaiveBayes
        >>> clf = NaiveBayes().fit({"car": ["suv", "van"]}, ["a", "b"])
        >>> BayesOptimal([clf, clf]).classifier_.title
        'Bayes optimal'
        """
        return self._classifier()

    def _asked(self, X: object) -> Batch:
        return batch_from(row_of(X, self._classifier().feature_names))

    _learned = _asked

    def work(self, X: object) -> ClassWork:
        """The calculation for one row step by step: the sum over the hypotheses, compared with the MAP hypothesis.

        It prints as text, shows as HTML in a notebook, and has `.html()`, `.latex()` and `.to_dict()`.
        """
        if isinstance(X, Mapping):
            X = row_of(X, list(X))
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        answers = []
        for hypothesis in self.hypotheses:
            found = np.asarray(hypothesis.predict_proba(X))
            if len(found) != 1:
                raise BadData("the calculation shows one row", found=f"{len(found):,} rows", remedy="Pass one of them")
            row = [0.0] * len(places)
            for label, p in zip(hypothesis.classes_.tolist(), found[0].tolist(), strict=True):
                row[places[label]] = p
            answers.append(row)
        names = [type(each).__name__ for each in self.hypotheses]
        classes = tuple(level_text(label) for label in places)
        return sum_over_hypotheses("Bayes optimal", classes, names, self.weights_.tolist(), answers)

    def tables(self, most: int | None = MOST_ROWS) -> PrintedTables:
        """The tables of all hypotheses, named "model 1: ..." and so on."""
        return self._classifier().tables(most)

    def parameters(self) -> Parameters:
        """The number of parameters of all hypotheses in total."""
        return self._classifier().parameters()

    def save(self, path: str | PathLike[str], *, overwrite: bool = False, wait: float = WAIT) -> None:
        """Write the hypotheses and their weights to a file; `bayesbox.load` reads it.

        If another process has changed the file since it was loaded, `ModelChanged` is raised, unless `overwrite` is
        true. If another process is writing the file, `save` waits for at most `wait` seconds.
        """
        with writing(self):
            self._save(self._classifier(), path, overwrite=overwrite, wait=wait)

    def digest(self) -> str:
        """The SHA-256 of the hypotheses and their weights."""
        return model_digest(self._classifier())

    @classmethod
    def _of_classifier(cls, classifier: OptimalClassifier) -> Self:
        """The estimator of a model that was trained by the command or loaded from a file."""
        from bayesbox.estimators.train import estimator_of

        hypotheses = []
        for each in classifier.known.classifiers:
            own = each.changed(one_hot=dict(classifier.one_hot))
            hypotheses.append(own if classifier.rules.prior is None else own.with_prior(classifier.prior_for(own)))
        return cls([estimator_of(each) for each in hypotheses], list(classifier.known.weights))

    def _classifier(self) -> OptimalClassifier:
        """The hypotheses as one table classifier; every hypothesis must be a bayesbox classifier of tables."""
        self._require_hypotheses()
        for each in self.hypotheses:
            if not isinstance(getattr(each, "classifier_", None), TableClassifier):
                raise BadOption(
                    "to save or explain it, every hypothesis must be a fitted bayesbox classifier of tables",
                    found=type(each).__name__,
                )
        return OptimalClassifier.of([each.classifier_ for each in self.hypotheses], self.weights_.tolist())

    def __sklearn_is_fitted__(self) -> bool:
        return self.weights != "leave-one-out" or hasattr(self, "_log_scores")

    def _require_hypotheses(self) -> int:
        if not isinstance(self.hypotheses, Sequence) or not self.hypotheses:
            raise BadOption("hypotheses must be a list of at least one classifier", found=self.hypotheses)
        for number, each in enumerate(self.hypotheses, start=1):
            if not hasattr(each, "predict_proba"):
                raise BadOption(
                    "a hypothesis must be a fitted classifier with predict_proba", found=type(each).__name__
                )
            if not hasattr(each, "classes_"):
                raise BadOption(
                    f"hypothesis {number} is not fitted",
                    found=type(each).__name__,
                    remedy="Call its fit first",
                )
        return len(self.hypotheses)


def _numbers(given: object, count: int, what: str) -> Doubles:
    """One number per hypothesis; 1 for each if none were given."""
    try:
        return np.ones(count) if given is None else np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadOption(f"{what} must have one number per hypothesis", found=given) from None


def _shares(given: Doubles, count: int, what: str) -> Doubles:
    """Numbers divided by their sum."""
    if given.shape != (count,):
        raise BadOption(f"there must be one {what} per hypothesis, in a list", found=f"shape {given.shape} for {count}")
    if not (np.isfinite(given).all() and (given >= 0).all() and math.fsum(given) > 0):
        raise BadOption(
            f"each {what} must be finite and non-negative, with at least one positive", found=given.tolist()
        )
    shares: Doubles = given / math.fsum(given)
    return shares
