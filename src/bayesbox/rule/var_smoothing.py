"""Variance smoothing like scikit-learn's GaussianNB: add a share of the largest variance to all gaussian columns.

    variance of a class + var_smoothing * the largest variance of a column over all rows

It replaces the floor, unless the column has its own. The largest variance depends on the units, so it is meant for
columns of the same unit, such as the pixels of an image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bayesbox.described import Remedy
from bayesbox.dist.base import Distribution
from bayesbox.dist.fit import Presence
from bayesbox.dist.number.gaussian import Gaussian
from bayesbox.errors import BadOption
from bayesbox.schema.kind import DEFAULT_FLOOR
from bayesbox.schema.schema import Schema
from bayesbox.tally.book import Book
from bayesbox.tally.moments import Moments


def smoothed(schema: Schema, book: Book, share: float, conditionals: Sequence[Distribution]) -> list[Distribution]:
    """The distributions, with larger variances for the normal ones."""
    found = list(conditionals)
    normals = {place: each for place, each in enumerate(found) if type(each) is Gaussian}
    numbers = [name for name in schema.used if name in book and schema.kinds[name].is_number]
    if numbers and not normals and schema.numeric != "gaussian":
        raise BadOption(
            "var_smoothing applies to columns with a gaussian density, and there is none",
            found=share,
            remedy="Try " + Remedy('numeric="gaussian"', "--numeric gaussian"),
        )
    tallies = {place: book[each.column] for place, each in normals.items()}
    units = [tally.pooled().unit for tally in tallies.values() if isinstance(tally, Moments)]
    added = math.sqrt(share) * max(units, default=0.0)
    for place, each in normals.items():
        tally, floor = tallies[place], schema.kinds[each.column].floor
        if isinstance(tally, Moments):
            presence = Presence(each.log_observed, each.log_missing)
            plain = Gaussian.of_moments(each.column, tally, 0.0 if floor == DEFAULT_FLOOR else floor, presence)
            assert plain is not None
            found[place] = replace(plain, std=np.hypot(plain.std, added))
    return found
