"""Rows of tables whose sum differs from 1 only by the rounding of their digits.

The shortest decimal of a double has the digits it was read from, so the text is not needed. The sum of k numbers of d
decimals is off by less than k / 2 units of the last one: 0.333, 0.333, 0.333. If some have fewer digits, as with
significant digits (0.95, 0.05, 0.000035), each is off by half a unit of its own last digit, up to 1e-4 in total. More
than .01 is not rounding.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

MOST = Decimal("0.01")
MOST_OF_MIXED = Decimal("0.0001")


def is_rounding(row: NDArray[np.float64]) -> bool:
    """Whether the rounding of its digits explains that a row does not sum to 1.

    >>> is_rounding(np.array([0.333, 0.333, 0.333])), is_rounding(np.array([0.95, 0.05, 0.000035]))
    (True, True)
    >>> is_rounding(np.array([0.5, 0.49])), is_rounding(np.array([0.3, 0.3, 0.3]))
    (False, False)
    """
    written = [Decimal(repr(float(value))).normalize() for value in row]
    off = abs(sum(written, Decimal(0)) - 1)
    units = [Decimal(1).scaleb(min(int(number.as_tuple().exponent), 0)) for number in written]
    halves = [unit / 2 for unit, number in zip(units, written, strict=True) if number % 1]
    mixed = min(sum(halves, Decimal(0)), MOST_OF_MIXED)
    return off <= MOST and (off < len(written) * min(units) / 2 or off <= mixed)
