"""The check that a target is categorical: measurements are rejected before they are counted.

A numeric target is an error if one of its numbers has a fraction, or if there are more than 100 distinct numbers and
these are more than a tenth of the rows. The first batch is checked before anything is counted (whether more than half
of its numbers differ), the limit on classes during counting, and the total at the end, so that errors come early.
Setting a limit on classes declares that the numbers are classes; then only the limit applies.
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
SHARE, FIRST_SHARE = 0.1, 0.5  # the share of rows that may have distinct numbers: of all rows, of the first batch
BINS = "Bin it: " + parameter("target_bins", 5) + Remedy(" (or pandas.qcut)", "")

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")


@dataclass
class TargetCheck:
    """Checks the labels of each batch, and the classes of all batches."""

    target: str
    where: str
    untyped: Callable[[], bool]  # whether numbers come as text, which is known once a file is read
    begun: bool = False

    @classmethod
    def of(cls, target: str, source: Source) -> TargetCheck | None:
        """The check for a source; None if a limit on classes was set."""
        # if rows are counted remotely, the source is not sent
        untyped = partial(bool, source.untyped) if source.remote else partial(getattr, source, "untyped")
        return None if classes_are_given() else cls(target, source.name, untyped)

    def batch(self, labels: Encoded) -> None:
        """Raise an error if the labels of the first batch are measurements."""
        if self.begun:
            return
        self.begun = True
        there = labels.occurring()
        rows = int((labels.codes >= 0).sum())
        self._require([labels.values[place] for place in there], rows, FIRST_SHARE)

    def total(self, classes: Sequence[str], label_type: str, rows: int) -> None:
        """Raise an error if the classes of all batches are measurements; typed labels are recognised by their type."""
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
    """The values as numbers, parsed if they are text; None if one is not a number.

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
    """Raise an error if there are more classes than the limit, unless the model already has as many."""
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
