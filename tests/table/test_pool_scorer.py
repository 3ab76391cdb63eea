"""A pool of models asked for one row in the core, against its definition in numpy."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import bayesbox as bb
from bayesbox import _core
from bayesbox.table.auto.joint_density import JointKernel


def table(rows: int, seed: int) -> tuple[list[dict[str, object]], list[str]]:
    draw = np.random.default_rng(seed)
    label = draw.integers(0, 2, rows)
    found: list[dict[str, object]] = [
        {
            "age": float(draw.normal(40 + 6 * own, 9)) if draw.random() > 0.1 else None,
            "car": ["suv", "van", "bus"][int((own + draw.integers(0, 2)) % 3)],
            "smoker": bool(draw.random() < 0.2 + 0.4 * own),
        }
        for own in label.tolist()
    ]
    return found, ["no" if own else "yes" for own in label.tolist()]


def test_shares_near_a_row_are_those_of_all_distances() -> None:
    draw = np.random.default_rng(0)
    codes = draw.integers(-1, 3, 60)  # of which -1 has no level
    points = np.column_stack([draw.normal(size=60), np.vstack([np.eye(3), np.zeros(3)])[codes], draw.normal(size=60)])
    labels, shares = draw.integers(0, 2, 60), np.array([0.3, 0.7])
    kernel = _core.PointKernel.of(points, labels, np.array([0, 3, 0]), shares, 0.01, 1.7)
    assert kernel is not None
    asked = points[:9] + np.array([0.1, 0, 0, 0, -0.2])
    found = kernel.ask(asked)
    near = np.exp(-np.square(asked[:, None] - points[None]).sum(axis=2) / 1.7)
    total = np.stack([near[:, labels == label].sum(axis=1) for label in (0, 1)], axis=1)
    expected = (total + 0.01 * shares) / (total.sum(axis=1, keepdims=True) + 0.01)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    points[0, 1] = 0.5  # no level at all
    assert _core.PointKernel.of(points, labels, np.array([0, 3, 0]), shares, 0.01, 1.7) is None
    assert kernel.ask(points[:1]) is None


@pytest.mark.parametrize("prior", [None, {"yes": 0.9, "no": 0.1}])
def test_a_row_is_answered_by_every_kind_of_model_as_in_a_table(prior: dict[str, float] | None) -> None:
    rows, y = table(400, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = bb.AutoBayes(prior=prior).fit(rows, y)
    pool = clf.classifier_.derived
    asked, _ = table(40, 1)
    asked += [{"age": 44.0}, {"car": "tram", "smoker": False}, {"age": None, "car": "suv", "smoker": "TRUE"}]
    scorer = clf.classifier_.row_answers().core
    assert isinstance(scorer, _core.PoolScorer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = clf.classifier_.posterior(clf._rows_asked(asked))
        for row, wanted in zip(asked, expected, strict=True):
            found = scorer.proba(row)
            assert found is not None
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)
            np.testing.assert_allclose(list(clf.predict_proba_one(row).values()), wanted, rtol=0, atol=1e-14)
            assert clf.predict_one(row) == clf.classes_[int(np.argmax(wanted))]
        assert scorer.proba({"age": float("inf")}) is None
        again = pickle.loads(pickle.dumps(clf))
        np.testing.assert_array_equal(again.predict_proba(asked), clf.predict_proba(asked))
    assert any(isinstance(model, JointKernel) for model in pool.models) or len(pool.models) > 1
