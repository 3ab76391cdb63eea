"""Arrow's functions on arrays, imported when the first of them is needed.

`pyarrow.compute` builds a Python function for each of its hundreds: a sixth of the time in which the command starts.
"""

from __future__ import annotations

from typing import Any


class _Compute:
    """`pyarrow.compute`, as far as its functions are called."""

    def __getattr__(self, name: str) -> Any:
        import pyarrow.compute

        return getattr(pyarrow.compute, name)


pc: Any = _Compute()
