"""`AutoBayes`, a scikit-learn estimator over the pool of all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from bayesbox.estimators.base import TableEstimator
from bayesbox.estimators.inputs import categories_of
from bayesbox.explain.reliability import aligned
from bayesbox.table.auto.classifier import BUDGET, AutoClassifier, AutoRules


class AutoBayes(TableEstimator):
    """The best of all models: judged on rows they have not seen, pooled by log loss, calibrated by the same.

    Parameters
    ----------
    budget : seconds of one core
        What is learned within it follows from the size of the table, not from the clock.
    seed : whole number
        Of all draws: the same rows, seed and budget give the same model.
    prior : mapping of label to probability, or None
        The base rate of the classes, if it is another than that of the rows.
    columns : mapping of column name or position to kind
        What a column is, where its type does not say it.
    fold : mapping of a new name to a list of columns
        Flags of which each row sets one, to be taken as one category.
    classes : list of labels, or None
        Classes that there may be beside those of the rows: they share one row, so that no answer is impossible.
        By default the categories of a categorical `y`.

    Examples
    --------
    >>> rows = {"size": [1.0, 1.2, 0.9, 1.1, 3.0, 3.2, 2.9, 3.1] * 3, "colour": ["red", "blue"] * 12}
    >>> clf = AutoBayes(budget=1).fit(rows, (["small"] * 4 + ["large"] * 4) * 3)
    >>> clf.predict([{"size": 3.05, "colour": "red"}, {"size": None, "colour": "red"}])[0]
    np.str_('large')
    """

    classifier_: AutoClassifier

    def __init__(
        self,
        *,
        budget: float = BUDGET,
        seed: int = 0,
        prior: Mapping[Any, float] | None = None,
        columns: Mapping[Any, Any] | None = None,
        fold: Mapping[str, Sequence[str]] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> None:
        self.budget = budget
        self.seed = seed
        self.prior = prior
        self.columns = columns
        self.fold = fold
        self.classes = classes

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn, judge and pool the models."""
        super().fit(X, y, sample_weight)
        classes = categories_of(y) if self.classes is None else self.classes
        if classes is not None:
            self.declare(classes)
        return self

    def new_classifier(self) -> AutoClassifier:
        """A classifier with this estimator's parameters that has learned nothing."""
        return AutoClassifier(AutoRules(self.budget, self.seed, self.prior), self.columns, self.fold)

    @classmethod
    def of_classifier(cls, classifier: AutoClassifier) -> Self:
        """The estimator that would have made this classifier, and holds it."""
        rules = classifier.rules
        return cls(
            budget=rules.budget,
            seed=rules.seed,
            prior=rules.prior,
            columns=classifier.declared,
            fold=classifier.fold or None,
            classes=(classifier.schema and classifier.schema.classes) or None,
        ).adopt(classifier)

    @property
    def partial_fit(self) -> Any:
        """There is none: what is derived needs all rows."""
        raise AttributeError("AutoBayes derives its models from all rows: fit it again with the rows that are to count")

    def report(self) -> str:
        """What was tried, how it did on rows it had not seen, and what takes part."""
        self._require_fitted()
        return report_of(self.classifier_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def report_of(classifier: AutoClassifier) -> str:
    """The models that were judged as a table, and the pool."""
    pool = classifier.derived
    assert pool is not None
    rows = [["model", "log loss", "accuracy", "power"]]
    for each in pool.judged:
        power = f"{each.power:.2f}" if each.power else "let go"
        rows.append([each.name, f"{each.log_loss:.4f}", f"{each.accuracy:.4f}", power])
    if pool.pooled is not None:
        rows.append(["all together", f"{pool.pooled.log_loss:.4f}", f"{pool.pooled.accuracy:.4f}", ""])
    lines = aligned(rows, right=(1, 2, 3))
    return "\n".join([*lines, f"  {told}"] if (told := classifier.told_left_out()) else lines)
