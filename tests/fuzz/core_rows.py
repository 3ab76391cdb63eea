"""A right call of each class of the core that takes rows one at a time, and of its elementary functions."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
from tests.fuzz.core_examples import example

import bayesbox as bb
from bayesbox import _core
from bayesbox.classifier.one_row.live import live_counts
from bayesbox.classifier.one_row.waiting import WaitingRows, _column

ROW = {"age": 31.5, "car": "suv", "wed": True, "cap": 0.7, "other": None}


@functools.cache
def _classifier() -> Any:
    """A small model of numbers, levels, flags and bins."""
    draw = np.random.default_rng(0)
    rows = {
        "age": draw.normal(40, 9, 40),
        "car": np.where(draw.random(40) < 0.5, "suv", "truck"),
        "wed": draw.random(40) < 0.5,
        "pay": draw.normal(size=40),
        "cap": np.where(draw.random(40) < 0.3, 0.0, draw.lognormal(size=40)),
    }
    kinds = {"pay": bb.Real("width:3"), "cap": bb.Real("robust")}
    return bb.NaiveBayes(numeric="gaussian", columns=kinds).fit(rows, np.resize(["a", "b", "c"], 40)).classifier_


@functools.cache
def _pairs() -> Any:
    """The counts of every two columns of a small table."""
    draw = np.random.default_rng(1)
    rows = {name: draw.integers(0, 3, 40).astype(str) for name in ("car", "zip", "day")}
    return bb.AODE().fit(rows, np.resize(["a", "b", "c"], 40)).book_.joint


@example
def pair_tables(draw: np.random.Generator) -> Any:
    def run(
        counts: Any, sizes: Any, classes: Any, columns: Any, levels: Any, weights: Any, below: Any, out: Any
    ) -> None:
        _core.pair_information(counts, sizes, classes)
        _core.pair_backoff(counts, sizes, classes, columns, levels, weights, below, out)

    pairs = _pairs()
    classes, slots = len(pairs.classes), int(pairs.sizes.sum()) + 3  # with one for levels that were not seen
    levels = [np.arange(size, dtype=np.int64) for size in pairs.sizes.tolist()]
    below = draw.random((classes, slots)) + 0.1
    return run, (pairs.doubles, pairs.sizes, classes, np.arange(3), levels, np.array([1.0, 4.0]), below, np.log(below))


@example
def elementary(draw: np.random.Generator) -> Any:
    def run(values: Any) -> None:
        _core.logarithms(values)
        _core.exponentials(values)
        for function in (_core.exp, _core.exp2, _core.log1p, _core.log2, _core.cosh, _core.erf, _core.erfc):
            function(values)
        for function in (_core.lgamma, _core.log_gamma_step, _core.log_student_heights):
            function(values)

    return run, (-draw.random(9),)


@example
def cell_tree(draw: np.random.Generator) -> Any:
    def run(keys: Any, labels: Any, counts: Any, classes: Any, lines: Any, rows: Any, unit: Any) -> None:
        tree = _core.CellTree(keys, labels, counts, classes)
        for is_log in (False, True):
            tree.log_ratios(keys, *lines, *rows, labels, unit, is_log)

    keys = draw.integers(-8200, 8200, 60)
    lines = [np.abs(draw.normal(size=(60, 4))) + 0.1 for _ in range(3)]
    rows = [draw.normal(size=60), draw.normal(size=60)]
    return run, (keys, draw.integers(0, 3, 60).astype(np.int32), draw.random(60) * 30, 3, lines, rows, 1.0)


@example
def row_scorer(draw: np.random.Generator) -> Any:
    def run(prior: Any, columns: Any, labels: Any, calibration: Any, row: Any, matrix: Any, places: Any) -> None:
        scorer = _core.RowScorer(prior, columns, labels, False, calibration)
        for method in (scorer.proba, scorer.log_proba, scorer.proba_by_label, scorer.predict):
            method(row)
        scorer.proba_many([row, {}], True, False)
        scorer.best_many([row], True)
        scorer.proba_of_matrix(matrix, places, False)
        scorer.best_of_matrix(matrix, places)
        scorer.proba_of_columns([[1.5, None] for _ in columns], 2)

    model = _classifier().model
    columns = [each.compiled(1.0) for each in model.conditionals]
    places = np.arange(len(columns), dtype=np.int64)
    prior = np.ascontiguousarray(model.log_prior)
    return run, (prior, columns, ("a", "b", "c"), None, dict(ROW), draw.normal(size=(5, len(columns))), places)


@example
def row_scorer_of_normals(draw: np.random.Generator) -> Any:
    def run(prior: Any, kind: Any, names: Any, normals: Any, row: Any, matrix: Any) -> None:
        columns = [(kind, names, normals), ("number", "z", None, None, 1.0, None)]
        scorer = _core.RowScorer(prior, columns, ("a", "b", "c"), False, None)
        scorer.proba(row)
        scorer.proba_of_matrix(matrix, np.arange(3, dtype=np.int64), True)

    normals = np.abs(draw.normal(size=(2, 3, 4))) + 0.5
    row = {"x": 1.0, "z": 2.0}
    return run, (np.log([0.2, 0.3, 0.5]), "normals", ("x", "y"), normals, row, draw.normal(size=(5, 3)))


@example
def row_scorer_of_densities(draw: np.random.Generator) -> Any:
    def run(prior: Any, columns: Any, row: Any, matrix: Any) -> None:
        scorer = _core.RowScorer(prior, columns, ("a", "b"), False, None)
        scorer.proba(row)
        scorer.proba_of_matrix(matrix, np.arange(len(columns), dtype=np.int64), True)

    def two() -> Any:
        return np.abs(draw.normal(size=2)) + 0.5

    values = np.sort(draw.normal(size=6))
    curves = tuple((values, np.ones(6), 0.3, -3.0, 0.5, draw.normal(size=size)) for size in (0, 12))
    student = "student", 0.5, two(), two(), two() + 3, two()
    densities: list[tuple[Any, ...]] = [
        student,
        ("lognormal", two(), two(), two(), two(), 0.9),
        ("kernel", curves),
        ("mixed", student, ("normal", two(), two(), two(), two()), -0.7, -0.7),
    ]
    columns = [("density", f"x{place}", each, 1.0, two(), two()) for place, each in enumerate(densities)]
    row = {f"x{place}": float(draw.normal()) for place in range(len(columns))}
    return run, (np.log([0.4, 0.6]), columns, row, draw.normal(size=(9, len(columns))))


@example
def row_scorer_of_all_columns(draw: np.random.Generator) -> Any:
    def run(columns: Any, axes: Any, table: Any, places: Any, mean: Any, factor: Any, constant: Any, own: Any) -> None:
        joint = axes, table, False, places, mean, mean, factor, constant, own
        scorer = _core.RowScorer(np.log([0.4, 0.6]), columns, ("a", "b"), False, None, (), None, joint)
        scorer.proba({"car": "suv", "smoker": True, "age": 1.0, "height": 2.0})
        scorer.proba_many([{"car": "suv", "smoker": False, "age": 1.0, "height": 2.0}, {"car": "tram"}] * 9, True)

    numbers = [("number", name, None, None, 1.0, None) for name in ("age", "height")]
    columns = [("codes", "car", ("suv", "van"), False), ("codes", "smoker", 2, False), *numbers]
    factor = np.tile(np.tril(np.ones((2, 2))).ravel(), 3)
    own = ((1, np.array([0, 2])),)
    table = draw.normal(size=(7, 2))
    return run, (columns, ((0, True), (1, False)), table, (2, 3), draw.normal(size=6), factor, draw.normal(size=3), own)


@example
def json_scorer(draw: np.random.Generator) -> Any:
    """Bodies of JSON, cut off and damaged at every place."""

    def run(skipped: Any, numbers: Any, labels: Any, keys: Any, body: Any, most: Any) -> None:
        scorer = _core.JsonScorer(_classifier().row_answers().core, skipped, numbers, labels, keys)
        scorer.answer(body, b"[", b"]", most)
        for end in range(len(body)):
            scorer.answer(bytes(body[:end]), b"", b"", 10)

    row = {name: value for name, value in ROW.items() if name != "other"} | {"id": "x", "pay": -1.5e-3}
    body = bytearray(json.dumps({"rows": [row, {}, row], "proba": True, "explain": 0}).encode())
    for _ in range(int(draw.integers(0, 3))):
        body[draw.integers(len(body))] = draw.choice(list(b'{}[],:"-0e9.\\\x00\xff '))
    return run, ([b"id"], [b"n"], [b'"a"', b'"b"', b'"c"'], [b'"a":', b'"b":', b'"c":'], bytes(body), 1000)


@example
def point_kernel(draw: np.random.Generator) -> Any:
    def run(points: Any, labels: Any, groups: Any, shares: Any, pull: Any, scale: Any, rows: Any) -> None:
        kernel = _core.PointKernel.of(points, labels, groups, shares, pull, scale)
        if kernel is not None:
            kernel.ask(rows)

    points = np.column_stack([draw.normal(size=9), np.eye(3)[draw.integers(0, 3, 9)], draw.normal(size=9)])
    groups = np.array([0, 3, 0], dtype=np.int64)
    return run, (points, draw.integers(0, 2, 9), groups, np.array([0.5, 0.5]), 0.01, 2.0, points[:4].copy())


@example
def pool_scorer(draw: np.random.Generator) -> Any:
    def run(axes: Any, members: Any, shares: Any, places: Any, shift: Any, row: Any) -> None:
        scorer = _core.PoolScorer(axes, members, shares, 0.1, 20.0, ("a", "b"), places, -3.0, shift)
        for method in (scorer.proba, scorer.log_proba, scorer.proba_by_label, scorer.predict):
            method(row)

    none, cuts = np.empty(0), np.array([-0.5, 0.5])
    axes = [
        ("age", None, False, cuts, np.array([0.2]), 0.0, 1.0, True),
        ("car", ("suv", "van"), False, none, none, 0.0, 1.0, False),
        ("smoker", ("false", "true"), True, none, none, 0.0, 1.0, False),
    ]
    points = np.column_stack([draw.normal(size=6), *(np.eye(2)[draw.integers(0, 2, 6)] for _ in range(2))])
    groups = np.array([0, 2, 2], dtype=np.int64)
    kernel = _core.PointKernel.of(points, draw.integers(0, 2, 6), groups, np.array([0.5, 0.5]), 0.01, 2.0)
    members = [
        ("linear", 0.3, draw.normal(size=8 * 2)),
        ("normals", 0.3, draw.normal(size=2 * 5), draw.normal(size=25), draw.normal(size=2), 0.9),
        ("kernel", 0.2, kernel),
    ]
    row = {"age": float(draw.normal()), "car": "suv", "smoker": True}
    return run, (axes, members, np.array([0.4, 0.6]), np.array([0, 1], dtype=np.int64), np.zeros(2), row)


@example
def live_rows(_: np.random.Generator) -> Any:
    def run(columns: Any, classes: Any, label_type: Any, row: Any, counts: Any, live: Any, label: Any) -> None:
        rows = _core.LiveRows(columns, classes, classes, label_type)
        rows.learn(row, label)
        rows.forget_later(row, label)
        rows.levels(0)
        rows.take()
        rows.go_live(counts, live)
        rows.learn(row, label)
        rows.proba_by_label(row)
        rows.predict(row)
        rows.forget(row, label)
        rows.take()
        rows.close()

    classifier = _classifier()
    names = tuple(name for name in classifier.schema.columns if name != "pay")  # whose bins have no live form
    columns = [(name, *_column(classifier.schema.kinds[name], name, classifier)) for name in names]
    found = live_counts(classifier, names)
    waiting = WaitingRows(classifier)
    assert found is not None
    live = [waiting._levels_of(place, column) for place, column in enumerate(found.columns)]
    return run, (columns, classifier.classes, classifier.book.label_type, dict(ROW), found.class_counts, live, "b")
