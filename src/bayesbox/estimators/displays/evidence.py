"""`EvidenceDisplay`: the evidence of each column of one row for a class."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayesbox.display.picture import Picture
from bayesbox.errors import BadData, BadOption
from bayesbox.estimators.displays.base import COLORS, PlotDisplay
from bayesbox.estimators.inputs import one_row
from bayesbox.estimators.method_docs import METHODS
from bayesbox.explain.evidence import Explanation
from bayesbox.explain.svg_text import safe
from bayesbox.schema.levels import level_text
from bayesbox.schema.parameters import describe_methods

TOP = 10
NAMES, BARS, NUMBERS, LINE, HEAD = 190, 300, 70, 22, 40  # the layout of the picture in pixels


@describe_methods(METHODS["EvidenceDisplay"])
class EvidenceDisplay(PlotDisplay):
    """Bars that show what each column of one row adds to the log-odds of two classes, the longest first.

    Examples
    --------
    >>> import bayesbox as bb
    >>> clf = bb.NaiveBayes().fit({"sex": ["male", "male", "female", "female"]}, ["no", "no", "yes", "no"])
    >>> bb.EvidenceDisplay.from_estimator(clf, {"sex": "female"})
    EvidenceDisplay(no against yes, log-odds +0.59)
    """

    def __init__(self, label: str, against: str, names: Sequence[str], log_odds: Sequence[float]) -> None:
        self.label = label
        self.against = against
        self.names = tuple(names)
        self.log_odds = tuple(log_odds)

    @classmethod
    def from_estimator(
        cls, estimator: Any, row: Any, *, label: object = None, against: object = None, top: int = TOP, ax: Any = None
    ) -> EvidenceDisplay:
        """The display of one row; `label` is the most probable class by default, `against` the next most probable.

        The `top` columns have a bar each; the others share one.
        """
        rows = one_row(row)
        found = estimator.explain(rows)
        if not isinstance(found, Explanation):
            raise BadOption("evidence can be drawn for models of tables only", found=type(estimator).__name__)
        if len(found) != 1:
            raise BadData("evidence is drawn for one row", found=f"{len(found):,} rows", remedy="Pass one of them")
        labels = [level_text(each) for each in found.labels.tolist()]
        order = [labels[place] for place in np.argsort(-found.joint()[0], kind="stable")]
        chosen = order[0] if label is None else level_text(label)
        other = next(each for each in order if each != chosen) if against is None else level_text(against)
        odds = found.column_odds(chosen, other)[0]
        ranked = sorted(zip(found.columns, odds.tolist(), strict=True), key=lambda each: -abs(each[1]))
        bars = [("(prior)", float(found.prior[found.position(chosen)] - found.prior[found.position(other)]))]
        known = rows[0] if isinstance(rows, list) and isinstance(rows[0], Mapping) else {}
        bars += [(_named(name, known.get(name)), value) for name, value in ranked[:top] if value]
        rest = [value for _, value in ranked[top:] if value]
        bars += [(f"{len(rest)} other columns", sum(rest))] if rest else []
        return cls(chosen, other, [name for name, _ in bars], [value for _, value in bars])._plotted_on(ax)

    def svg(self) -> Picture:
        """The bars as SVG."""
        return Picture("\n".join(self._svg_lines()) + "\n", f"evidence for {self.label} against {self.against}")

    def _svg_lines(self) -> Iterator[str]:
        width, height = NAMES + BARS + NUMBERS, HEAD + LINE * len(self.names) + 10
        longest = max((abs(value) for value in self.log_odds if math.isfinite(value)), default=0.0) or 1.0
        middle = NAMES + BARS / 2
        title = f"log-odds of {self.label} against {self.against}"
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'role="img" font-family="sans-serif" font-size="12">'
        )
        yield f"<title>{safe(title)}</title>"
        yield f'<rect width="{width}" height="{height}" fill="white"/>'
        yield f'<text x="8" y="20" font-size="13" font-weight="bold" fill="#222">{safe(title)}</text>'
        for place, (name, value) in enumerate(zip(self.names, self.log_odds, strict=True)):
            y = HEAD + LINE * place
            length = BARS / 2 * min(abs(value) / longest, 1.0)
            color, x = (COLORS[0], middle) if value >= 0 else (COLORS[1], middle - length)
            short = name if len(name) <= 26 else f"{name[:25]}…"
            yield f'<text x="8" y="{y + 13}" fill="#222">{safe(short)}</text>'
            yield f'<rect x="{x:.1f}" y="{y + 3}" width="{length:.1f}" height="{LINE - 8}" fill="{color}"/>'
            yield f'<text x="{width - 8}" y="{y + 13}" text-anchor="end" fill="#222">{value:+.2f}</text>'
        bottom = HEAD + LINE * len(self.names)
        yield f'<line x1="{middle}" y1="{HEAD}" x2="{middle}" y2="{bottom}" stroke="#666"/>'
        yield "</svg>"

    def _draw(self, ax: Any) -> None:
        finite = [value if math.isfinite(value) else math.copysign(700.0, value) for value in self.log_odds]
        ax.barh(range(len(finite)), finite, color=[COLORS[0] if value >= 0 else COLORS[1] for value in finite])
        ax.set_yticks(range(len(self.names)), self.names)
        ax.invert_yaxis()
        ax.axvline(0, color="gray", linewidth=0.8)
        ax.set(xlabel=f"log-odds of {self.label} against {self.against}")

    def _headline(self) -> str:
        return f"EvidenceDisplay({self.label} against {self.against}, log-odds {sum(self.log_odds):+.2f})"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {"column": list(self.names), "log_odds": list(self.log_odds)}


def _named(column: str, value: object) -> str:
    return column if value is None else f"{column} = {level_text(value)}"
