"""`NomogramDisplay`: what each value adds to the log-odds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bayesbox.display.picture import Picture
from bayesbox.errors import BadOption
from bayesbox.estimators.displays.base import COLORS, PlotDisplay
from bayesbox.estimators.method_docs import METHODS
from bayesbox.explain.nomogram import Nomogram
from bayesbox.schema.parameters import describe_methods


@describe_methods(METHODS["NomogramDisplay"])
class NomogramDisplay(PlotDisplay):
    """A nomogram: one scale per column that shows what each value adds to the log-odds of two classes.

    Examples
    --------
    >>> import bayesbox as bb
    >>> clf = bb.NaiveBayes().fit({"sex": ["male", "male", "female", "female"]}, ["no", "no", "yes", "no"])
    >>> bb.NomogramDisplay.from_estimator(clf, "yes")
    NomogramDisplay(yes against no, 1 columns)
    """

    def __init__(self, nomogram: Nomogram) -> None:
        self.nomogram = nomogram

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        label: object = None,
        against: object = None,
        *,
        row: object = None,
        top: int = 10,
        ax: Any = None,
    ) -> NomogramDisplay:
        """The display of a fitted `NaiveBayes`; the parameters are those of its method `nomogram`."""
        if not hasattr(estimator, "nomogram"):
            raise BadOption("a nomogram can be drawn for NaiveBayes only", found=type(estimator).__name__)
        return cls(estimator.nomogram(label, against, row=row, top=top))._plotted_on(ax)

    def svg(self) -> Picture:
        """The nomogram as SVG."""
        return self.nomogram.svg()

    def _draw(self, ax: Any) -> None:
        rulers = self.nomogram.rulers
        for place, ruler in enumerate(rulers):
            marks = [mark for mark in ruler.marks if math.isfinite(mark.log_odds)]
            if not marks:
                continue
            x = [mark.log_odds for mark in marks]
            ax.plot([min(x), max(x)], [place, place], color=COLORS[0])
            ax.plot(x, [place] * len(x), "|", color=COLORS[0], markersize=9)
            for number, mark in enumerate(sorted(marks, key=lambda each: each.log_odds)):
                shift, align = (7, "bottom") if number % 2 else (-7, "top")
                ax.annotate(
                    mark.label, (mark.log_odds, place), xytext=(0, shift), textcoords="offset points", ha="center",
                    va=align, fontsize=7,
                )  # fmt: skip
            if ruler.own is not None and math.isfinite(ruler.own.log_odds):
                ax.plot([ruler.own.log_odds], [place], "o", color=COLORS[1])
        ax.axvline(0, color="gray", linewidth=0.8)
        ax.set_yticks(range(len(rulers)), [ruler.column for ruler in rulers])
        ax.invert_yaxis()
        ax.set(xlabel=f"log-odds of {self.nomogram.label} against {self.nomogram.against}")

    def _headline(self) -> str:
        found = self.nomogram
        return f"NomogramDisplay({found.label} against {found.against}, {len(found.rulers)} columns)"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return self.nomogram._frame()
