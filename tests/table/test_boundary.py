"""The decision boundary over two columns: a line for flags, a quadratic curve for normals, where two classes tie."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.explain.boundary_picture import LEFT, SIZE, TOP

RADIO = {
    "Radio1": {"young": {"like": 0.95, "dislike": 0.05}, "old": {"like": 0.03, "dislike": 0.97}},
    "Radio2": {"young": {"like": 0.05, "dislike": 0.95}, "old": {"like": 0.82, "dislike": 0.18}},
}


def points(picture: str) -> np.ndarray:
    """The ends of the lines of the boundary, from 0 to 1 along both axes."""
    paths = [each for each in ElementTree.fromstring(picture).iter() if each.tag.endswith("path")]
    ends = [pair for each in paths for pair in re.findall(r"([\d.]+),([\d.]+)", each.attrib["d"])]
    places = np.array(ends, dtype=float)
    return np.column_stack([(places[:, 0] - LEFT) / SIZE, (TOP + SIZE - places[:, 1]) / SIZE])


def test_the_boundary_of_flags_is_the_line_of_the_weights() -> None:
    clf = bb.NaiveBayes.from_tables(prior={"young": 0.4, "old": 0.6}, tables=RADIO)
    found = points(clf.boundary_svg("Radio1", "Radio2"))
    w, a = clf.linear_weights()
    assert len(found) > 20
    assert found @ w + a == pytest.approx(np.zeros(len(found)), abs=0.01)


def test_the_boundary_of_normals_is_where_two_densities_are_equal() -> None:
    random = np.random.default_rng(0)
    x = np.vstack([random.normal([0, 0], [1, 2], (100, 2)), random.normal([3, 1], [2, 1], (100, 2))])
    rows = {"x": x[:, 0], "y": x[:, 1]}
    clf = bb.NaiveBayes(numeric="gaussian").fit(rows, ["a"] * 100 + ["b"] * 100)
    found = points(clf.boundary_svg("x", "y"))
    low, high = x.mean(axis=0) - 3 * x.std(axis=0), x.mean(axis=0) + 3 * x.std(axis=0)
    values = low + found * (high - low)
    joint = clf.joint_log_proba({"x": values[:, 0], "y": values[:, 1]})
    assert len(found) > 20
    assert joint[:, 0] == pytest.approx(joint[:, 1], abs=0.05)  # straight within a cell: a little off a curve


def test_full_bayes_and_three_classes_have_boundaries() -> None:
    from sklearn.datasets import load_iris

    data = load_iris(as_frame=True)
    clf = bb.FullBayes().fit(data.data, data.target)
    picture = ElementTree.fromstring(clf.boundary_svg("petal length (cm)", "petal width (cm)"))
    assert sum(each.tag.endswith("path") for each in picture) == 3


def test_columns_that_cannot_be_drawn_are_refused() -> None:
    rows = {"colour": list("rgbrgb"), "size": list("SMSMSM"), "age": [1.0, 2.5, 3.0, 4.0, 2.0, 1.0]}
    clf = bb.NaiveBayes().fit(rows, ["no", "yes", "no", "yes", "yes", "no"])
    assert "<svg" in clf.boundary_svg("size", "age")
    with pytest.raises(BadOption):
        clf.boundary_svg("colour", "age")
    with pytest.raises(BadOption):
        clf.boundary_svg("age", "age")
    with pytest.raises(UnknownColumn):
        clf.boundary_svg("ages", "age")
