"""Small well-known tables, typed as facts: a dict of columns and the labels."""

from __future__ import annotations

from typing import Any, NamedTuple


class Data(NamedTuple):
    """Columns by name, and a label a row."""

    X: dict[str, list[Any]]
    y: list[Any]


def _columns(names: str, rows: str) -> Data:
    """A table written as text: the last column is the label."""
    cells = [line.split() for line in rows.strip().splitlines()]
    *columns, labels = (list(column) for column in zip(*cells, strict=True))
    return Data(dict(zip(names.split(), columns, strict=True)), labels)


SHAPES = _columns(
    "shape colour size",
    """
    circle   blue large  +
    circle   red  medium -
    circle   red  large  -
    square   blue small  -
    square   red  small  -
    square   red  medium +
    square   blue medium +
    square   blue large  -
    triangle red  small  -
    triangle red  large  +
    triangle blue medium +
    """,
)

HABITS = ("shortbread", "lager", "whiskey", "porridge", "football")

_ENGLISH = ("011100", "001110", "110000", "110001", "101010")  # a line a habit, a column a person
_SCOTTISH = ("1111111", "0111100", "0010011", "1011101", "1100100")

SCOTS = Data(
    {
        habit: [int(digit) for digit in english + scottish]
        for habit, english, scottish in zip(HABITS, _ENGLISH, _SCOTTISH, strict=True)
    },
    ["E"] * 6 + ["S"] * 7,
)

CARS = Data(
    {"age": [25, 20, 25, 45, 20, 25], "car": ["sports", "vintage", "sports", "suv", "sports", "suv"]},
    ["L", "H", "L", "H", "H", "H"],
)

HEAVY = _columns(
    "heavy size colour",
    """
    Yes L R +
    No  M B +
    No  L G +
    No  L G +
    Yes M R -
    Yes L G -
    No  M G -
    """,
)

WORDS = ("Auckland", "Bird", "Kiwi", "Munich", "Oktoberfest", "Sheep")

_DOCUMENTS = ("Kiwi Sheep Kiwi", "Kiwi Kiwi Bird", "Kiwi Auckland", "Munich Oktoberfest Kiwi")

DOCUMENTS = Data({word: [text.split().count(word) for text in _DOCUMENTS] for word in WORDS}, ["NZ", "NZ", "NZ", "DE"])

TENNIS = _columns(
    "outlook temperature humidity windy",
    """
    sunny    hot  high   false no
    sunny    hot  high   true  no
    overcast hot  high   false yes
    rainy    mild high   false yes
    rainy    cool normal false yes
    rainy    cool normal true  no
    overcast cool normal true  yes
    sunny    mild high   false no
    sunny    cool normal false yes
    rainy    mild normal false yes
    sunny    mild normal true  yes
    overcast mild high   true  yes
    overcast hot  normal false yes
    rainy    mild high   true  no
    """,
)
