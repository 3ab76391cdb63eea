"""Arrow's compute functions, imported on first use.

`pyarrow.compute` creates hundreds of Python functions, which takes a sixth of the start-up time of the command.
"""

from __future__ import annotations

from typing import Any


class _Compute:
    """A lazy `pyarrow.compute`."""

    def __getattr__(self, name: str) -> Any:
        import pyarrow.compute

        return getattr(pyarrow.compute, name)


pc: Any = _Compute()
