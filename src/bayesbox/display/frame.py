"""The columns of a result as a pandas DataFrame if pandas is installed, else as an Arrow table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any


def frame_of(columns: Mapping[str, Sequence[object]]) -> Any:
    """A pandas DataFrame, or without pandas a pyarrow Table.

    >>> frame_of({"column": ["age", "car"], "bits": [0.25, 0.5]})["bits"].tolist()
    [0.25, 0.5]
    """
    import pyarrow as pa

    table = pa.table({name: _array(list(values)) for name, values in columns.items()})
    return table.to_pandas() if find_spec("pandas") is not None else table


def _array(values: list[Any]) -> Any:
    """Values as an Arrow array; values of several types as text."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values])
