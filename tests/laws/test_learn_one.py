"""Rows learned and forgotten one at a time, in any order and asked in between, are the rows of one fit."""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.laws import mixed
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.one_row import waiting
from bayesbox.errors import DataWarning, KindContradiction, NeverLearned, UnknownColumn

NEAR = 1e-13
PLAIN = ("car", "age", "income", "smoker", "zip", "height")
NORMAL = {"height": bb.Real("gaussian"), "zip": bb.Category()}


def records(rows: int, names: tuple[str, ...] = PLAIN, seed: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    X, y = mixed.table(rows, seed)
    return [{name: X[name][place] for name in names} for place in range(rows)], y


def fitted(rows: list[dict[str, Any]], y: list[Any], **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constants and the like, which learning one by one does not tell
        return bb.NaiveBayes(**options).fit(rows, y)


def require_same(clf: Any, other: Any, row: dict[str, Any]) -> None:
    """Two models answer a row alike; what one refuses, or warns of, the other does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found, expected = clf.predict_proba_one(row), other.predict_proba_one(row)
    assert list(found) == list(expected)
    np.testing.assert_allclose(list(found.values()), list(expected.values()), rtol=0, atol=NEAR)


@settings(max_examples=8, deadline=None, phases=(Phase.generate,))
@given(data=st.data(), numeric=st.sampled_from(["gaussian", "robust"]))
def test_learned_forgotten_and_asked_in_any_order(data: st.DataObject, numeric: str) -> None:
    rows, y = records(40)
    clf = bb.NaiveBayes(columns={"zip": "category"}, numeric=numeric)
    order = data.draw(st.permutations(range(40)))
    learned: list[int] = []
    for step, place in enumerate(order):
        clf.learn_one(rows[place], y[place])
        learned.append(place)
        if len(learned) > 3 and data.draw(st.integers(0, 4)) == 0:
            gone = learned.pop(data.draw(st.integers(0, len(learned) - 1)))
            clf.forget_one(rows[gone], y[gone])
        if step % 7 == 6:
            again = fitted(
                [rows[k] for k in learned], [y[k] for k in learned], columns={"zip": "category"}, numeric=numeric
            )
            require_same(clf, again, rows[data.draw(st.integers(0, 39))])
    expected = fitted([rows[k] for k in learned], [y[k] for k in learned], columns={"zip": "category"}, numeric=numeric)
    assert clf.book_.digest() == expected.book_.digest()
    known = [rows[k] for k in learned]
    np.testing.assert_array_equal(clf.predict_proba(known), expected.predict_proba(known))


def test_rows_of_levels_are_forgotten_together() -> None:
    names = ("car", "smoker", "zip")
    rows, y = records(200, names)
    kinds = {"zip": "category"}
    clf = bb.NaiveBayes(columns=kinds)
    for place in range(200):
        clf.learn_one(rows[place], y[place])
        clf.predict_one(rows[place])
        if place >= 60:  # a window of 60 rows
            clf.forget_one(rows[place - 60], y[place - 60])
        if place % 29 == 28:
            first = max(place - 59, 0)
            again = fitted(rows[first : place + 1], y[first : place + 1], columns=kinds)
            for row in rows[place - 3 : place]:
                require_same(clf, again, row)
    assert clf._waiting.core.waiting > 100  # none of them was counted by itself
    with refusal(NeverLearned):
        clf.forget_one({"car": "sports", "zip": "never seen"}, "no")
    with refusal(NeverLearned):
        for _ in range(61):
            clf.forget_one({"car": "suv"}, "yes")
    clf = bb.NaiveBayes(columns=kinds)
    for row, label in zip(rows, y, strict=True):
        clf.learn_one(row, label)
        clf.predict_one(row)
    for row, label in zip(rows[:140], y, strict=False):
        clf.forget_one(row, label)
    assert clf.book_.digest() == fitted(rows[140:], y[140:], columns=kinds).book_.digest()


@pytest.mark.parametrize("smoothing", ["laplace", "lidstone:0.5", "mle", "m:2"])
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
def test_a_live_model_answers_like_one_made_anew(smoothing: str, unseen: str) -> None:
    rows, y = records(130)
    options: dict[str, Any] = {"smoothing": smoothing, "unseen": unseen, "columns": NORMAL, "numeric": "gaussian"}
    clf = bb.NaiveBayes(**options)
    for place in range(130):
        clf.learn_one(rows[place], y[place])
        clf.predict_one(rows[place - 1])
        if place % 41 == 40:
            again = fitted(rows[: place + 1], y[: place + 1], **options)
            for row in (*rows[place - 5 : place + 3], {"car": "never seen"}, {}, {"age": None, "smoker": True}):
                require_same(clf, again, row)
    assert clf._waiting.is_live == (smoothing in ("laplace", "lidstone:0.5"))
    assert clf.book_.digest() == fitted(rows, y, **options).book_.digest()


def test_a_live_model_keeps_its_digits_far_from_zero_and_at_any_scale() -> None:
    draw = np.random.default_rng(2)
    for offset, scale in ((1e12, 1.0), (-3e5, 1e-9), (0.0, 1e150), (0.0, 1e-150)):
        values = (offset + scale * draw.normal(size=200)).tolist()
        y = ["a" if value > offset else "b" for value in values]
        clf = bb.NaiveBayes(numeric="gaussian")
        for value, label in zip(values, y, strict=True):
            clf.learn_one({"x": value}, label)
            clf.predict_one({"x": value})
        for place in range(50):
            clf.forget_one({"x": values[place]}, y[place])
        again = bb.NaiveBayes(numeric="gaussian").fit({"x": values[50:]}, y[50:])
        for value in values[:20]:
            require_same(clf, again, {"x": value})


def shapes(rows: int, seed: int) -> tuple[list[dict[str, float]], list[str]]:
    """Numbers of many shapes: normal, skewed, rounded, mostly zero, far from zero, with outliers, with gaps."""
    draw = np.random.default_rng(seed)
    label = draw.integers(0, 3, rows)
    x = draw.normal(0.4 * label, 1.0)
    columns = {
        "normal": x,
        "skewed": np.exp(draw.normal(x)),
        "rounded": np.round(10 * x + 40),
        "zeros": np.where(draw.random(rows) < 0.4, 0.0, np.abs(x) * 100),
        "one zero": np.where(np.arange(rows) == rows // 2, 0.0, np.exp(x)),
        "far": 1e6 + x,
        "outliers": np.where(draw.random(rows) < 0.02, 1e7 * x, x),
        "missing": np.where(draw.random(rows) < 0.2, np.nan, draw.gamma(2.0, 3.0, rows)),
    }
    return [{name: float(column[place]) for name, column in columns.items()} for place in range(rows)], [
        "abc"[each] for each in label.tolist()
    ]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_live_robust_model_answers_like_one_made_anew(seed: int) -> None:
    rows, y = shapes(700, seed)
    clf = bb.NaiveBayes()
    for place in range(700):
        clf.learn_one(rows[place], y[place])
        clf.predict_one(rows[place - 1])
        if place >= 500:  # a window of 500 rows
            clf.forget_one(rows[place - 500], y[place - 500])
        if place in (60, 250, 699):
            first = max(place - 499, 0)
            again = fitted(rows[first : place + 1], y[first : place + 1])
            for row in (*rows[place - 5 : place + 3], {"far": 1e300, "zeros": 0.0}, {"skewed": -1.0, "normal": 1e-310}):
                require_same(clf, again, row)
    assert clf._waiting.is_live
    assert clf._waiting.core.waiting > 300  # none of them was counted by itself
    assert clf.book_.digest() == fitted(rows[200:], y[200:]).book_.digest()


def test_a_row_of_numbers_that_was_never_learned_is_refused() -> None:
    rows, y = shapes(300, 2)
    for numeric in ("robust", "gaussian"):
        clf = bb.NaiveBayes(numeric=numeric)
        for row, label in zip(rows, y, strict=True):
            clf.learn_one(row, label)
            clf.predict_one(row)
        digest = clf.book_.digest()
        with refusal(NeverLearned):
            clf.forget_one({**rows[0], "far": 1e9}, y[0])
        assert clf.book_.digest() == digest


@pytest.mark.parametrize(
    "names", [("joined", "car"), ("visits", "calls"), ("parcels", "member"), tuple(mixed.table(4)[0])]
)
def test_every_kind_of_column(names: tuple[str, ...]) -> None:
    rows, y = records(25, names)
    kinds = {name: kind for name, kind in {**mixed.KINDS, "joined": bb.Date()}.items() if name in names}
    clf = bb.NaiveBayes(columns=kinds)
    for row, label in zip(rows, y, strict=True):
        clf.learn_one(row, label)
    expected = fitted(rows, y, columns=kinds)
    assert clf.book_.digest() == expected.book_.digest()
    clf.forget_one(rows[3], y[3])
    assert clf.book_.digest() == fitted(rows[:3] + rows[4:], y[:3] + y[4:], columns=kinds).book_.digest()


def test_words_weights_and_documents() -> None:
    texts, y = ["kiwi sheep", "kiwi bird kiwi", "munich beer", None], ["NZ", "NZ", "DE", "DE"]
    clf, expected = bb.NaiveBayes(columns={"text": bb.Words()}), bb.NaiveBayes(columns={"text": bb.Words()})
    for text, label, weight in zip(texts, y, (1.0, 0.5, 2.0, 1.0), strict=True):
        clf.learn_one({"text": text, "n": 1.5}, label, weight=weight)
    expected.partial_fit({"text": texts, "n": [1.5] * 4}, y, sample_weight=[1.0, 0.5, 2.0, 1.0])
    assert clf.book_.digest() == expected.book_.digest()
    documents = bb.TextClassifier()
    for text, label in zip(texts[:3], y, strict=False):
        documents.learn_one(text, label)
    assert documents.book_.digest() == bb.TextClassifier().fit(texts[:3], y[:3]).book_.digest()
    documents.forget_one(texts[0], y[0])
    assert documents.book_.digest() == bb.TextClassifier().fit(texts[1:3], y[1:3]).book_.digest()


@pytest.mark.parametrize("kind", [bb.AODE, bb.TAN, bb.KDB, bb.AveragedNaiveBayes, bb.FullBayes])
def test_other_classifiers(kind: Any) -> None:
    rows, y = records(60, ("car", "smoker"))
    clf, expected = kind().fit(rows[:30], y[:30]), kind().fit(rows[:30], y[:30])
    for row, label in zip(rows[30:], y[30:], strict=True):
        clf.learn_one(row, label)
        clf.predict_one(row)
    expected.partial_fit(rows[30:], y[30:])
    assert clf.book_.digest() == expected.book_.digest()
    require_same(clf, expected, rows[0])


def test_classes_and_levels_may_be_new_and_labels_of_any_type() -> None:
    for labels in ((1, 2, 3), (True, False, True), ("a", "b", "c"), (np.int64(4), 5, 6)):
        clf = bb.NaiveBayes()
        for place in range(12):
            clf.learn_one({"car": f"car {place}"}, labels[place % 3])
        expected = fitted([{"car": f"car {k}"} for k in range(12)], [labels[k % 3] for k in range(12)])
        assert clf.book_.digest() == expected.book_.digest()
        assert clf.classes_.tolist() == expected.classes_.tolist()


def test_rows_that_are_refused_leave_nothing() -> None:
    rows, y = records(20)
    clf = bb.NaiveBayes(columns=NORMAL)
    for row, label in zip(rows, y, strict=True):
        clf.learn_one(row, label)
    digest = clf.book_.digest()
    with refusal(KindContradiction, column="age"):
        clf.learn_one({"age": "old"}, "no")
    with refusal(UnknownColumn):
        clf.learn_one({"colour": "red"}, "no")
    with refusal(NeverLearned):
        clf.forget_one({"car": "never seen"}, "no")
    with pytest.raises(ValueError, match="infinite"):
        clf.learn_one({"age": float("inf")}, "no")
    assert clf.book_.digest() == digest
    clf.learn_one(rows[0], y[0])
    assert clf.book_.digest() != digest


def test_rows_that_wait_are_there_wherever_the_model_goes(tmp_path: Path) -> None:
    rows, y = records(30)
    clf = bb.NaiveBayes(columns=NORMAL).fit(rows[:10], y[:10])
    for row, label in zip(rows[10:], y[10:], strict=True):
        clf.learn_one(row, label)
    expected = fitted(rows, y, columns=NORMAL)
    clf.learn_one(rows[0], y[0])
    copies = [copy.copy(clf), copy.deepcopy(clf), pickle.loads(pickle.dumps(clf))]
    clf.save(tmp_path / "m.bayes")
    for other in (
        *copies,
        bb.load(tmp_path / "m.bayes"),
        clf + fitted(rows[:1], y[:1], columns=NORMAL).forget(rows[:1], y[:1]),
    ):
        other.forget_one(rows[0], y[0])
        assert other.book_.digest() == expected.book_.digest()
    clf.fit(rows[:5], y[:5])  # learns anew
    assert clf.book_.digest() == fitted(rows[:5], y[:5], columns=NORMAL).book_.digest()


def test_many_rows_are_counted_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesbox.estimators.rows.one_row.MOST_WAITING", 16)
    rows, y = records(100)
    clf = bb.NaiveBayes(columns=NORMAL)
    for row, label in zip(rows, y, strict=True):
        clf.learn_one(row, label)
        assert clf._waiting is None or clf._waiting.core.waiting < 16
    assert clf.book_.digest() == fitted(rows, y, columns=NORMAL).book_.digest()
    assert waiting.MOST_WAITING > 16


def test_rows_that_cannot_be_counted_go_on_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, y = records(12)
    clf = bb.NaiveBayes(columns=NORMAL)
    for row, label in zip(rows, y, strict=True):
        clf.learn_one(row, label)
    with monkeypatch.context() as patched:
        patched.setattr(type(clf.__dict__["classifier_"]), "learn", lambda *_, **__: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(MemoryError):
            clf.book_  # noqa: B018
    assert clf.book_.digest() == fitted(rows, y, columns=NORMAL).book_.digest()


def test_threads_lose_no_row() -> None:
    rows, y = records(400)
    clf = bb.NaiveBayes(columns=NORMAL, numeric="gaussian").fit(rows[:20], y[:20])
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(place: int) -> None:
        clf.learn_one(rows[place], y[place])
        if place % 3 == 0:
            assert abs(sum(clf.predict_proba_one(rows[place]).values()) - 1) < 1e-12
        if place % 50 == 0:
            clf.partial_fit(rows[place : place + 1], y[place : place + 1])
            clf.forget_one(rows[place], y[place])
        if place % 60 == 0:
            clf.book_.digest()

    try:
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(20, 400)))
    finally:
        sys.setswitchinterval(before)
    assert clf.book_.digest() == fitted(rows, y, columns=NORMAL, numeric="gaussian").book_.digest()
