"""Counts of words by class: the tally of a group of count columns, such as a sparse document-term matrix."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.tally.base import register
from bayesbox.tally.counts import Counts


@register
class Words(Counts):
    """How often each word occurred in the rows of each class. `n` counts occurrences, where `Counts` counts rows."""

    form: ClassVar[str] = "words"

    def fits(self, rows: ExactArray) -> bool:
        """A row may hold any number of words, but there are none without a row."""
        return not np.any((rows.signs() == 0) & (self.totals().signs() != 0))
