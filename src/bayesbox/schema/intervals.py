"""The names of the bins of a number, and the cut points from these names.

The bins of the cut points 2 and 5 are named `<=2`, `(2,5]` and `>5`: a value on a cut point is in the lower bin. Since
the names contain the cut points, every network file format keeps them.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

from bayesbox.schema.levels import level_text

ALL = "any"  # the single bin of a number without cut points


def interval_states(cuts: Sequence[float]) -> tuple[str, ...]:
    """The names of the bins of ascending cut points.

    >>> interval_states([2, 5.5])
    ('<=2', '(2,5.5]', '>5.5')
    """
    if not len(cuts):
        return (ALL,)
    texts = [level_text(float(cut)) for cut in cuts]
    between = [f"({low},{high}]" for low, high in itertools.pairwise(texts)]
    return (f"<={texts[0]}", *between, f">{texts[-1]}")


def cuts_of(states: Sequence[str]) -> tuple[float, ...] | None:
    """The cut points in the names of states; None if they are not bins.

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
    """The bin of a number given as text; None if the states are not bins or the text is not a number.

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
