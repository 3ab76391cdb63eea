"""`AutoBayes`, a scikit-learn estimator over the pool of all models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from bayesbox.estimators.base import TableEstimator
from bayesbox.estimators.inputs import categories_of
from bayesbox.estimators.parameters import estimator
from bayesbox.explain.reliability import aligned
from bayesbox.schema.options import option
from bayesbox.schema.takes import Takes
from bayesbox.table.auto.classifier import AutoClassifier
from bayesbox.table.auto.options import AutoOptions


@estimator
class AutoBayes(TableEstimator[AutoClassifier], AutoOptions):
    """The best of all models: judged on rows they have not seen, pooled by log loss, calibrated by the same.

    Examples
    --------
    >>> rows = {"size": [1.0, 1.2, 0.9, 1.1, 3.0, 3.2, 2.9, 3.1] * 3, "colour": ["red", "blue"] * 12}
    >>> clf = AutoBayes(budget=1).fit(rows, (["small"] * 4 + ["large"] * 4) * 3)
    >>> clf.predict([{"size": 3.05, "colour": "red"}, {"size": None, "colour": "red"}])[0]
    np.str_('large')
    """

    classifier_type = AutoClassifier

    classes: Sequence[Any] | None = option(
        Takes("list of labels, or None"),
        default=None,
        help="Classes that there may be beside those of the rows: they share one row, so that no answer is impossible. "
        "By default the categories of a categorical y.",
    )

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn, judge and pool the models."""
        super().fit(X, y, sample_weight)
        classes = categories_of(y) if self.classes is None else self.classes
        if classes is not None:
            self.declare(classes)
        return self

    @classmethod
    def of_classifier(cls, classifier: AutoClassifier, **more: Any) -> Self:
        """The estimator that would have made this classifier, and holds it."""
        classes = classifier.schema.classes if classifier.schema else ()
        return super().of_classifier(classifier, classes=classes or None, **more)

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
