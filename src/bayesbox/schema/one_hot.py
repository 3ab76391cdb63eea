"""One-hot groups: several flags, of which each row sets one, combined into one category.

As separate flags they depend on each other in every class, so naive Bayes would count the same evidence M times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from bayesbox.errors import BadData, BadOption, UnknownColumn
from bayesbox.schema.columns import Column, Columns, as_numbers

OneHot = Mapping[str, Sequence[str]]


def as_one_hot(given: Mapping[str, Sequence[object]] | None) -> dict[str, tuple[str, ...]]:
    """The declared one-hot groups: the name of each category, and its columns.

    >>> as_one_hot({"car": ["suv", "van"]})
    {'car': ('suv', 'van')}
    """
    groups = {} if given is None else given
    if not isinstance(groups, Mapping) or any(
        isinstance(flags, (str, bytes)) or not isinstance(flags, Iterable) for flags in groups.values()
    ):
        raise BadOption(
            "one_hot must be a dict from new names to lists of columns",
            found=given,
            remedy="Write {'car': ['suv', 'van']}",
        )
    return {str(name): tuple(str(flag) for flag in flags) for name, flags in groups.items()}


def join_one_hot(columns: Columns, groups: OneHot, *, where: str | None = None) -> dict[str, Column]:
    """The columns with each group replaced by one category, at the position of its first flag.

    The level is the name of the flag that is set; a row without a set flag, or with a missing flag, is missing.

    >>> flags = {"suv": np.array([1, 0, 0]), "van": np.array([0, 1, 0]), "age": np.array([20, 30, 40])}
    >>> join_one_hot(flags, {"car": ["suv", "van"]})["car"].to_pylist()
    ['suv', 'van', None]
    """
    result: dict[str, Column] = {}
    first: dict[str, str] = {}
    for group, members in groups.items():
        present = [member for member in members if member in columns]
        if present:
            first[present[0]] = group
    inside = {member for members in groups.values() for member in members}
    for name, column in columns.items():
        if name in first:
            result[first[name]] = _category(columns, first[name], groups[first[name]], where)
        elif name not in inside:
            result[name] = column
    return result


def _category(columns: Columns, name: str, members: Sequence[str], where: str | None) -> pa.DictionaryArray:
    for member in members:
        if member not in columns:
            raise UnknownColumn(member, available=columns, where=where)
    flags = np.column_stack(
        [np.asarray(as_numbers(columns[member], name=member), dtype=np.float64) for member in members]
    )
    bad = ~(np.isnan(flags) | (flags == 0) | (flags == 1)).all(axis=1) | (np.nansum(flags, axis=1) > 1)
    if bad.any():
        row = int(np.argmax(bad))
        raise BadData(
            f"the flags of `{name}` must be 0 or 1, with at most one set per row",
            where=f"{where}, row {row + 1}" if where else f"row {row + 1}",
            found=dict(zip(members, flags[row].tolist(), strict=True)),
        )
    set_one = np.nansum(flags, axis=1) == 1
    codes = pa.array(np.nan_to_num(flags).argmax(axis=1).astype(np.int32), mask=~set_one)
    return pa.DictionaryArray.from_arrays(codes, pa.array(list(members)))
