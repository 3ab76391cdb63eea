"""Error messages about a file that does not exist, or that is of the wrong kind."""

from __future__ import annotations

import difflib
import os

from bayesbox.described import Advice, Remedy, pasted
from bayesbox.errors import SourceUnavailable
from bayesbox.file.known_file import KnownFile, known_file, text_file

SIMILAR = 0.75  # the least similarity of two names, without extensions, of which one is a misspelling of the other


def unavailable(error: OSError, path: str) -> SourceUnavailable:
    """The error of a file that the operating system cannot open or read."""
    if isinstance(error, FileNotFoundError):
        return SourceUnavailable("file not found", where=path, remedy=_near_files(path))
    if isinstance(error, PermissionError):
        return SourceUnavailable("permission denied", where=path, remedy="Check the permissions of the file")
    if isinstance(error, IsADirectoryError):
        return SourceUnavailable("this is a folder, not a file", where=path, remedy="Pass a file in it")
    return SourceUnavailable(f"the file cannot be read ({error.strerror or error})", where=path)


def _near_files(path: str) -> Advice | None:
    folder, name = os.path.split(path)
    try:
        files = sorted(os.listdir(folder or "."))
    except OSError:
        return None
    starting = [file for file in files if name and file.startswith(f"{name} ")]
    spaced = min(starting, key=lambda file: file.endswith(".bayes"), default=None)
    if spaced is not None:
        whole = os.path.join(folder, spaced)
        return Remedy(f"Did you mean `{whole}`?", f"Did you mean {pasted(whole)}? Quote a name that contains spaces")
    near = _nearest(name, files)
    return f"Did you mean `{os.path.join(folder, near)}`?" if near else None


def _nearest(name: str, files: list[str]) -> str | None:
    """The file with the most similar name, if it differs by a few letters or by the extension.

    >>> _nearest("titanc.csv", ["latin1.csv", "titanic.csv"]), _nearest("titanic.csv", ["latin1.csv"])
    ('titanic.csv', None)
    >>> _nearest("Titanic.csv", ["titanic.csv.gz"])
    'titanic.csv.gz'
    """
    stem = _stem(name)
    alike = [file for file in files if difflib.SequenceMatcher(None, stem, _stem(file)).ratio() >= SIMILAR]
    return next(iter(difflib.get_close_matches(name, alike, n=1, cutoff=0)), None)


def _stem(name: str) -> str:
    """The name in lower case, without its extensions."""
    return name.lower().lstrip(".").partition(".")[0]


def not_a_model(beginning: bytes, name: str) -> KnownFile | None:
    """The error and the remedy for a file passed as a model; None if its type is unknown.

    >>> not_a_model(b"age,car\\n25,suv\\n", "cars.csv").what
    'a text file, such as a table'
    """
    return known_file(beginning, name) or text_file(beginning, name)
