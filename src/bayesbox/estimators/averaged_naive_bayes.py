"""`AveragedNaiveBayes`, a scikit-learn estimator over averaged naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from bayesbox.estimators.base import TableEstimator
from bayesbox.rule.smoothing import as_smoothing
from bayesbox.table.averaged.classifier import AveragedClassifier
from bayesbox.table.averaged.model import AveragedRules


class AveragedNaiveBayes(TableEstimator):
    """Naive Bayes averaged, exactly, over all sets of columns that may depend on the class.

    P(c, x) = P(c) times the product of w_j P(x_j | c) + (1 - w_j) P(x_j), at the cost of one naive Bayes.

    Parameters
    ----------
    inclusion : float
        The probability, before any row, that a column depends on the class.
    smoothing : "laplace", "lidstone:0.5" or "m:2", or such a rule
        The Dirichlet prior of levels.
    numeric : "gaussian", "student", or bins such as "mdl"
        The density of numbers; one without evidence is refused. "student" is surer of itself by no more than the rows
        allow, which shows in the probabilities where classes are thin.
    prior, prior_smoothing, unseen, columns, fold, calibration
        As in `NaiveBayes`.

    Examples
    --------
    >>> smoker = ["yes", "no"] * 20
    >>> day = ["odd", "odd", "even", "even"] * 10
    >>> clf = AveragedNaiveBayes().fit({"smoker": smoker, "day": day}, ["ill", "well"] * 20)
    >>> {name: round(weight, 3) for name, weight in clf.inclusion_.items()}
    {'smoker': 1.0, 'day': 0.273}
    """

    classifier_: AveragedClassifier

    def __init__(
        self,
        inclusion: float = 0.5,
        *,
        smoothing: Any = "laplace",
        prior_smoothing: Any = None,
        prior: Mapping[Any, float] | None = None,
        numeric: str = "gaussian",
        unseen: str = "smooth",
        columns: Mapping[Any, Any] | None = None,
        fold: Mapping[str, Sequence[str]] | None = None,
        calibration: str | None = None,
    ) -> None:
        self.inclusion = inclusion
        self.smoothing = smoothing
        self.prior_smoothing = prior_smoothing
        self.prior = prior
        self.numeric = numeric
        self.unseen = unseen
        self.columns = columns
        self.fold = fold
        self.calibration = calibration

    @property
    def inclusion_(self) -> dict[str, float]:
        """P(the column depends on the class | rows), by column."""
        self._require_fitted()
        return dict(self.classifier_.model.inclusion)

    def new_classifier(self) -> AveragedClassifier:
        """A classifier with this estimator's parameters that has learned nothing."""
        rules = AveragedRules(
            smoothing=as_smoothing(self.smoothing),
            prior_smoothing=None if self.prior_smoothing is None else as_smoothing(self.prior_smoothing),
            prior=self.prior,
            numeric=self.numeric,
            unseen=self.unseen,
            inclusion=self.inclusion,
        )
        return AveragedClassifier(rules, self.columns, self.fold)

    @classmethod
    def of_classifier(cls, classifier: AveragedClassifier) -> Self:
        """The estimator that would have made this classifier, and holds it."""
        rules = classifier.rules
        estimator = cls(
            rules.inclusion,
            smoothing=rules.smoothing,
            prior_smoothing=rules.prior_smoothing,
            prior=rules.prior,
            numeric=rules.numeric,
            unseen=rules.unseen,
            columns=classifier.declared,
            fold=classifier.fold or None,
        )
        return estimator.adopt(classifier)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
