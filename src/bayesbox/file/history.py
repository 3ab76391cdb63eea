"""The history of a model: a file next to it, with one line per batch of rows that the command added or removed.

    people.bayes.history     {"time": "2026-03-01T08:00:00Z", "verb": "update", "data": ["tuesday.csv"], "rows": 512,
                              "before": "5f2b...", "digest": "a01c...", "total": 33073}

The model file itself has neither times nor the order of training, so that the same rows give the same bytes.
`--history` starts a history; from then on every change by the command is recorded. Each line has the digests before and
after, so that changes by other means are detected.
"""

from __future__ import annotations

import datetime
import itertools
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from bayesbox.errors import BadModelFile, SourceUnavailable, file_name

MOST_BYTES = 1 << 26


_KINDS = (("verb", str), ("data", list), ("rows", int), ("digest", str), ("total", float), ("time", str))


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class HistoryEntry:
    """One change of a model: rows learned or forgotten, and the digests before and after.

    `before` is None if a model was rebuilt; `total` is the rows (or their weights) in the model afterwards.
    """

    verb: str
    data: tuple[str, ...]
    rows: int
    digest: str
    total: float
    before: str | None = None
    time: str = field(default_factory=_now)

    def line(self) -> str:
        """The line of the file."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"

    @classmethod
    def from_line(cls, text: str) -> HistoryEntry:
        """The entry in a line; ValueError if it is not valid.

        >>> entry = HistoryEntry("train", ("people.csv",), 14, "5f2b", 14.0)
        >>> HistoryEntry.from_line(entry.line()) == entry
        True
        """
        found = json.loads(text)
        if not isinstance(found, dict) or not all(isinstance(found.get(name), kind) for name, kind in _KINDS):
            raise ValueError("not an entry")
        before = found.get("before")
        return cls(
            found["verb"],
            tuple(map(str, found["data"])),
            found["rows"],
            found["digest"],
            found["total"],
            None if before is None else str(before),
            found["time"],
        )


def history_name(path: str | os.PathLike[str]) -> str:
    """The history of a model file.

    >>> history_name("people.bayes")
    'people.bayes.history'
    """
    return f"{os.path.realpath(path) if os.path.islink(path) else file_name(path)}.history"


def record_change(path: str | os.PathLike[str], entry: HistoryEntry, *, begin: bool = False) -> bool:
    """Add an entry to the history of a model, if it exists or `begin` is true; returns whether it was added.

    Call it under the lock of the model, once the model is saved.
    """
    name = history_name(path)
    if not begin and not os.path.exists(name):
        return False
    try:
        with open(name, "ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)  # an incomplete line is left by a power failure
            file.write(entry.line().encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceUnavailable(
            f"the history cannot be written: {reason}", where=name, remedy="The model was saved, without an entry"
        ) from error
    return True


def read_history(path: str | os.PathLike[str]) -> list[HistoryEntry] | None:
    """The entries of a model, oldest first; None if it has no history. An incomplete last line is ignored."""
    name = history_name(path)
    try:
        with open(name, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceUnavailable("the history cannot be read", where=name, found=error.strerror) from error
    if len(data) > MOST_BYTES:
        raise BadModelFile(f"a history may have at most {MOST_BYTES:,} bytes", where=name)
    found = []
    for number, text in enumerate(data.decode("utf-8", "replace").split("\n")[:-1], 1):
        try:
            found.append(HistoryEntry.from_line(text))
        except (ValueError, RecursionError):
            raise BadModelFile("a line of the history is damaged", where=name, found=f"line {number}") from None
    return found


def history_gaps(entries: Sequence[HistoryEntry], digest: str) -> list[str]:
    """The gaps in the history: changes made by other means than the command.

    >>> one = HistoryEntry("train", ("a.csv",), 3, "aa", 3.0)
    >>> two = HistoryEntry("update", ("b.csv",), 3, "cc", 6.0, before="bb")
    >>> history_gaps([one, two], "cc")
    ['entry 2: the model had changed before it, by other means than the command']
    """
    found = []
    for number, (earlier, later) in enumerate(itertools.pairwise(entries), 2):
        if later.before is not None and later.before != earlier.digest:
            found.append(f"entry {number}: the model had changed before it, by other means than the command")
    if entries and entries[-1].digest != digest:
        found.append("the model has changed since the last entry, by other means than the command")
    return found
