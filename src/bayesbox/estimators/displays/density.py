"""`DensityDisplay`: the density of a column in each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesbox.display.picture import Picture
from bayesbox.errors import BadOption
from bayesbox.estimators.displays.base import COLORS, PlotDisplay
from bayesbox.estimators.method_docs import METHODS
from bayesbox.explain.density_picture import POINTS, Panel, density_svg
from bayesbox.schema.parameters import describe_methods
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.table.naive.densities import panels_of

STYLES = ("-", "--", ":", "-.")


@describe_methods(METHODS["DensityDisplay"])
class DensityDisplay(PlotDisplay):
    """The density of a numeric column, one curve per class; several densities are drawn side by side.

    Examples
    --------
    >>> import bayesbox as bb
    >>> clf = bb.NaiveBayes().fit({"age": [20.0, 25.0, 31.0, 44.0, 50.0, 61.0]}, ["no"] * 3 + ["yes"] * 3)
    >>> bb.DensityDisplay.from_estimator(clf, "age")
    DensityDisplay(age in 2 classes)
    """

    def __init__(
        self, column: str, classes: Sequence[str], panels: Sequence[Panel], value_range: tuple[float, float]
    ) -> None:
        self.column = column
        self.classes = tuple(classes)
        self.panels = tuple(panels)
        self.range = value_range

    @classmethod
    def from_estimator(
        cls, estimator: Any, column: object, *, densities: Sequence[str] | None = None, ax: Any = None
    ) -> DensityDisplay:
        """The display of a fitted `NaiveBayes`: the density in use, or those named in `densities`."""
        check_is_fitted(estimator)
        classifier = getattr(estimator, "classifier_", None)
        if not isinstance(classifier, NaiveClassifier):
            raise BadOption("densities can be drawn for NaiveBayes only", found=type(estimator).__name__)
        panels, span = panels_of(classifier, str(column), densities)
        return cls(str(column), classifier.model.classes, panels, span)._plotted_on(ax)

    def svg(self) -> Picture:
        """The curves as SVG, one panel per density."""
        return Picture(density_svg(self.column, self.panels, self.classes, *self.range), f"density of {self.column}")

    def _curves(self) -> list[tuple[str, Any, Any]]:
        drawn = [(panel.title, panel.density) for panel in self.panels if panel.density is not None]
        return [(title, *density.curve(*self.range, POINTS)) for title, density in drawn]

    def _draw(self, ax: Any) -> None:
        curves = self._curves()
        for place, (title, x, heights) in enumerate(curves):
            for index, name in enumerate(self.classes):
                label = name if len(curves) == 1 else f"{name}, {title}"
                style = STYLES[place % len(STYLES)]
                ax.plot(x, heights[:, index], style, color=COLORS[index % len(COLORS)], label=label)
        ax.set(xlabel=self.column, ylabel="density")
        ax.legend()

    def _headline(self) -> str:
        return f"DensityDisplay({self.column} in {len(self.classes)} classes)"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        found: dict[str, list[Any]] = {"density": [], "class": [], self.column: [], "height": []}
        for title, x, heights in self._curves():
            for index, name in enumerate(self.classes):
                found["density"] += [title] * len(x)
                found["class"] += [name] * len(x)
                found[self.column] += np.asarray(x).tolist()
                found["height"] += heights[:, index].tolist()
        return found
