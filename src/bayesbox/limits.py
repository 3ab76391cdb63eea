"""The limits on the memory and the number of classes of a model.

The memory of a table is estimated before it is allocated, in training and loading, and compared with a limit:

    what                          default    environment variable        in Python            in the command
    memory of one model, bytes    2 GiB      BAYESBOX_MEMORY_LIMIT       limit_context(...)
    classes of a target           10,000     BAYESBOX_CLASSES_LIMIT      limit_context(...)   --classes-limit

An estimate is the number of cells times the peak bytes per cell: the exact counts, a second copy while batches are
added, the doubles and logs of the model. The estimates for counts, words, numbers, pairs and junction trees were
compared with measured processes and are accurate to within 50 %.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bayesbox.errors import Advice, BadOption, Remedy, TooCostly

MEMORY, CLASSES = 2 << 30, 10_000

# Peak bytes, reached while the model is made, rows are predicted or the file is written. They were measured on
# processes, except those of sums, joint tables and families, which are estimates.
BYTES_A_COUNT = 24  # per cell of classes x levels; the widest column needs as many again while it is processed
BYTES_A_WORD = 32  # per cell of classes x words: occurrences and documents
BYTES_A_WORD_ADDED = 72  # the same, while the words of two models or batches are added
BYTES_A_MOMENT = 860  # per class of a numeric column: n, sums, their exact digits, the density
BYTES_A_RUN = 64  # per class in a run of cells of a robust density
BYTES_A_PAIR = 80  # per cell of classes x levels x levels, while AODE makes its tables
BYTES_A_WRITTEN_PAIR = 280  # per such cell that is not zero, when it is written to a file
BYTES_A_SUM = 64  # per sum of products of two numbers
BYTES_A_JOINT = 200  # per cell of the joint table of all columns
BYTES_A_FAMILY = 32  # per cell of a table in structure learning

MEMORY_VARIABLE, CLASSES_VARIABLE = "BAYESBOX_MEMORY_LIMIT", "BAYESBOX_CLASSES_LIMIT"
RAISE_MEMORY = "or raise the limit: " + Remedy("bayesbox.limit_context(memory='8 GiB')", f"{MEMORY_VARIABLE}=8GiB")

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b?)", re.IGNORECASE)
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


@dataclass(frozen=True)
class Limits:
    """The maximum bytes of the tables of a model, and the maximum number of classes of a target."""

    memory: int = MEMORY
    classes: int = CLASSES


_given = Limits(0, 0)  # set by `limit_context`; 0 if not set. Shared by all threads.


def current_limits() -> Limits:
    """The current limits: those of `limit_context`, else of the environment, else the defaults.

    >>> with limit_context(memory="512 MiB"):
    ...     current_limits().memory
    536870912
    """
    memory = _given.memory or _of_environment(os.environ.get(MEMORY_VARIABLE))
    classes = _given.classes or _as_number(os.environ.get(CLASSES_VARIABLE) or CLASSES, where=CLASSES_VARIABLE)
    return Limits(memory, classes)


def classes_are_given() -> bool:
    """Whether a limit on classes was set, which declares that numbers are classes."""
    return bool(_given.classes or os.environ.get(CLASSES_VARIABLE))


@contextlib.contextmanager
def limit_context(*, memory: int | str | None = None, classes: int | None = None) -> Iterator[None]:
    """A context manager that sets the limits: memory in bytes or as text such as "8 GiB", and a number of classes.

    They apply to the whole process, including the threads that count rows.

    Parameters
    ----------
    memory : int, str such as "8 GiB", or None (default, unchanged); the maximum bytes of the tables of a model
    classes : int or None (default, unchanged); the maximum number of classes

    Returns
    -------
    a context manager
    """
    global _given
    before = _given
    if memory is not None:
        _given = replace(_given, memory=as_bytes(memory, where="memory"))
    if classes is not None:
        _given = replace(_given, classes=_as_number(classes, where="classes"))
    try:
        yield
    finally:
        _given = before


@functools.lru_cache(maxsize=16)
def _of_environment(memory: str | None) -> int:
    """The limit in the environment variable, parsed once."""
    return as_bytes(memory or MEMORY, where=MEMORY_VARIABLE)


def as_bytes(size: int | str, *, where: str) -> int:
    """The number of bytes of a number or of a text with a unit.

    >>> as_bytes("1.5 GiB", where="memory"), as_bytes("200M", where="memory")
    (1610612736, 209715200)
    """
    match = _SIZE.fullmatch(str(size).strip())
    found = 0
    if match:
        found = int(float(match[1]) * 1024 ** " kmgt".index(match[2].lower() or " "))
    if found < 1:
        raise BadOption("a memory limit must be a size such as 8GiB", where=where, found=size)
    return found


def _as_number(number: int | str, *, where: str) -> int:
    try:
        found = int(number)
    except ValueError:
        found = 0
    if found < 1:
        raise BadOption("the limit on classes must be a positive integer", where=where, found=number)
    return found


def require_memory(
    needed: float, what: str, *, remedy: Advice, limit: int | None = None, where: str | None = None
) -> None:
    """Raise TooCostly, before any allocation, if more bytes than the limit are needed.

    >>> require_memory(2**33, "12,000 classes x 12,000 levels", remedy="Leave the column out")
    Traceback (most recent call last):
    bayesbox.errors.TooCostly: 12,000 classes x 12,000 levels need about 8 GiB of memory; the limit is 2 GiB. ...
    """
    most = current_limits().memory if limit is None else limit
    if needed > most:
        raise TooCostly(
            f"{what} need about {size_text(needed)} of memory; the limit is {size_text(most)}",
            bytes=needed,
            limit=most,
            where=where,
            remedy=remedy + ", " + RAISE_MEMORY,
        )


def size_text(size: float) -> str:
    """
    >>> size_text(2**31), size_text(1500), size_text(float("inf"))
    ('2 GiB', '1.46 KiB', 'more bytes than any machine has')
    """
    if not math.isfinite(size):
        return "more bytes than any machine has"
    return log2_size_text(math.log2(max(size, 1)))


def log2_size_text(log2_bytes: float) -> str:
    """The same for the binary logarithm of a size, which may exceed a double.

    >>> log2_size_text(31), log2_size_text(43.5), log2_size_text(400)
    ('2 GiB', '11.3 TiB', '2^400 bytes')
    """
    unit = max(int(log2_bytes // 10), 0)
    if unit >= len(_UNITS):
        return f"2^{log2_bytes:.0f} bytes"
    return f"{2 ** (log2_bytes - 10 * unit):.3g} {_UNITS[unit]}"
