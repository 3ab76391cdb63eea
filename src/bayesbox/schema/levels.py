"""The text of a level or label, and the conversion of texts back to labels.

Strings are unchanged, booleans are true and false, integers are decimal, integral floats are written as integers, other
numbers as their shortest repr, dates in ISO format. So a column has the same levels from every source.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption, LabelContradiction

Labels = NDArray[Any]
"""Classes or states by name, in the type of the given labels."""


def level_text(value: object) -> str:
    """The text of one value.

    >>> [level_text(value) for value in ("suv", True, 3, 3.0, 0.1)]
    ['suv', 'true', '3', '3', '0.1']
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return _real_text(float(value))
    if isinstance(value, decimal.Decimal):
        return str(int(value)) if value == value.to_integral_value() else str(value.normalize())
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    return str(value)


def is_missing(value: object) -> bool:
    """Whether a value is None, any NaN, or the NA or NaT of pandas.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, str):
        return False
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def class_position(label: object, classes: Sequence[object], *, where: str | None = None) -> int:
    """The index of a class among the classes, compared as texts.

    >>> class_position(3, [1, 3.0])
    1
    """
    texts = [level_text(each) for each in classes]
    text = level_text(label)
    if text not in texts:
        remedy = f"The classes are {', '.join(texts[:12])}"
        raise BadOption("unknown class", where=where, found=label, remedy=remedy)
    return texts.index(text)


def _real_text(value: float) -> str:
    if value.is_integer():
        return str(int(value))
    return repr(value)


LABEL_TYPES = ("text", "integer", "real", "flag", "date", "moment")


def label_type_of(values: Sequence[object]) -> str:
    """The type that converts the texts of these labels back to the labels."""
    types = {_label_type(value) for value in values}
    if types <= {"integer", "real"} and "real" in types:
        return "real"
    if len(types) == 1:
        return types.pop()
    return "text"


def _label_type(value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "flag"
    if isinstance(value, numbers.Integral):
        return "integer"
    if isinstance(value, numbers.Real):
        return "real"
    if isinstance(value, datetime.datetime):
        return "moment"
    if isinstance(value, datetime.date):
        return "date"
    return "text"


def _flag(text: str) -> bool:
    return text == "true"


_PARSERS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "integer": int,
    "real": float,
    "flag": _flag,
    "date": datetime.date.fromisoformat,
    "moment": datetime.datetime.fromisoformat,
}


def label_values(texts: Sequence[str], label_type: str) -> np.ndarray:
    """The labels in their original type.

    >>> label_values(["1", "2"], "integer")
    array([1, 2])
    """
    values = [_PARSERS[label_type](text) for text in texts]
    if label_type == "text":
        return np.array(values, dtype=np.str_ if values else "<U1")
    if label_type == "integer" and values and max(values) > np.iinfo(np.int64).max:
        return np.array(values, dtype=np.uint64 if min(values) >= 0 and max(values) < 1 << 64 else object)
    if label_type in ("integer", "real", "flag"):
        dtype = {"integer": np.int64, "real": np.float64, "flag": np.bool_}[label_type]
        return np.array(values, dtype=dtype)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def label_order(texts: Sequence[str], label_type: str) -> list[str]:
    """The labels sorted by their type: 2 before 10, but "10" before "2"."""
    if label_type in ("integer", "real"):
        return sorted(texts, key=float if label_type == "real" else int)
    return sorted(texts)


def common_label_type(one: str, other: str) -> str:
    """The common type of labels from two sources."""
    if one == other:
        return one
    if {one, other} == {"integer", "real"}:
        return "real"
    raise LabelContradiction(
        f"the labels had type {one} so far, but have type {other} here",
        remedy="Convert the target to one type",
    )


def natural_label_type(texts: Sequence[str]) -> str:
    """The type of labels from an untyped file: integer if every text is one, else text.

    >>> natural_label_type(["1", "2", "10"]), natural_label_type(["01", "2"])
    ('integer', 'text')
    """
    return "integer" if texts and all(_is_integer(text) for text in texts) else "text"


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and str(int(text)) == text
