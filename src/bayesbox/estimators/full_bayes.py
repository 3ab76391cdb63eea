"""`FullBayes`, a scikit-learn estimator over the full Bayes classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from bayesbox.estimators.base import TableEstimator
from bayesbox.rule.smoothing import as_smoothing
from bayesbox.table.full.classifier import FullClassifier
from bayesbox.table.full.model import FullRules


class FullBayes(TableEstimator):
    """The full Bayes classifier: P(all columns | class), nothing taken to be independent.

    Categories and flags have a joint table over their tuples, numbers a multivariate normal (divided by n), and where
    there are both, a tuple with rows enough has a normal of its own. A table that would not fit is refused with the
    number of its cells.

    Parameters
    ----------
    smoothing : rule or its name
        How the counts of tuples become probabilities: "laplace", "mle", "lidstone:0.5", "m:2".
    prior_smoothing : rule, its name, or None
        The same for the class prior; None takes the shares as they are.
    prior : mapping of label to probability, or None
        The class prior, if it is to be given.
    covariance : "full", "pooled" or "diagonal"
        A covariance a class, one for all classes (linear discriminant analysis), or none (naive Bayes' variances).
    shrink : "auto" or a number of rows
        Correlations of a class become those of its rows and of so many more that have the correlations within all
        classes. "auto" does so only to a class whose covariance is singular, and says so.
    enough : int or None
        The rows that a tuple in a class needs for a normal of its own; None is 5 * (numbers + 1).
    missing : "ignore" or "level"
        Sum a missing level out, or count it as a level of its own. A missing number is always integrated out.
    unseen : "smooth", "ignore" or "error"
        What a level that was never seen gets: the rule's answer to a count of 0, nothing, or an error.
    columns : mapping of column name or position to kind
        What a column is, where its type does not say it: `Category([...])`, `Real(floor=0.01)`, "flag".
    fold : mapping of a new name to a list of columns
        Flags of which each row sets one, to be taken as one category.
    calibration : "temperature", "isotonic", "dirichlet", "auto" or None
        As in `NaiveBayes`.

    Examples
    --------
    >>> clf = FullBayes(smoothing="mle").fit(
    ...     {"colour": ["red", "red", "blue", "blue"], "size": ["small", "large", "small", "large"]},
    ...     ["+", "-", "-", "+"])
    >>> clf.predict([{"colour": "blue", "size": "large"}])
    array(['+'], dtype='<U1')
    """

    classifier_: FullClassifier

    def __init__(
        self,
        *,
        smoothing: Any = "laplace",
        prior_smoothing: Any = None,
        prior: Mapping[Any, float] | None = None,
        covariance: str = "full",
        shrink: str | float = "auto",
        enough: int | None = None,
        missing: str = "ignore",
        unseen: str = "smooth",
        columns: Mapping[Any, Any] | None = None,
        fold: Mapping[str, Sequence[str]] | None = None,
        calibration: str | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.prior_smoothing = prior_smoothing
        self.prior = prior
        self.covariance = covariance
        self.shrink = shrink
        self.enough = enough
        self.missing = missing
        self.unseen = unseen
        self.columns = columns
        self.fold = fold
        self.calibration = calibration

    def new_classifier(self) -> FullClassifier:
        """A classifier with these parameters that has learned nothing."""
        rules = FullRules(
            smoothing=as_smoothing(self.smoothing),
            prior_smoothing=None if self.prior_smoothing is None else as_smoothing(self.prior_smoothing),
            prior=self.prior,
            covariance=self.covariance,
            shrink=self.shrink,
            enough=self.enough,
            missing=self.missing,
            unseen=self.unseen,
        )
        return FullClassifier(rules, self.columns, self.fold)

    @classmethod
    def of_classifier(cls, classifier: FullClassifier) -> Self:
        """The estimator that would have made this classifier, and holds it."""
        rules = classifier.rules
        estimator = cls(
            smoothing=rules.smoothing,
            prior_smoothing=rules.prior_smoothing,
            prior=rules.prior,
            covariance=rules.covariance,
            shrink=rules.shrink,
            enough=rules.enough,
            missing=rules.missing,
            unseen=rules.unseen,
            columns=classifier.declared,
            fold=classifier.fold or None,
        )
        return estimator.adopt(classifier)

    @property
    def notes_(self) -> tuple[str, ...]:
        """Which covariances had to be shrunk, and how."""
        self._require_fitted()
        notes: tuple[str, ...] = self.classifier_.model.notes
        return notes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
