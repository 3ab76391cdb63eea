"""What errors and warnings alike are: what happened, where, what was found, and the remedy."""

from __future__ import annotations

SHOWN = 80  # characters of a found value that a message repeats


def shown(value: object) -> str:
    """A value as a message shows it: quoted, printable, cut at 80 characters.

    >>> shown("3,5")
    "'3,5'"
    """
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


class Described(Exception):
    """What happened, and where, what was found and the remedy as far as they are known: errors and warnings alike."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        found: object = None,
        remedy: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.found = found
        self.remedy = remedy
        super().__init__(what)

    def __str__(self) -> str:
        return f"{self.without_remedy()}. {self.remedy}" if self.remedy else self.without_remedy()

    def without_remedy(self) -> str:
        """Where and what, and what was found."""
        message = f"{self.where}: {self.what}" if self.where else self.what
        return message if self.found is None else f"{message}; found {shown(self.found)}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.__dict__.copy()))


def _rebuild(kind: type[Described], state: dict[str, object]) -> Described:
    described = kind.__new__(kind)
    described.__dict__.update(state)
    return described
