"""The themes of small tables: a target with two classes, and columns with a few levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bayesbox.teach.draw import Draw
from bayesbox.teach.sheet import SheetTable, listed


class Theme(NamedTuple):
    """A story for a table."""

    rows: str  # what a row is
    target: str
    classes: tuple[str, str]
    columns: Mapping[str, tuple[str, ...]]


THEMES = (
    Theme(
        "mushrooms",
        "edible",
        ("yes", "no"),
        {"cap": ("flat", "round"), "colour": ("brown", "red", "white"), "smell": ("none", "strong")},
    ),
    Theme(
        "parcels",
        "late",
        ("yes", "no"),
        {"size": ("large", "small"), "sent": ("air", "rail", "road"), "weather": ("fair", "snow")},
    ),
    Theme(
        "machines",
        "state",
        ("fault", "fine"),
        {"noise": ("high", "low"), "heat": ("cold", "hot", "warm"), "age": ("new", "old")},
    ),
    Theme(
        "birds",
        "home",
        ("forest", "shore"),
        {"bill": ("long", "short"), "colour": ("black", "green", "grey"), "sings": ("often", "seldom")},
    ),
    Theme(
        "guests",
        "returns",
        ("yes", "no"),
        {"room": ("quiet", "loud"), "stay": ("long", "short", "weekend"), "meals": ("some", "none")},
    ),
)


class DrawnTable(NamedTuple):
    """The rows of a table: columns by name, and the labels."""

    theme: Theme
    columns: dict[str, list[str]]
    labels: list[str]

    @property
    def data(self) -> dict[str, list[str]]:
        """The columns and the target."""
        return {**self.columns, self.theme.target: self.labels}

    def rows_with(self, label: str, case: Mapping[str, str]) -> int:
        """The rows of a class with these values."""
        return sum(
            each == label and all(self.columns[name][place] == value for name, value in case.items())
            for place, each in enumerate(self.labels)
        )

    @property
    def is_varied(self) -> bool:
        """Whether both classes have at least three rows, and every level of every column occurs."""
        return min(map(self.labels.count, self.theme.classes)) >= 3 and all(
            set(self.columns[name]) == set(levels) for name, levels in self.theme.columns.items()
        )

    def shown(self) -> SheetTable:
        """The table on the sheet."""
        heads = tuple(self.data)
        caption = f"{len(self.labels)} {self.theme.rows} of which {self.theme.target} is known:"
        return SheetTable(caption, heads, tuple(zip(*self.data.values(), strict=True)))


def drawn_table(draw: Draw, columns: int, rows: int) -> DrawnTable | None:
    """A table of some columns of a theme; None if a class or a level is rare."""
    theme = draw.one(THEMES)
    names = draw.some(list(theme.columns), columns)
    theme = theme._replace(columns={name: theme.columns[name] for name in names})
    labels = [draw.one(theme.classes) for _ in range(rows)]
    found = DrawnTable(theme, {name: [draw.one(theme.columns[name]) for _ in labels] for name in names}, labels)
    return found if found.is_varied else None


def case_text(case: Mapping[str, str]) -> str:
    """A case in a sentence.

    >>> case_text({"cap": "flat", "colour": "red"})
    'cap = flat and colour = red'
    """
    return listed([f"{name} = {value}" for name, value in case.items()])


def event(target: str, label: str, case: Mapping[str, str]) -> str:
    """P(label | case).

    >>> event("late", "yes", {"size": "large"})
    'P(late=yes | size=large)'
    """
    return f"P({target}={label} | {', '.join(f'{name}={value}' for name, value in case.items())})"
