"""The tables and networks of the five texts as files, for the items that a teacher goes through."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.tables import CARS, HEAVY, SCOTS, SHAPES, TENNIS, Data

import bayesbox as bb

BURGLARY = bb.BayesianNetwork(
    {"B": [], "E": [], "A": ["B", "E"], "J": ["A"], "M": ["A"]},
    {
        "B": 0.001,
        "E": 0.002,
        "A": {(True, True): 0.95, (True, False): 0.94, (False, True): 0.29, (False, False): 0.001},
        "J": {True: 0.9, False: 0.05},
        "M": {True: 0.7, False: 0.01},
    },
)
LUNG = bb.BayesianNetwork(
    {"FH": [], "S": [], "LC": ["FH", "S"]},
    {"FH": 0.1, "S": 0.3, "LC": {(True, True): 0.8, (True, False): 0.5, (False, True): 0.7, (False, False): 0.1}},
)
FIVE = {"X1": [], "X2": [], "X3": ["X1", "X2"], "X4": ["X2"], "X5": ["X4"]}
WEATHER = {
    "states": ["rain", "dry"],
    "symbols": ["walk", "shop", "clean"],
    "start": [0.6, 0.4],
    "transition": [[0.7, 0.3], [0.4, 0.6]],
    "emission": [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]],
}
DAYS = ["walk", "shop", "clean"]
TEXTS = ["Kiwi Sheep Kiwi", "Kiwi Kiwi Bird", "Kiwi Auckland", "Munich Oktoberfest Kiwi"]
COUNTRIES = ["NZ", "NZ", "NZ", "DE"]
NEW_TEXT = "Kiwi Kiwi Kiwi Munich Oktoberfest"
RADIO = {
    f"Radio{place}": {
        "young": {"like": young, "dislike": round(1 - young, 2)},
        "old": {"like": old, "dislike": round(1 - old, 2)},
    }
    for place, (young, old) in enumerate(zip((0.95, 0.05, 0.02, 0.2), (0.03, 0.82, 0.34, 0.92), strict=True), start=1)
}
CAR_TYPES = "age=real:floor=0,car=category:sports:vintage:suv:truck"


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")


def write_files(folder: Path) -> None:
    """Every table, network and model of the items."""
    tables: dict[str, tuple[Data, str]] = {
        "shapes": (SHAPES, "class"),
        "scots": (SCOTS, "class"),
        "cars": (CARS, "class"),
        "heavy": (HEAVY, "label"),
        "tennis": (TENNIS, "play"),
    }
    for name, (data, target) in tables.items():
        write_csv(folder / f"{name}.csv", {**data.X, target: data.y})
    write_csv(folder / "documents.csv", {"text": TEXTS, "class": COUNTRIES})
    (folder / "tests.csv").write_text("heavy,size,colour\nYes,M,R\nYes,M,B\nYes,M,?\n")
    (folder / "days.csv").write_text("seen\n" + "\n".join(DAYS) + "\n")
    (folder / "weather.json").write_text(json.dumps(WEATHER))
    (folder / "radio.json").write_text(json.dumps({"prior": {"young": "2/5", "old": "3/5"}, "tables": RADIO}))
    BURGLARY.write(str(folder / "burglary.bif"))
    LUNG.write(str(folder / "lung.bif"))
    half = {"t": 0.5, "f": 0.5}
    cpts = {node: dict.fromkeys(_states(len(of)), half) if of else half for node, of in FIVE.items()}
    bb.BayesianNetwork(FIVE, cpts).write(str(folder / "five.bif"))


def _states(count: int) -> list[tuple[str, ...]]:
    return [(*rest, state) for rest in _states(count - 1) for state in "tf"] if count else [()]


def case(**values: object) -> list[str]:
    return [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
