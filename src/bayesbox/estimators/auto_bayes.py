"""`AutoBayes`, a scikit-learn estimator over a weighted pool of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from bayesbox.display.blocks import Block, TableBlock, TextBlock
from bayesbox.display.progress import require_progress
from bayesbox.display.result import Result
from bayesbox.display.text import as_text
from bayesbox.estimators.base import TableEstimator
from bayesbox.estimators.inputs import categories_of
from bayesbox.estimators.method_docs import METHODS
from bayesbox.estimators.parameters import estimator
from bayesbox.schema.options import option
from bayesbox.schema.parameters import describe_methods
from bayesbox.schema.takes import OnOff, Takes
from bayesbox.table.auto.classifier import AutoClassifier
from bayesbox.table.auto.options import AutoOptions
from bayesbox.table.auto.pool import TriedMember


@estimator
@describe_methods(METHODS["AutoBayes"])
class AutoBayes(TableEstimator[AutoClassifier], AutoOptions):
    """A weighted pool of several models, weighted by held-out log loss and calibrated on the same held-out rows.

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
        help="Classes that may occur besides those of the rows: together they get the weight of one row, so that no "
        "class is impossible. By default the categories of a categorical y.",
    )

    verbose: bool = option(
        OnOff(), default=False, help="Print progress: what is being learned, the share done and the time left."
    )
    progress: Callable[[float, float | None, str], object] | None = option(
        Takes("function, or None"),
        default=None,
        help="A callback for progress bars, called with the share done (0 to 1), the seconds left (None if unknown) "
        "and what is being learned.",
    )

    def _watch(self, classifier: AutoClassifier) -> None:
        """Attach the progress callback or the printed progress to a classifier."""
        require_progress(self.progress)
        printed = PrintedProgress() if self.verbose else None
        given = [report for report in (self.progress, printed) if report is not None]
        if given:
            classifier.on_progress = lambda *news: [report(*news) for report in given]

    def _adopt(self, classifier: AutoClassifier) -> Self:
        """Adopt a classifier that was trained elsewhere."""
        classifier.on_progress = None
        return super()._adopt(classifier)

    def fit(self, X: Any, y: object, sample_weight: object = None) -> Self:
        """Train the models, evaluate them on held-out rows, and pool them."""
        super().fit(X, y, sample_weight)
        self.classifier_.on_progress = None
        classes = categories_of(y) if self.classes is None else self.classes
        if classes is not None:
            self._declare(classes)
        return self

    @classmethod
    def _of_classifier(cls, classifier: AutoClassifier, **more: Any) -> Self:
        """The estimator with this classifier's options, fitted with it."""
        classes = classifier.schema.classes if classifier.schema else ()
        return super()._of_classifier(classifier, classes=classes or None, **more)

    @property
    def partial_fit(self) -> Any:
        """Not supported: the derived parts need all rows."""
        raise AttributeError("AutoBayes cannot be updated, since its models are derived from all rows: fit it again")

    def report(self) -> PoolReport:
        """The models tried, with their held-out log loss and their weights in the pool.

        The report is a string that also shows as HTML in a notebook and has `.to_frame()`.
        """
        self._require_fitted()
        return PoolReport.of(self.classifier_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


class PrintedProgress:
    """Print progress, one line for each model.

    >>> shown = PrintedProgress()
    >>> shown(0.25, 3.2, "trees")
    AutoBayes  25 %, about 3 s left: trees
    >>> shown(0.3, 3.0, "trees")
    """

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, share: float, left: float | None, what: str) -> None:
        if what != self._last:
            self._last = what
            time_left = f", about {left:.0f} s left" if left else ""
            print(f"AutoBayes {100 * share:3.0f} %{time_left}: {what}", flush=True)


class PoolReport(Result, str):
    """The evaluated models and the pool, as a text that also shows as HTML and has `.to_frame()`."""

    judged: tuple[TriedMember, ...]
    together: TriedMember | None
    note: str

    @classmethod
    def of(cls, classifier: AutoClassifier) -> PoolReport:
        """The report of a fitted AutoBayes."""
        pool = classifier.derived
        assert pool is not None
        note = classifier.omitted_note()
        blocks = _report_blocks(pool.judged, pool.pooled)
        lines = as_text("", blocks)
        found = cls(f"{lines}\n  {note}" if note else lines)
        found.judged, found.together, found.note = pool.judged, pool.pooled, note
        return found

    def _headline(self) -> str:
        kept = sum(bool(each.power) for each in self.judged)
        pooled = "" if self.together is None else f", log loss {self.together.log_loss:.4f} combined"
        return f"PoolReport({len(self.judged)} models evaluated, {kept} kept{pooled})"

    def _blocks(self) -> Sequence[Block]:
        return [*_report_blocks(self.judged, self.together), *([TextBlock(self.note)] if self.note else [])]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {
            "model": [each.name for each in self.judged],
            "log loss": [each.log_loss for each in self.judged],
            "accuracy": [each.accuracy for each in self.judged],
            "weight": [each.power for each in self.judged],
        }

    def __str__(self) -> str:
        return str.__str__(self)


def _report_blocks(judged: Sequence[TriedMember], together: TriedMember | None) -> list[Block]:
    rows = []
    for each in judged:
        weight = f"{each.power:.2f}" if each.power else "dropped"
        rows.append([each.name, f"{each.log_loss:.4f}", f"{each.accuracy:.4f}", weight])
    if together is not None:
        rows.append(["combined", f"{together.log_loss:.4f}", f"{together.accuracy:.4f}", ""])
    return [TableBlock(["model", "log loss", "accuracy", "weight"], rows, right=(1, 2, 3))]
