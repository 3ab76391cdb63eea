"""Models as expressions that Spark compiles: the answers of the core, by methods that are small enough for Java."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import CannotExport, UnknownChoice

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("sockets_left_open")]

LARGEST = 8_000  # bytes of a method that Java still compiles to machine code
PYTHON = re.compile("ArrowEvalPython|InArrow")  # the parts of a plan that send rows to Python


def people(rows: int, seed: int, classes: int = 3) -> pa.Table:
    """Every type that is read without Python, with missing values."""
    draw = np.random.default_rng(seed)
    label = draw.integers(0, classes, rows)

    def some(values: Any) -> pa.Array:
        return pa.array(values, mask=draw.random(rows) < 0.1)

    cars = np.array(["suv", "{van}", "Käfer", "", "the old one"])
    return pa.table(
        {
            "age": some(draw.normal(40 + 5 * label, 8)),
            "big.income": some(1e12 + draw.normal(label, 1)),
            "tiny": some(1e-200 * draw.normal(label, 1)),
            "huge": some(1e200 * draw.normal(label, 1)),
            "height": some(draw.normal(label, 1).astype(np.float32)),
            "visits": some(draw.poisson(3 + label)),
            "the `car`": some(cars[np.minimum(draw.geometric(0.3 + 0.1 * label) - 1, 4)]),
            "member": some(draw.random(rows) < 0.2 + 0.3 * label / classes),
            "smokes": some((draw.random(rows) < 0.5 - 0.1 * label / classes).astype(np.int64)),
            "zip": some(draw.integers(0, 4, rows) * 10 + label),
            "risk": pa.array(np.array(["low", "high", "middling", *map(str, range(classes))])[label]),
        }
    )


def asked() -> pa.Table:
    """Rows to score: levels never seen, a flag that is none, values far away and missing ones."""
    rows = people(60, 1).drop_columns(["risk"]).to_pydict()
    rows["age"][3:8] = [1e300, -1e300, float("nan"), 1e20, 0.0]
    rows["the `car`"][:4] = ["never seen", "SUV", None, "suv "]
    rows["smokes"][5:7] = [2, -1]
    rows["zip"][8:10] = [999, None]
    missing = {name: [*values, None] for name, values in rows.items()}
    return pa.table(missing, schema=people(1, 1).drop_columns(["risk"]).schema)


def learned(model: Any, rows: int = 400, target: Callable[[str], Any] = str) -> Any:
    table = people(rows, 0)
    return model.fit(table.drop_columns(["risk"]), [target(label) for label in table["risk"].to_pylist()])


def _number(label: str) -> float:
    return float(len(label))


KINDS = {"zip": "category"}
MODELS: dict[str, Callable[[], Any]] = {
    "normal": lambda: learned(bb.NaiveBayes(numeric="gaussian", columns=KINDS)),
    "missing is a level": lambda: learned(bb.NaiveBayes(numeric="gaussian", missing="level"), target=len),
    "unseen smoothed": lambda: learned(bb.NaiveBayes(numeric="gaussian", unseen="smooth", columns=KINDS), 60),
    "zeros": lambda: learned(bb.NaiveBayes(numeric="gaussian", smoothing="mle", columns=KINDS), 40, "low".__eq__),
    "weights": lambda: learned(bb.NaiveBayes(numeric="gaussian", column_weights="learned"), target=_number),
    "temperature": lambda: learned(bb.NaiveBayes(numeric="gaussian", calibration="temperature")),
    "prior": lambda: learned(bb.NaiveBayes(numeric="gaussian")).with_prior({"low": 0, "high": 0.3, "middling": 0.7}),
    "small": lambda: bb.NaiveBayes(numeric="gaussian").fit(people(50, 3).select(["age", "the `car`"]), ["a", "b"] * 25),
}


def in_spark(spark: Any, rows: pa.Table) -> Any:
    """The rows as a frame with their numbers."""
    types = {"double": "double", "float": "float", "int64": "bigint", "string": "string", "bool": "boolean"}
    quoted = [(name.replace("`", "``"), types[str(rows.schema.field(name).type)]) for name in rows.column_names]
    fields = ", ".join(f"`{name}` {kind}" for name, kind in quoted)
    listed = [(number, *row.values()) for number, row in enumerate(rows.to_pylist())]
    return spark.createDataFrame(listed, f"number int, {fields}")


def answers_of(frame: Any) -> tuple[list[Any], np.ndarray]:
    """The classes and the probabilities, by number."""
    rows = sorted((tuple(row) for row in frame.collect()), key=lambda row: row[0])
    return [row[1] for row in rows], np.array([row[2:] for row in rows], dtype=np.float64)


def plan(frame: Any) -> str:
    return str(frame._jdf.queryExecution().toString())


@pytest.mark.parametrize("name", MODELS)
def test_the_answers_of_the_core(spark: Any, name: str) -> None:
    model, rows = MODELS[name](), asked()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bb.DataWarning)  # rows that no class allows, levels never seen
        expected, posterior = model.predict(rows).tolist(), model.predict_proba(rows)
    frame = in_spark(spark, rows)
    scored = bb.predict(model, frame, proba=True, keep=["number"], engine="sql")
    assert scored.columns == ["number", "prediction", *(f"P({label})" for label in model.classifier_.model.classes)]
    found, shares = answers_of(scored)
    np.testing.assert_allclose(shares, posterior, rtol=0, atol=1e-12)
    assert not PYTHON.search(plan(scored))
    classes, _ = answers_of(bb.predict(model, frame, keep=["number"]))  # as `auto` chooses
    ordered = np.sort(posterior, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-12
    for each in (found, classes):
        assert [label for label, is_clear in zip(each, clear, strict=True) if is_clear] == [
            label for label, is_clear in zip(expected, clear, strict=True) if is_clear
        ]
    assert clear.sum() > 50


def test_the_cases_reach_what_they_are_for() -> None:
    rows = asked()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bb.DataWarning)
        joint = MODELS["zeros"]().joint_log_proba(rows)
        assert np.isneginf(joint).any(axis=1).sum() > 5
        assert np.isneginf(MODELS["normal"]().joint_log_proba(rows)).all(axis=1).any()
    weights = MODELS["weights"]().column_weights_.values()
    assert any(weight not in (0, 1) for weight in weights)
    assert MODELS["temperature"]().classifier_.calibrated is not None


def test_one_class_labels_and_all_columns(spark: Any) -> None:
    rows = pa.table({"age": [1.5, None], "other": ["x", "y"]})
    only = bb.NaiveBayes(numeric="gaussian").fit({"age": [1.0, 2.0]}, [7, 7])
    scored = bb.predict(only, in_spark(spark, rows), proba=True, engine="sql")
    assert scored.columns == ["number", "age", "other", "prediction", "P(7)"]
    assert scored.schema["prediction"].dataType.typeName() == "long"
    assert [tuple(row) for row in scored.orderBy("number").collect()] == [
        (0, 1.5, "x", 7, 1.0),
        (1, None, "y", 7, 1.0),
    ]


def test_an_infinite_number_is_refused(spark: Any) -> None:
    model = bb.NaiveBayes(numeric="gaussian").fit({"age": [1.0, 2.0, 5.0], "size": [3.0, 1.0, 2.0]}, ["a", "b", "b"])
    frame = in_spark(spark, pa.table({"age": [1.0, 1.0], "size": [2.0, float("-inf")]}))
    for proba in (False, True):
        with pytest.raises(Exception, match="column `size` contains an infinite value"):
            bb.predict(model, frame, proba=proba, engine="sql").collect()


def test_what_needs_the_core(spark: Any) -> None:
    """With `auto` it is asked; with `sql` there is a reason."""
    rows = people(40, 5)
    X, y = rows.drop_columns(["risk"]), rows["risk"].to_pylist()
    frame = in_spark(spark, X)
    normal = bb.NaiveBayes(numeric="gaussian").fit(X, y)
    quoted = bb.NaiveBayes().fit({"the `car`": ["it's", "suv", "suv"]}, ["a", "b", "b"])
    needing = [
        (bb.NaiveBayes().fit(X, y), frame, {}),
        (bb.NaiveBayes(unseen="error", numeric="gaussian").fit(X, y), frame, {}),
        (bb.TAN().fit(X.select(["member", "the `car`"]), y), frame, {}),
        (quoted, frame, {}),
        (normal, frame, {"explain": 1}),
        (normal, frame.drop("age"), {}),
        (normal, frame.withColumn("age", frame["age"].cast("string")), {}),
        (bb.NaiveBayes(numeric="gaussian").fit(_wide(90), y), in_spark(spark, _wide(90)), {}),
    ]
    for model, data, options in needing:
        with refusal(CannotExport):
            bb.predict(model, data, engine="sql", **options)
        assert PYTHON.search(plan(bb.predict(model, data, **options)))
    assert PYTHON.search(plan(bb.predict(normal, frame, engine="arrow")))
    with refusal(UnknownChoice, kind="engine", name="java"):
        bb.predict(normal, frame, engine="java")


def _wide(columns: int, rows: int = 40) -> pa.Table:
    draw = np.random.default_rng(8)
    return pa.table({f"x{place}": draw.normal(size=rows) for place in range(columns)})


@pytest.mark.parametrize(
    ("numbers", "categories", "classes"), [(20, 0, 3), (8, 0, 3), (35, 0, 2), (0, 24, 3), (14, 14, 2), (2, 1, 18)]
)
def test_java_compiles_every_method(spark: Any, numbers: int, categories: int, classes: int) -> None:
    """The largest models that `auto` gives to Spark among them, with all columns kept and with one."""
    draw = np.random.default_rng(6)
    label = np.arange(240) % classes
    columns: dict[str, Any] = {f"x{place}": draw.normal(1e3 + label, 1) for place in range(numbers)}
    words = np.array([f"level{place}" for place in range(40)])
    columns |= {f"c{place}": words[draw.integers(0, 40, 240)] for place in range(categories)}
    rows = pa.table(columns)
    model = bb.NaiveBayes(numeric="gaussian").fit(rows, label)
    frame = in_spark(spark, rows.slice(0, 2))
    for options in ({"proba": True}, {"keep": ["number"]}):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            bb.predict(model, frame, engine="sql", **options).explain("codegen")
        sizes = [int(size) for size in re.findall(r"maxMethodCodeSize:(\d+)", said.getvalue())]
        assert sizes, said.getvalue()[:500]
        assert max(sizes) < LARGEST
