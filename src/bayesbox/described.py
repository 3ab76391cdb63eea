"""The base of errors and warnings: what happened, where, what was found, and the remedy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

SHOWN = 80  # characters of a found value shown in a message


def shown(value: object) -> str:
    """A value for a message: quoted, printable, truncated to 80 characters.

    >>> shown("3,5")
    "'3,5'"
    """
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


_command_is_speaking = False


@contextlib.contextmanager
def command_speaks() -> Iterator[None]:
    """A context in which errors give the remedy for the command rather than for Python."""
    global _command_is_speaking
    before, _command_is_speaking = _command_is_speaking, True
    try:
        yield
    finally:
        _command_is_speaking = before


@dataclass(frozen=True)
class Remedy:
    """A remedy for Python and one for the command; `str` returns the one that applies.

    >>> remedy = "Declare it: " + Remedy("columns={'zip': 'category'}", "--types zip=category")
    >>> str(remedy)
    "Declare it: columns={'zip': 'category'}"
    >>> with command_speaks():
    ...     str(remedy)
    'Declare it: --types zip=category'
    """

    python: str
    command: str

    def __str__(self) -> str:
        return self.command if _command_is_speaking else self.python

    def __add__(self, other: Advice) -> Remedy:
        more = as_remedy(other)
        return Remedy(self.python + more.python, self.command + more.command)

    def __radd__(self, other: str) -> Remedy:
        return as_remedy(other) + self


Advice = str | Remedy
"""A remedy for both Python and the command, or one for each."""


def as_remedy(advice: Advice) -> Remedy:
    """A text as the remedy for both Python and the command."""
    return advice if isinstance(advice, Remedy) else Remedy(advice, advice)


def declaring(column: object, kind: str) -> Remedy:
    """How to declare the type of a column; the option of the command can be pasted.

    >>> declaring("post code", "category")
    Remedy(python="columns={'post code': 'category'}", command="--types 'post code=category'")
    """
    return Remedy(f"columns={{{str(column)!r}: {kind!r}}}", f"--types {pasted(f'{column}={kind}')}")


def ignoring(column: object) -> Remedy:
    """How to ignore a column.

    >>> ignoring("TBG measured").command
    "--ignore 'TBG measured'"
    """
    return Remedy(f"columns={{{str(column)!r}: 'ignore'}}", f"--ignore {pasted(column)}")


def missing_mark(text: str) -> Remedy:
    """How to declare that a text means missing.

    >>> missing_mark("?")
    Remedy(python="na=['?']", command="--na '?'")
    """
    return Remedy(f"na=[{text!r}]", f"--na {pasted(text)}")


def parameter(name: str, value: object) -> Remedy:
    """How to set a parameter.

    >>> parameter("target_bins", 5)
    Remedy(python='target_bins=5', command='--target-bins 5')
    """
    return Remedy(f"{name}={value!r}", f"--{name.replace('_', '-')} {pasted(value)}")


def existing_columns(column: str, names: list[str]) -> Advice | None:
    """A hint at the existing columns: the one nearest to `column`, or a list; None if there are no columns.

    >>> existing_columns("ag", ["age", "car"]), existing_columns("zip", ["age", "car"])
    ('Did you mean `age`?', 'The columns are `age`, `car`')
    """
    import difflib

    near = next(iter(difflib.get_close_matches(column, names, n=1)), None)
    if near is not None and near.startswith(f"{column} "):
        return f"Did you mean `{near}`?" + Remedy("", f" Quote a name that contains spaces: {pasted(near)}")
    if near is not None:
        return f"Did you mean `{near}`?"
    listed = ", ".join(f"`{name}`" for name in names[:12]) + (", ..." if len(names) > 12 else "")
    return f"The columns are {listed}" if names else None


def pasted(text: object) -> str:
    """A word quoted for the shell.

    >>> pasted("zip"), pasted("TBG measured")
    ('zip', "'TBG measured'")
    """
    import shlex

    return shlex.quote(str(text))


class Described(Exception):
    """The base of errors and warnings: what happened and, if known, where, what was found and the remedy."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        found: object = None,
        remedy: Advice | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.found = found
        self.advice = remedy
        super().__init__(what)

    @property
    def remedy(self) -> str | None:
        """What to do about it, in Python or in the command, whichever shows the message."""
        return None if self.advice is None else str(self.advice)

    @remedy.setter
    def remedy(self, advice: Advice | None) -> None:
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.without_remedy()}. {self.remedy}" if self.remedy else self.without_remedy()

    def without_remedy(self) -> str:
        """The message without the remedy: where, what, and what was found."""
        message = f"{self.where}: {self.what}" if self.where else self.what
        return message if self.found is None else f"{message}, got {shown(self.found)}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.__dict__.copy()))


def _rebuild(kind: type[Described], state: dict[str, object]) -> Described:
    described = kind.__new__(kind)
    described.__dict__.update(state)
    return described
