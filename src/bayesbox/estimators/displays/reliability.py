"""`ReliabilityDisplay`: how well the probabilities are calibrated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesbox.display.picture import Picture
from bayesbox.errors import BadData
from bayesbox.estimators.displays.base import COLORS, PlotDisplay
from bayesbox.estimators.inputs import labels_from
from bayesbox.estimators.method_docs import METHODS
from bayesbox.explain.reliability import reliability_svg
from bayesbox.schema.levels import level_text
from bayesbox.schema.parameters import describe_methods
from bayesbox.stat.metrics import BINS, Bin, measure, scored


@describe_methods(METHODS["ReliabilityDisplay"])
class ReliabilityDisplay(PlotDisplay):
    """The reliability diagram: the accuracy of predictions against their confidence, one point per bin.

    Examples
    --------
    >>> import bayesbox as bb
    >>> shown = bb.ReliabilityDisplay.from_predictions(["no", "yes", "yes", "no"], [0.2, 0.9, 0.7, 0.6], bins=5)
    >>> shown
    ReliabilityDisplay(4 rows in 3 bins)
    >>> shown.svg()[:4]
    '<svg'
    """

    def __init__(self, bins: Sequence[Bin], name: str = "Reliability") -> None:
        self.bins = tuple(bins)
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, bins: int = BINS, ax: Any = None
    ) -> ReliabilityDisplay:
        """The display of a fitted classifier on held-out rows; `bb.evaluate(...).svg()` cross-validates."""
        classes = [level_text(label) for label in np.asarray(estimator.classes_).tolist()]
        given = {"sample_weight": sample_weight, "bins": bins, "ax": ax, "classes": classes}
        return cls.from_predictions(y, estimator.predict_proba(X), name=type(estimator).__name__, **given)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        classes: Sequence[Any] | None = None,
        sample_weight: Any = None,
        bins: int = BINS,
        name: str = "Reliability",
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """The display of predicted probabilities: rows x `classes` (sorted by default), or P(second class) for two
        classes."""
        p = np.asarray(y_prob, dtype=np.float64)
        p = np.column_stack([1 - p, p]) if p.ndim == 1 else p
        labels = labels_from(y_true, len(p))
        known = sorted(labels.levels) if classes is None else [level_text(each) for each in classes]
        if p.shape[1] != len(known):
            raise BadData(
                f"there are {p.shape[1]} columns of probabilities, but {len(known)} classes",
                remedy="Name the classes in the order of the columns: classes=[...]",
            )
        with np.errstate(divide="ignore"):
            found = measure(scored(np.log(p), labels, known, weights=sample_weight, bins=bins))
        return cls(found.bins, name)._plotted_on(ax)

    def svg(self) -> Picture:
        """The reliability diagram as SVG."""
        return Picture(reliability_svg(self.bins, self.name), "reliability diagram")

    def _draw(self, ax: Any) -> None:
        filled = [each for each in self.bins if each.n]
        x, y = [each.confidence for each in filled], [each.accuracy for each in filled]
        below = [each.accuracy - each.low for each in filled]
        above = [each.high - each.accuracy for each in filled]
        ax.plot([0, 1], [0, 1], linestyle=":", color="gray", label="perfectly calibrated")
        ax.errorbar(x, y, yerr=[below, above], fmt="o", color=COLORS[0], capsize=2, label=self.name)
        ax.set(xlabel="confidence: P(predicted class)", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
        ax.legend(loc="upper left")

    def _headline(self) -> str:
        filled = [each for each in self.bins if each.n]
        return f"ReliabilityDisplay({sum(each.n for each in filled):,} rows in {len(filled)} bins)"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {name: [getattr(each, name) for each in self.bins] for name in Bin._fields}
