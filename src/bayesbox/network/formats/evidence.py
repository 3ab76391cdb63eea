"""Evidence files of the UAI competitions."""

from __future__ import annotations

from os import PathLike

from bayesbox.errors import file_name
from bayesbox.file.wrong_file import unavailable
from bayesbox.network.formats import uai


def read_evidence(path: str | PathLike[str]) -> dict[str, str]:
    """Read the evidence of a `.evid` file: how many variables are observed, then each variable and its state.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "grid.uai.evid")
    ...     _ = path.write_text("2  3 0  7 1")
    ...     read_evidence(path)
    {'3': '0', '7': '1'}
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise unavailable(error, file_name(path)) from None
    return uai.read_evidence(data, where=file_name(path))
