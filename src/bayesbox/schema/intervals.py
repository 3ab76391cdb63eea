"""The states of a number that was cut into bins, and the way back from the states to the cuts.

The bins of the cuts 2 and 5 are called `<=2`, `(2,5]` and `>5`: a value on a cut goes low. As the names hold the cuts,
a network keeps them in every format of file.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

from bayesbox.schema.levels import level_text

ALL = "any"  # the one bin of a number without a cut


def interval_states(cuts: Sequence[float]) -> tuple[str, ...]:
    """The names of the bins between ascending cuts.

    >>> interval_states([2, 5.5])
    ('<=2', '(2,5.5]', '>5.5')
    """
    if not len(cuts):
        return (ALL,)
    texts = [level_text(float(cut)) for cut in cuts]
    between = [f"({low},{high}]" for low, high in itertools.pairwise(texts)]
    return (f"<={texts[0]}", *between, f">{texts[-1]}")


def cuts_of(states: Sequence[str]) -> tuple[float, ...] | None:
    """The cuts that states are named after; None if they are not.

    >>> cuts_of(("<=2", "(2,5.5]", ">5.5")), cuts_of(("low", "high"))
    ((2.0, 5.5), None)
    """
    if len(states) < 2 or not states[0].startswith("<=") or not states[-1].startswith(">"):
        return None
    try:
        cuts = [float(states[0][2:]), *(float(state[1:-1].partition(",")[2]) for state in states[1:-1])]
    except ValueError:
        return None
    return tuple(cuts) if interval_states(cuts) == tuple(states) else None


def interval_of(states: Sequence[str], text: str) -> int | None:
    """The bin of a number that is given as text; None if the states are no bins or it is no number.

    >>> interval_of(("<=2", "(2,5.5]", ">5.5"), "5.5"), interval_of(("low", "high"), "5.5")
    (1, None)
    """
    cuts = cuts_of(states)
    if cuts is None:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return bisect.bisect_left(cuts, value) if value == value else None
