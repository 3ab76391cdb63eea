"""Tallies of parts counted on other machines, sent as bytes together with errors in their rows.

Spark, Dask and Ray retry a failed task and wrap its error in their own trace. So a part returns an error of ours as its
result, and it is raised when the sum is requested, with its message and the name of the part. The bytes are a pickle:
they pass between processes of one application, which sends its functions in the same way.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any

from bayesbox.errors import BayesboxError
from bayesbox.source.base import Batch

NOTHING = b""  # the tally of no rows


def counted(function: Callable[[Batch], Any], batches: Iterable[Batch], where: str, part: str = "") -> bytes:
    """The sum of the tallies of some batches, as bytes; `part` names them in errors about a row.

    >>> import pyarrow as pa
    >>> dice = Batch(("eyes",), (pa.array([1, 6]),), 2)
    >>> total_of(counted(lambda batch: batch.rows, [dice, dice], "dice")), counted(len, [], "dice")
    (4, b'')
    """
    total: Any = None
    try:
        for batch in batches:
            tally = function(batch)
            total = tally if total is None else total + tally
    except BayesboxError as error:
        if part and error.where not in (None, where):  # such as row 3
            error.where = f"{error.where} of {part}"
        total = error
    return NOTHING if total is None else pickle.dumps(total)


def added(one: bytes, other: bytes) -> bytes:
    """The sum of two tallies, or the error of either."""
    if one == NOTHING or other == NOTHING:
        return one or other
    left, right = pickle.loads(one), pickle.loads(other)
    if isinstance(left, BayesboxError):
        return one
    if isinstance(right, BayesboxError):
        return other
    try:
        return pickle.dumps(left + right)
    except BayesboxError as error:
        return pickle.dumps(error)


def total_of(tally: bytes) -> Any:
    """The returned tally; None if there were no rows. A returned error is raised."""
    if tally == NOTHING:
        return None
    total = pickle.loads(tally)
    if isinstance(total, BayesboxError):
        raise total
    return total
