"""Whether a target holds classes: numbers that are measurements are refused before they are counted.

A target of numbers is refused if one of them has a fraction, or if there are more than 100 different numbers and these
are more than a tenth of the rows. The first batch decides before anything is counted (where more than half of its
numbers differ), the sum of all batches at the end, and the limit of classes on the way: so nobody waits for hours. To
give a limit of classes is to say that these are classes, and then only the limit counts.
"""

from __future__ import annotations

import decimal
import numbers
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bayesbox.described import Remedy, parameter
from bayesbox.errors import NotClasses
from bayesbox.limits import CLASSES_VARIABLE, classes_are_given, current_limits
from bayesbox.schema.encode import Encoded
from bayesbox.source.base import Source

FEW_NUMBERS = 100
SHARE, FIRST_SHARE = 0.1, 0.5  # of the rows that may hold a number of their own: of all, of the first batch
BINS = "Bin it: " + parameter("target_bins", 5) + Remedy(" (or pandas.qcut)", "")

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")


@dataclass
class TargetCheck:
    """Looks at the labels of batches, one after another, and at the classes of all of them."""

    target: str
    where: str
    untyped: Callable[[], bool]  # whether numbers come as text, which a file says once it is being read
    begun: bool = False

    @classmethod
    def of(cls, target: str, source: Source) -> TargetCheck | None:
        """None if a limit of classes was given: these are classes then."""
        # where rows are counted elsewhere the source stays here
        untyped = partial(bool, source.untyped) if source.remote else partial(getattr, source, "untyped")
        return None if classes_are_given() else cls(target, source.name, untyped)

    def batch(self, labels: Encoded) -> None:
        """Refuse the first batch if its labels are measurements."""
        if self.begun:
            return
        self.begun = True
        there = labels.occurring()
        rows = int((labels.codes >= 0).sum())
        self._require([labels.values[place] for place in there], rows, FIRST_SHARE)

    def total(self, classes: Sequence[str], label_type: str, rows: int) -> None:
        """Refuse the classes of all batches if they are measurements; typed labels are known by their type."""
        if self.untyped() or label_type in ("integer", "real"):
            self._require(classes, rows, SHARE, text=True)

    def _require(self, values: Sequence[object], rows: int, share: float, *, text: bool = False) -> None:
        found = numbers_in(values, text=self.untyped() or text)
        if found is None:
            return
        fraction = next((value for value, number in zip(values, found, strict=True) if number % 1), None)
        reason, what = "fractions", "has fractional numbers: these are measurements, not classes"
        if fraction is None:
            if len(found) <= max(FEW_NUMBERS, share * rows):
                return
            reason = "many-numbers"
            what = f"has {len(found):,} distinct numbers in {rows:,} rows: these look like measurements, not classes"
        raise NotClasses(
            f"the target `{self.target}` {what}",
            reason=reason,
            classes=len(found),
            column=self.target,
            where=self.where,
            found=fraction,
            remedy=BINS
            + ". If these are classes, raise the limit: "
            + parameter("classes_limit", max(len(found), 1000)),
        )


def numbers_in(values: Sequence[object], *, text: bool) -> list[float] | None:
    """The numbers that all of these are, written as text or not; None if one is not a number.

    >>> numbers_in([3, 0.5], text=False), numbers_in(["3", "0.5"], text=True), numbers_in(["3", "007"], text=True)
    ([3.0, 0.5], [3.0, 0.5], None)
    """
    found: list[float] = []
    for value in values:
        if isinstance(value, str):
            if not text or not _NUMBER.fullmatch(value):
                return None
        elif isinstance(value, bool) or not isinstance(value, numbers.Real | decimal.Decimal):
            return None
        found.append(float(value))
    return found


def require_few_classes(classes: int, *, known: int = 0, most: int | None = None, where: str | None = None) -> None:
    """Refuse more classes than the limit, unless the model has as many already."""
    limit = current_limits().classes if most is None else most
    if classes > max(limit, known):
        raise NotClasses(
            f"the target has at least {classes:,} classes, over the limit of {limit:,}: it looks like an identifier",
            reason="many-classes",
            classes=classes,
            where=where,
            remedy="Choose another target. If these are classes, raise the limit: "
            + parameter("classes_limit", 10 * limit)
            + f", or {CLASSES_VARIABLE}={10 * limit}",
        )
