"""Tallies of parts that were counted elsewhere: each travels as bytes, and so does what is wrong with its rows.

Spark, Dask and Ray run a failed task again and wrap what it raises in a trace of their own. So an error of ours is what
a part gives back, and it is raised where the sum is requested, with its words and the name of the part. The bytes are a
pickle: they pass between processes of one application, which sends its functions in the same way.
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
    """The sum of two tallies; what went wrong in either goes on."""
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
    """The tally that came back; None if there was no row. An error is raised."""
    if tally == NOTHING:
        return None
    total = pickle.loads(tally)
    if isinstance(total, BayesboxError):
        raise total
    return total
