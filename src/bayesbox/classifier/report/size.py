"""How large a model is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bayesbox.dist.base import Distribution

EXACT_UP_TO = 10**15
WRITTEN_UP_TO = 10**4000  # the most digits that Python prints


@dataclass(frozen=True)
class ModelSize:
    """The number of parameters of a model, of the full joint (None if there are densities), and of naive Bayes for the
    same columns (None if the model is naive Bayes)."""

    parameters: int
    joint: int | None
    by_column: Mapping[str, int] = field(default_factory=dict)
    naive: int | None = None


class Parameters(NamedTuple):
    """The number of parameters of a model, free and as textbooks count them.

    `free` counts the free parameters, since some sum to one. `terms` counts all probabilities including the prior:
    n|X||C| + |C| for n columns of |X| levels and |C| classes. `naive` and `joint` are the numbers of terms P(x | class)
    for the same columns under naive Bayes (2n|L| for n flags, 2d|L| for d normals) and under the full joint (2**n |L|,
    and (d + d(d + 1)/2)|L|); None if not defined, or longer than 4,000 digits.
    """

    free: int
    terms: int
    naive: int | None = None
    joint: int | None = None

    def text(self) -> str:
        """The numbers in one line of text.

        >>> print(Parameters(11, 22, 20, 64).text())
        11 free, 22 in total; P(x | class): 20 by naive Bayes, 64 by the full joint
        """
        others = [("naive Bayes", self.naive), ("the full joint", self.joint)]
        compared = ", ".join(f"{large(number)} by {name}" for name, number in others if number is not None)
        found = f"{large(self.free)} free, {large(self.terms)} in total"
        return f"{found}; P(x | class): {compared}" if compared else found

    def to_dict(self) -> dict[str, int | None]:
        """As a dict for JSON."""
        return self._asdict()


def parameters_of(classes: int, conditionals: Sequence[Distribution]) -> Parameters:
    """The parameters of a model that is a prior and a product of distributions of separate columns."""
    levels: list[int] = []
    numbers = own = 0
    words = False
    for each in conditionals:
        if each.level_number is not None:
            levels.append(each.level_number)
        else:
            own += each.all_parameters
            numbers += len(each.columns)
            words = words or not each.is_scale
    free = max(classes - 1, 0) + sum(each.free_parameters for each in conditionals)
    naive, joint = compared(levels, numbers, classes, own)
    return Parameters(free, naive + classes, naive, None if words else joint)


def compared(levels: Sequence[int], numbers: int, classes: int, own: int | None = None) -> tuple[int, int | None]:
    """(naive, joint): the numbers of P(x | class) for columns of this many levels, and for some normals.

    `own` is the number of parameters of the numeric columns, if their densities are not normal.

    >>> compared([2] * 5, 0, 2), compared([], 4, 3)
    ((20, 64), (24, 42))
    """
    of_numbers = 2 * numbers * classes if own is None else own
    naive = sum(levels) * classes + of_numbers
    joint = (math.prod(levels) * classes if levels else 0) + (numbers + numbers * (numbers + 1) // 2) * classes
    return naive, written(joint)


def written(number: int) -> int | None:
    """The number, or None if it has too many digits to print."""
    return number if number < WRITTEN_UP_TO else None


def large(number: int) -> str:
    """An integer in full, or as a power of ten.

    >>> large(287), large(3 * 10**20)
    ('287', '3.00e+20')
    """
    if number < EXACT_UP_TO:
        return f"{number:,}"
    power = len(str(number)) - 1 if number < 10**4000 else int(math.log10(2) * (number.bit_length() - 1))
    return f"{number // 10 ** (power - 2) / 100:.2f}e+{power}"
