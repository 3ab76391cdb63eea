"""Numbers in a formula or a large table: decimals if they terminate, else fractions."""

from __future__ import annotations

from fractions import Fraction

from bayesbox.dist.factor import Number
from bayesbox.explain.steps import Cell

LONGEST = 11  # characters of a fraction in a formula


class ShortCell(Cell):
    """A number that is shown as a fraction only if its decimal does not terminate.

    >>> print(ShortCell("0.2 x 0.4", Fraction(2, 25)), ShortCell(value=Fraction(1, 3)))
    0.2 x 0.4 = 0.08 1/3 = 0.3333333
    """

    def fraction(self) -> str:
        """The fraction, unless it is a decimal."""
        return "" if _ends(self.value) else super().fraction()


def in_formula(value: Number) -> str:
    """A number as text in a formula.

    >>> in_formula(Fraction(1, 8)), in_formula(Fraction(1, 3)), in_formula(Fraction(12345678, 98765431))
    ('0.125', '1/3', '0.125')
    """
    cell = ShortCell(value=value)
    return cell.fraction() if 0 < len(cell.fraction()) <= LONGEST else cell.decimal()


def _ends(value: object) -> bool:
    return isinstance(value, Fraction) and pow(10, 400, value.denominator) == 0
