"""Gaussian columns against eighty digits: offsets, extreme scales, floors, one row a class."""

from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.exact_normal import CONTEXT, decimal, log_normal, moments, softmax
from tests.oracle.near import RELATIVE

import bayesbox as bb

FLOOR = Fraction(1, 10_000)


def class_moments(values, labels, floor):
    """Mean and floored variance of each class, a class without a value taking those of the column."""
    pairs = [(Fraction(x), c) for x, c in zip(values, labels, strict=True) if x is not None]
    mean, variance = moments([x for x, _ in pairs])
    found = {}
    for c in sorted(set(labels)):
        own = [x for x, each in pairs if each == c]
        mine = moments(own) if own else (mean, variance)
        found[c] = (mine[0], max(mine[1], floor * variance))
    return found


def exact_joint(X, labels, row, floor=FLOOR):
    """log P(c, x) of one row in many digits, by class."""
    classes = sorted(set(labels))
    with localcontext(CONTEXT):
        logs = {c: decimal(Fraction(labels.count(c), len(labels))).ln() for c in classes}
        for name, values in X.items():
            if row.get(name) is None:
                continue
            for c, (mean, variance) in class_moments(values, labels, floor).items():
                logs[c] += log_normal(Fraction(row[name]), mean, variance)
        return [logs[c] for c in classes]


def assert_right(X, labels, rows, *, floor=FLOOR, kinds=None):
    clf = bb.NaiveBayes(numeric="gaussian", columns=kinds).fit(X, labels)
    joint, p = clf.joint_log_proba(rows), clf.predict_proba(rows)
    assert np.isfinite(joint).all()
    for index, row in enumerate(rows):
        exact = exact_joint(X, labels, row, floor)
        np.testing.assert_allclose(joint[index], [float(value) for value in exact], rtol=RELATIVE, atol=1e-12)
        answer = softmax(exact)
        np.testing.assert_allclose(p[index], [float(value) for value in answer], rtol=RELATIVE, atol=0)
        assert clf.classes_[np.argmax(answer)] == clf.predict([row])[0]


def normal_table(random, rows, columns, *, scale=1.0, offset=0.0):
    labels = random.choice(["a", "b", "c"], rows).tolist()
    shift = {"a": 0.0, "b": 0.5, "c": 1.0}
    X = {f"x{i}": [float(offset + scale * (shift[c] + random.normal())) for c in labels] for i in range(columns)}
    return X, labels


def rows_of(X, count):
    return [{name: values[i] for name, values in X.items()} for i in range(count)]


SHAPES = {
    "plain": {},
    "offset 1e12": {"offset": 1e12},
    "offset -1e12, scale 100": {"offset": -1e12, "scale": 100.0},
    "scale 1e300": {"scale": 1e300},
    "scale 1e-300": {"scale": 1e-300},
    "scale 1e150": {"scale": 1e150},
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", SHAPES)
def test_random_tables(shape, seed):
    random = np.random.default_rng(seed)
    X, labels = normal_table(random, 12 + seed, 3, **SHAPES[shape])
    assert_right(X, labels, rows_of(X, 8))


@pytest.mark.parametrize("seed", range(5))
def test_missing_values(seed):
    random = np.random.default_rng(seed)
    X, labels = normal_table(random, 15, 3)
    holes = {name: [None if random.random() < 0.3 else x for x in values] for name, values in X.items()}
    assert_right(holes, labels, rows_of(holes, 10))


def test_a_class_without_a_value_has_the_density_of_the_column():
    X = {"x": [1.0, 2.0, 4.0, None, None], "y": [1.0, 3.0, 2.5, 0.5, 0.0]}
    assert_right(X, ["a", "a", "a", "b", "b"], [{"x": 1.5, "y": 0.5}, {"x": 7.0}])


@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-300])
def test_one_row_a_class(scale):
    """Every deviation is the floor of its own column: one hundredth of the column's."""
    X = {"x": [0.0, scale, 2 * scale], "y": [5.0, -1.0, 7.0]}
    rows = [{"x": 0.01 * scale, "y": 5.02}, {"x": 0.99 * scale}, {"y": 6.97}]
    assert_right(X, ["a", "b", "c"], rows)


def test_floors_are_per_column():
    """A column of a large scale does not flatten one of a small scale."""
    X = {"small": [1.0, 1.0, 2.0, 2.0], "large": [1e9, -1e9, 2e9, -3e9]}
    labels = ["a", "a", "b", "b"]
    assert_right(X, labels, [{"small": 1.001, "large": 5e8}, {"small": 1.999, "large": 0.0}])


@pytest.mark.parametrize("floor", [0.0, 1e-4, 0.01, 0.25, 2.0])
def test_declared_floor(floor):
    X = {"x": [1.0, 2.0, 4.0, 4.5, 4.25, 4.125]}
    assert_right(
        X,
        ["a", "a", "a", "b", "b", "b"],
        [{"x": 3.75}, {"x": 4.3}],
        floor=Fraction(str(floor)),
        kinds={"x": bb.Real(floor=floor)},
    )


def test_two_neighbouring_doubles_at_an_offset():
    """Classes one step apart at 1e12, where the rounded mean alone would be off by half a step."""
    step = 2.0**-13  # the distance of doubles at 1e12
    X = {"x": [1e12, 1e12 + step, 1e12 + 3 * step, 1e12 + 4 * step]}
    rows = [{"x": 1e12 + i * step} for i in range(5)]
    assert_right(X, ["a", "a", "b", "b"], rows)


def test_subnormal_spread_is_finite():
    tiny = 5e-324
    X = {"x": [0.0, 8 * tiny, 100 * tiny, 108 * tiny]}
    clf = bb.NaiveBayes(numeric="gaussian").fit(X, ["a", "a", "b", "b"])
    rows = {"x": [0.0, 8 * tiny, 104 * tiny]}
    assert np.isfinite(clf.joint_log_proba(rows)).all()
    assert clf.predict(rows).tolist() == ["a", "a", "b"]


def test_the_smallest_spread_is_no_point_mass():
    """0 and the smallest double have a deviation that rounds to 0, but both values occurred."""
    tiny = 5e-324
    clf = bb.NaiveBayes(numeric="gaussian", columns={"x": bb.Real(floor=0)}).fit(
        {"x": [0.0, tiny, 1.0, 2.0]}, ["a", "a", "b", "b"]
    )
    assert clf.predict({"x": [0.0, tiny, 1.5]}).tolist() == ["a", "a", "b"]


def test_a_hundred_thousand_attributes():
    random = np.random.default_rng(0)
    X = random.normal(size=(4, 100_000))
    clf = bb.NaiveBayes(numeric="gaussian").fit(X, [0, 0, 1, 1])
    joint, log_p = clf.joint_log_proba(X), clf.predict_log_proba(X)
    assert np.isfinite(joint).all()
    assert np.isfinite(log_p).all()
    assert joint.max() < -10_000  # far below the logarithm of the smallest double
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1, rtol=1e-12)
    assert np.argmax(log_p, axis=1).tolist() == [0, 0, 1, 1]
