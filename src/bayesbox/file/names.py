"""Invalid names of model files: reserved by the system, or different from another only in case.

Windows reserves some names for devices: a file `NUL.bayes` would be lost. On Windows and macOS `People.bayes` and
`people.bayes` are the same file, so that saving one would replace the other.
"""

from __future__ import annotations

import os
import re
import sys

from bayesbox.errors import BadOption

RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE)
FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f]')


def require_name(path: str, *, windows: bool = sys.platform == "win32") -> None:
    """Raise an error for a name under which a model would be lost or replace another one.

    >>> require_name("models/nul.bayes", windows=True)
    Traceback (most recent call last):
    bayesbox.errors.BadOption: models/nul.bayes: this name is reserved by Windows. Choose another name
    """
    if windows:
        _require_windows_name(path)
    _require_own_case(path)


def _require_windows_name(path: str) -> None:
    name = re.split(r"[\\/]", path)[-1]
    if RESERVED.fullmatch(name.partition(".")[0].rstrip(" ")):
        raise BadOption("this name is reserved by Windows", where=path, remedy="Choose another name")
    if FORBIDDEN.search(name) or name != name.rstrip(". "):
        raise BadOption(
            'on Windows the name of a file must not contain any of < > : " | ? * or end in a dot or a space',
            where=path,
            remedy="Choose another name",
        )


def _require_own_case(path: str) -> None:
    """Raise an error if a case-insensitive file system has this name in another case."""
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    if not os.path.exists(target):
        return
    try:
        names = os.listdir(folder)
    except OSError:
        return
    if name not in names:
        other = next((each for each in names if each.casefold() == name.casefold()), None)
        if other is not None:
            raise BadOption(
                "a model whose name differs only in case already exists and would be replaced",
                where=path,
                found=other,
                remedy="Use its exact name, or choose another one",
            )
