"""The nomogram of naive Bayes: one ruler per column, with each value placed at its contribution to the log-odds.

Between two classes naive Bayes is a sum,

    log P(c | x) / P(d | x)  =  log P(c) / P(d)  +  sum_j log P(x_j | c) / P(x_j | d)

so a row can be evaluated by hand: read off the contribution of each value, add the prior, and look up the probability
of the total (Mozina, Demsar, Kattan and Zupan, "Nomograms for Visualization of Naive Bayesian Classifier", 2004). This
module has the numbers; `nomogram_picture` and `nomogram_text` draw them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesbox.display.blocks import Block, PictureBlock
from bayesbox.display.picture import Picture
from bayesbox.display.result import Result

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

EXTREME = math.log(9999.0)  # log-odds beyond which four decimals are 0 or 1


@dataclass(frozen=True)
class Mark:
    """A value and its contribution to the log-odds: infinite if its probability in one of the classes is 0.

    `number` is the value itself, if it is a number.
    """

    label: str
    log_odds: float
    number: float | None = None


@dataclass(frozen=True)
class Ruler:
    """One column: its values, in the order of their levels or ascending, and the value of the row, if any.

    A column of text, or a matrix of counts, has too many values for marks: only that of the row is shown.
    """

    column: str
    marks: tuple[Mark, ...]
    own: Mark | None = None

    @property
    def range(self) -> float:
        """The difference between its largest and smallest contribution."""
        odds = [mark.log_odds for mark in self.marks]
        return max(odds) - min(odds) if odds and max(odds) > min(odds) else 0.0

    @property
    def finite_range(self) -> float:
        """The same, over values with a probability above 0 in both classes."""
        odds = [mark.log_odds for mark in self.marks if math.isfinite(mark.log_odds)]
        return max(odds) - min(odds) if odds else 0.0

    def reach(self) -> tuple[float, float]:
        """The smallest and largest finite contribution; that of a missing value is 0."""
        odds = [mark.log_odds for mark in self.every if math.isfinite(mark.log_odds)]
        return min(odds, default=0.0), max(odds, default=0.0)

    @property
    def is_scale(self) -> bool:
        """Whether its values are numbers on a scale, rather than levels."""
        return any(mark.number is not None for mark in self.marks)

    @property
    def every(self) -> tuple[Mark, ...]:
        """The marks, and that of the row at the end."""
        return self.marks if self.own is None else (*self.marks, self.own)

    def as_dict(self) -> Json:
        """A plain dict, for JSON."""
        own = {} if self.own is None else {"value": self.own.label, "log_odds": self.own.log_odds}
        marks = [{"value": mark.label, "log_odds": mark.log_odds} for mark in self.marks]
        return {"name": self.column, "marks": marks, **own}


@dataclass(frozen=True, repr=False)
class Nomogram(Result):
    """Rulers of the columns, the most informative first; `others` are those beyond the requested number.

    `prior` is log P(label) / P(against). `total` is the log-odds of the row, all columns and the prior together; None
    without a row. All numbers are before any calibration.

    >>> import bayesbox as bb
    >>> clf = bb.NaiveBayes().fit({"sex": ["male", "male", "female", "female"], "age": [31, 40, 8, 25]},
    ...                           ["no", "no", "yes", "no"])
    >>> found = clf.nomogram("yes", row={"sex": "female", "age": 8})
    >>> [ruler.column for ruler in found.rulers]
    ['sex', 'age']
    >>> [(mark.label, round(mark.log_odds, 2)) for mark in found.rulers[0].marks]
    [('female', 0.51), ('male', -0.59)]
    >>> [found.total] == clf.explain([{"sex": "female", "age": 8}]).log_odds("yes", "no").tolist()
    True
    >>> print(clf.nomogram("yes", top=0))  # the columns apart
    yes against no: what each value adds to the log-odds
    ...
    """

    label: str
    against: str
    prior: float
    rulers: tuple[Ruler, ...]
    others: tuple[Ruler, ...] = ()
    total: float | None = None
    target: str | None = None
    two_classes: bool = True
    calibrated: bool = False

    @property
    def probability(self) -> float | None:
        """P(label | x) of the row relative to the two classes."""
        return None if self.total is None else chance(self.total)

    @property
    def title(self) -> str:
        """The two classes, and the name of the target if it is known."""
        named = "" if self.target is None else f"{self.target} = "
        return f"{named}{self.label} against {self.against}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes about the probability."""
        found = [] if self.two_classes else [f"P({self.label}) is relative to these two classes."]
        return (
            (*found, "The model is calibrated; this shows it before calibration.") if self.calibrated else tuple(found)
        )

    def reach(self) -> tuple[float, float]:
        """The smallest and largest finite total."""
        ends = [ruler.reach() for ruler in (*self.rulers, *self.others)]
        prior = self.prior if math.isfinite(self.prior) else 0.0
        return prior + sum(min(low, 0.0) for low, _ in ends), prior + sum(max(high, 0.0) for _, high in ends)

    def rest(self) -> Ruler | str | None:
        """The contribution of the other columns: for a row a ruler with one mark, else their range in words."""
        if not self.others:
            return None
        name = f"{len(self.others)} other column" + ("s" if len(self.others) > 1 else "")
        added = sum(ruler.own.log_odds for ruler in self.others if ruler.own is not None)
        if self.total is not None and not math.isnan(added):
            return Ruler(name, (), Mark(signed(added), added))
        ends = [ruler.reach() for ruler in self.others]
        low, high = sum(min(low, 0.0) for low, _ in ends), sum(max(high, 0.0) for _, high in ends)
        return f"{name} not drawn: together from {signed(low)} to {signed(high)}"

    def unmarked(self) -> str | None:
        """The columns without marks, in words."""
        names = [ruler.column for ruler in self.rulers if not ruler.every]
        return f"without a ruler, since they have too many values: {', '.join(names)}" if names else None

    def as_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {
            "class": self.label,
            "against": self.against,
            "prior_log_odds": self.prior,
            "columns": [ruler.as_dict() for ruler in self.rulers],
            "others": [ruler.column for ruler in self.others],
            **({} if self.total is None else {"log_odds": self.total, "probability": self.probability}),
        }

    def svg(self) -> Picture:
        """The nomogram drawn as SVG."""
        from bayesbox.explain.nomogram_picture import nomogram_svg

        return Picture(nomogram_svg(self), f"nomogram of {self.label} against {self.against}")

    def _repr_svg_(self) -> str:
        return self.svg()

    def _headline(self) -> str:
        return f"Nomogram({self.label} against {self.against}, {len(self.rulers)} columns)"

    def _blocks(self) -> Sequence[Block]:
        return [PictureBlock(self.svg())]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        marks = [(ruler.column, mark) for ruler in (*self.rulers, *self.others) for mark in ruler.every]
        return {
            "column": [column for column, _ in marks],
            "value": [mark.label for _, mark in marks],
            "log_odds": [mark.log_odds for _, mark in marks],
        }

    def text(self, width: int = 100) -> str:
        """The nomogram as text, with this many characters per line."""
        from bayesbox.explain.nomogram_text import nomogram_text

        return nomogram_text(self, width)

    def __str__(self) -> str:
        return self.text()


def signed(odds: float, infinite: str = "inf") -> str:
    """Log-odds to two decimals, without a negative zero.

    >>> signed(-1.204), signed(-1e-17), signed(math.inf)
    ('-1.20', '+0.00', '+inf')
    """
    if math.isinf(odds):
        return f"{'+' if odds > 0 else '-'}{infinite}"
    return f"{round(odds, 2) + 0.0:+.2f}"


def chance_text(log_odds: float) -> str:
    """The probability of log-odds as text.

    >>> chance_text(1.5), chance_text(-20.0), chance_text(20.0)
    ('0.8176', 'below 0.0001', 'above 0.9999')
    """
    if abs(log_odds) < EXTREME:
        return f"{chance(log_odds):.4f}"
    return "above 0.9999" if log_odds > 0 else "below 0.0001"


def chance(log_odds: float) -> float:
    """The probability of log-odds.

    >>> chance(0.0), chance(-math.inf), chance(800.0)
    (0.5, 0.0, 1.0)
    """
    share = math.exp(-abs(log_odds))
    return 1 / (1 + share) if log_odds >= 0 else share / (1 + share)
