"""A folder with a model of each kind that is served, and what the library itself answers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import bayesbox as bb

COLUMNS = ("age", "car", "married", "joined", "person")


def people(count: int = 200, seed: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows with numbers, levels, flags and dates, some of them missing, and a column that is ignored."""
    draw = random.Random(seed)
    rows, labels = [], []
    for place in range(count):
        risky = draw.random() < 0.4
        row: dict[str, Any] = {
            "age": round(draw.gauss(30 if risky else 50, 8), 1),
            "car": draw.choice(["sports", "suv"] if risky else ["suv", "van", "van"]),
            "married": draw.random() < (0.3 if risky else 0.7),
            "joined": f"20{draw.randrange(10, 24)}-0{draw.randrange(1, 10)}-1{draw.randrange(10)}",
            "person": f"p{place % 50}",
        }
        for name in ("age", "car", "married", "joined"):
            if draw.random() < 0.1:
                row[name] = None
        rows.append(row)
        labels.append("high" if risky else "low")
    return rows, labels


def make_people(path: Path) -> bb.NaiveBayes:
    rows, labels = people()
    model = bb.NaiveBayes(columns={"person": bb.Ignore()}).fit(rows, labels)
    model.save(path)
    return model


def make_numbers(path: Path) -> bb.AODE:
    """Another kind, with integers for classes."""
    rows, labels = people(120, seed=1)
    plain = [{name: row[name] for name in ("car", "married")} for row in rows]
    model = bb.AODE().fit(plain, [int(label == "high") for label in labels])
    model.save(path)
    return model


def make_mail(path: Path) -> bb.TextClassifier:
    model = bb.TextClassifier().fit(
        ["buy cheap pills now", "cheap cheap offer", "meeting at noon", "notes of the meeting"],
        ["spam", "spam", "ham", "ham"],
    )
    model.save(path)
    return model


def make_weather(path: Path) -> bb.HiddenMarkovModel:
    model = bb.HiddenMarkovModel.from_tables(
        start=[0.6, 0.4],
        transition=[[0.7, 0.3], [0.4, 0.6]],
        emission=[[0.1, 0.9], [0.8, 0.2]],
        states=["rain", "dry"],
        symbols=["walk", "shop"],
    )
    model.save(path)
    return model


def make_alarm(path: Path) -> bb.BayesianNetwork:
    model = bb.BayesianNetwork(
        {"A": ["B", "E"], "B": [], "E": [], "J": ["A"]},
        {
            "B": {"true": 0.001, "false": 0.999},
            "E": {"true": 0.002, "false": 0.998},
            "A": {
                ("true", "true"): {"true": 0.95, "false": 0.05},
                ("true", "false"): {"true": 0.94, "false": 0.06},
                ("false", "true"): {"true": 0.29, "false": 0.71},
                ("false", "false"): {"true": 0.001, "false": 0.999},
            },
            "J": {("true",): {"true": 0.9, "false": 0.1}, ("false",): {"true": 0.05, "false": 0.95}},
        },
    )
    model.write(path)
    return model


def make_folder(folder: Path) -> dict[str, Any]:
    """The models by name, in a folder."""
    return {
        "people": make_people(folder / "people.bayes"),
        "numbers": make_numbers(folder / "numbers.bayes"),
        "mail": make_mail(folder / "mail.bayes"),
        "weather": make_weather(folder / "weather.bayes"),
        "alarm": make_alarm(folder / "alarm.bif"),
    }
