"""Models of every form with rows to score: what each export must answer as `predict_proba` does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from tests.tables import DOCUMENTS, TENNIS, WORDS

import bayesbox as bb


class Case(NamedTuple):
    """A model and rows, and what Python says of them."""

    model: Any
    rows: pa.Table

    @property
    def posterior(self) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bb.DataWarning)  # rows that no class allows
            return self.model.predict_proba(self.rows)

    @property
    def predictions(self) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bb.DataWarning)
            return self.model.predict(self.rows).tolist()


CASES: dict[str, Callable[[], Case]] = {}


def case(make: Callable[[], Case]) -> Callable[[], Case]:
    CASES[make.__name__] = make
    return make


def people(rows: int, seed: int) -> pa.Table:
    """Rows of every kind of column, with holes; names and levels with quotes, spaces and letters from elsewhere."""
    draw = np.random.default_rng(seed)
    label = draw.integers(0, 3, rows)

    def holes(values: Any) -> pa.Array:
        return pa.array(values, mask=draw.random(rows) < 0.1)

    cars = np.array(["suv", "it's", 'the "old"', "C:\\new", "Käfer", ""])
    return pa.table(
        {
            "age": holes(draw.normal(40 + 5 * label, 8)),
            "big income": holes(1e12 + draw.normal(label, 1)),
            "tiny": holes(1e-200 * draw.normal(label, 1)),
            "huge": holes(1e200 * draw.normal(label, 1)),
            "visits": holes(draw.poisson(1 + label)),
            'the "car"': holes(cars[np.minimum(draw.geometric(0.3 + 0.1 * label) - 1, 5)]),
            "member": holes(draw.random(rows) < 0.2 + 0.3 * label),
            "smokes": holes((draw.random(rows) < 0.5 - 0.1 * label).astype(np.int64)),
            "zip": holes(draw.integers(0, 4, rows) * 10 + label),
            "risk": pa.array(np.array(["low", "it's high", "middling"])[label]),
        }
    )


def asked(seed: int = 1) -> pa.Table:
    """Rows to score, with levels never seen and values far away among them."""
    rows = people(60, seed).drop_columns(["risk"])
    car = rows['the "car"'].to_pylist()
    car[:4] = ["never seen", "SUV", None, "suv "]
    age = rows["age"].to_pylist()
    age[3:8] = [1e300, -1e300, float("nan"), 1e20, 0.0]
    smokes = rows["smokes"].to_pylist()
    smokes[5:7] = [2, -1]
    return (
        rows.set_column(5, 'the "car"', pa.array(car))
        .set_column(0, "age", pa.array(age, pa.float64()))
        .set_column(7, "smokes", pa.array(smokes, pa.int64()))
    )


def learned(model: Any, rows: int = 400) -> Any:
    table = people(rows, 0)
    return model.fit(table.drop_columns(["risk"]), table["risk"])


@case
def mixed() -> Case:
    return Case(learned(bb.NaiveBayes()), asked())


@case
def missing_is_a_level() -> Case:
    return Case(
        learned(bb.NaiveBayes(missing="level", columns={"visits": "count:poisson", "zip": "category"})), asked()
    )


@case
def without_smoothing() -> Case:
    return Case(learned(bb.NaiveBayes(smoothing="mle", columns={"zip": "category"}), rows=40), asked())


@case
def unseen_left_out() -> Case:
    return Case(learned(bb.NaiveBayes(unseen="ignore", smoothing="m:2")), asked())


@case
def integer_categories_and_labels() -> Case:
    rows = {"zip": [10115, 10115, 80331, 80331, 7], "floor": [1.0, 2.0, 1.0, 2.5, -1.0]}
    model = bb.NaiveBayes(columns={"zip": "category", "floor": "category"}).fit(rows, [2, 2, 10, 10, 2])
    floors = pa.array([1.0, 2.5, 2.0, -1.0, None, float("nan"), 3.0], pa.float64())
    return Case(model, pa.table({"zip": pa.array([10115, 80331, 7, None, 5, 80331, 10115]), "floor": floors}))


@case
def point_masses() -> Case:
    rows = {
        "length": [1.0, 1.0, 2.0, 3.0, 0.3, 0.3],
        "weight": [5.0, 5.0, 4.0, 6.0, 5.0, 5.0],
        "hue": ["r", "r", "g", "b", "b", "r"],
    }
    exact = {"length": bb.Real(floor=0), "weight": bb.Real(floor=0)}
    model = bb.NaiveBayes(smoothing="mle", columns=exact).fit(rows, ["a", "a", "b", "b", "c", "c"])
    grid = [(x, w, h) for x in (1.0, 0.3, 2.0, None) for w in (5.0, 4.5, None) for h in ("r", "g", None)]
    names = ("length", "weight", "hue")
    return Case(model, pa.table({name: [row[at] for row in grid] for at, name in enumerate(names)}))


@case
def other_densities() -> Case:
    """Student's t, the log-normal density and bins, side by side; a value of 0 or below has its own probability."""
    draw = np.random.default_rng(9)
    label = draw.integers(0, 3, 200)
    rows = pa.table(
        {
            "offset": 1e9 + draw.normal(label, 1),
            "wide": draw.standard_t(2, 200) + label,
            "pay": np.where(draw.random(200) < 0.1, 0.0, np.exp(draw.normal(label, 1))),
            "cost": pa.array(np.exp(draw.normal(-label, 1)), mask=draw.random(200) < 0.1),
            "age": draw.normal(40 + 5 * label, 8),
            "size": pa.array(draw.normal(label, 1), mask=draw.random(200) < 0.2),
        }
    )
    kinds = {"offset": "student", "wide": "student", "pay": "lognormal", "cost": "lognormal", "age": "mdl"}
    columns = {name: bb.Real(density) for name, density in kinds.items()}
    model = bb.NaiveBayes(columns={**columns, "size": bb.Real("frequency:5", missing="level")}).fit(rows, label)
    far = {"wide": [1e300, 0.0, None], "pay": [0.0, -1.0, 1e-300], "cost": [0.0, None, 5.0], "size": [None, -9.0, 9.0]}
    asked = {name: far.get(name, [None, 1e9, 40.0]) for name in rows.column_names}
    asked["age"] = [float(model.classifier_.model.conditional("age").cuts[0]), 40.0, None]  # a value on a cut
    return Case(model, pa.concat_tables([rows.slice(0, 40), pa.table(asked).cast(rows.schema)]))


@case
def words_counted() -> Case:
    model = bb.NaiveBayes(smoothing="mle", columns={word: bb.Count() for word in WORDS}).fit(DOCUMENTS.X, DOCUMENTS.y)
    rows = {word: [0, 1, None, 2, 0] if word != "Kiwi" else [3, 0, 1, 1, 0] for word in WORDS}
    return Case(model, pa.table(rows))


@case
def words_counted_and_smoothed() -> Case:
    model = bb.NaiveBayes(columns={word: bb.Count() for word in WORDS}).fit(DOCUMENTS.X, DOCUMENTS.y)
    return Case(model, pa.table({word: [3, 0, 1, 7, None] for word in WORDS}))


@case
def poisson_counts() -> Case:
    counts = bb.Count("poisson")
    model = bb.NaiveBayes(smoothing="mle", columns={"calls": counts, "mails": counts})
    model.fit({"calls": [0, 0, 3, 4], "mails": [1, 2, 9, 7]}, [False, False, True, True])
    return Case(model, pa.table({"calls": [0.0, 2.0, 1.5, -1.0, None, 30.0], "mails": [0.0, 5.0, 1.0, 2.0, 3.0, None]}))


@case
def one_hot_flags() -> Case:
    rows = {"suv": [1, 0, 0, 1], "van": [0, 1, 0, 0], "age": [30, 40, 50, 35]}
    model = bb.NaiveBayes(one_hot={"car": ["suv", "van"]}).fit(rows, ["L", "H", "H", "L"])
    return Case(model, pa.table({"suv": [1, 0, 0, None], "van": [0, 1, 0, 1], "age": [33, 33, 33, None]}))


@case
def weighted_columns() -> Case:
    """Every factor raised to a power of its own."""
    model = learned(bb.NaiveBayes(column_weights="learned", columns={"zip": "category", "visits": "count:poisson"}))
    assert any(weight not in (0, 1) for weight in model.column_weights_.values())
    return Case(model, asked())


@case
def calibrated_by_temperature() -> Case:
    model = learned(bb.NaiveBayes(calibration="temperature"))
    assert model.classifier_.calibrated is not None
    return Case(model, asked())


@case
def given_tables() -> Case:
    like = {"young": {"like": 0.95, "dislike": 0.05}, "old": {"like": 0.03, "dislike": 0.97}}
    model = bb.NaiveBayes.from_tables(prior={"young": 0.4, "old": 0.6}, tables={"Radio1": like, "Radio4": like})
    return Case(model, pa.table({"Radio1": ["like", "dislike", None, "?"], "Radio4": ["dislike", "like", "like", "?"]}))


@case
def another_prior() -> Case:
    model = bb.NaiveBayes().fit(TENNIS.X, TENNIS.y).with_prior({"yes": 0.0, "no": 1.0})
    return Case(model, pa.table(TENNIS.X))


@case
def one_class() -> Case:
    return Case(bb.NaiveBayes().fit({"age": [1.0, 2.0]}, ["only", "only"]), pa.table({"age": [1.5, None]}))


@case
def many_columns() -> Case:
    """Three hundred columns: no sum may be too deep for a database."""
    return _flags(columns=300, classes=2)


@case
def many_classes() -> Case:
    return _flags(columns=3, classes=120)


def _flags(columns: int, classes: int) -> Case:
    draw = np.random.default_rng(5)
    label = np.repeat(np.arange(classes), 3)
    flags = draw.random((len(label), columns)) < 0.3 + 0.4 * (label % 2)[:, None]
    rows = {f"flag {place}": flags[:, place] for place in range(columns)}
    return Case(bb.NaiveBayes().fit(rows, label), pa.table(rows).slice(0, 20))
