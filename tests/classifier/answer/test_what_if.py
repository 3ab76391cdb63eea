"""A row as it is and as it would be, and the smallest change that flips it, against enumeration."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, UnknownChoice, UnknownColumn

LEVELS = {"car": ["suv", "van", "bus"], "size": ["s", "m"], "paint": ["red", "blue", "green", "grey"]}


def table(seed, rows=120):
    random = np.random.default_rng(seed)
    X = {name: random.choice(levels, rows).tolist() for name, levels in LEVELS.items()}
    X["age"] = random.integers(18, 40, rows).astype(float).tolist()
    score = (np.array(X["car"]) == "suv") + (np.array(X["size"]) == "m") + (np.array(X["age"]) > 28)
    y = np.array(["no", "maybe", "yes"])[np.clip(score + random.integers(-1, 2, rows), 0, 2)]
    return X, y.tolist()


@pytest.fixture(scope="module")
def clf():
    return bb.NaiveBayes().fit(*table(0))


ROW = {"car": "suv", "size": "s", "paint": "red", "age": 30.0}


def test_before_and_after_are_two_answers(clf):
    found = clf.what_if(ROW, {"size": "m", "age": 35})
    classes = [str(label) for label in clf.classes_]
    before, after = clf.predict_proba([ROW, {**ROW, "size": "m", "age": 35.0}])
    assert found.before == pytest.approx(dict(zip(classes, before, strict=True)))
    assert found.after == pytest.approx(dict(zip(classes, after, strict=True)))
    assert found.prediction == classes[before.argmax()]
    assert found.prediction_after == classes[after.argmax()]
    assert {each.column for each in found.columns if each.changed} == {"size", "age"}
    for side, shares in (("before", found.before), ("after", found.after)):
        total = sum(getattr(each, f"log_odds_{side}") for each in found.columns)
        assert total == pytest.approx(np.log(shares[found.prediction] / shares[found.against]))
        assert total == pytest.approx(getattr(found, f"log_odds_{side}"))


def test_a_row_that_flips_is_held_against_its_new_class(clf):
    rows = [dict(zip(LEVELS, values, strict=True)) | {"age": 20.0} for values in itertools.product(*LEVELS.values())]
    flips = [found for row in rows if (found := clf.what_if(row, {"age": 38})).flips]
    assert flips
    assert all(found.against == found.prediction_after for found in flips)
    assert all(found.log_odds_before >= 0 >= found.log_odds_after for found in flips)
    assert "becomes" in str(flips[0])


@pytest.mark.parametrize("value", [None, "", float("nan")])
def test_a_value_may_be_taken_away(clf, value):
    found = clf.what_if(pd.Series(ROW), {"age": value})
    assert found.after["yes"] == pytest.approx(clf.predict_proba([{**ROW, "age": None}])[0][-1])
    assert "(missing)" in str(found)


def test_changes_that_cannot_be(clf):
    with refusal(UnknownColumn, what="agee"):
        clf.what_if(ROW, {"agee": 3})
    with refusal(BadOption, found="old"):
        clf.what_if(ROW, {"age": "old"})
    with refusal(BadOption, remedy="{"):
        clf.what_if(ROW, {})
    with refusal(BadData, what="one row"):
        clf.what_if([ROW, ROW], {"age": 3})
    with refusal(BadOption, what="columns"):
        bb.TextClassifier().fit(["good car", "bad van"], ["a", "b"]).what_if(["good"], {"text": "bad"})


def test_one_hot_groups_and_dates_change_as_a_whole():
    days = [f"2024-{month:02d}-11" for month in range(1, 13)] * 2
    rows = {"suv": [1, 0] * 12, "van": [0, 1] * 12, "day": days}
    y = ["a" if day[5:7] < "05" else "b" for day in days]
    clf = bb.NaiveBayes(one_hot={"car": ["suv", "van"]}, columns={"day": "date"}).fit(rows, y)
    row = {"suv": 1, "van": 0, "day": "2024-02-11"}
    found = clf.what_if(row, {"car": "van", "day": "2024-11-11"})
    other = clf.predict_proba([{"suv": 0, "van": 1, "day": "2024-11-11"}])[0]
    assert list(found.after.values()) == pytest.approx(other.tolist())
    assert {each.column for each in found.columns if each.changed} == {"car", "day"}


def test_results_show_themselves(clf):
    for found in (clf.what_if(ROW, {"size": "m"}), clf.flip(ROW)):
        assert "\n" not in repr(found)
        assert "<table>" in found._repr_html_()
        assert json.loads(json.dumps(found.to_dict()))
        assert len(found.to_frame())


# -- flip --------------------------------------------------------------------------------------------------------------


def enumerated(clf, row, to, fixed, number):
    """The smallest changes of so many columns, by trying all levels and all whole ages that were learned."""
    ages = clf.book_["age"].clipped(-np.inf, np.inf)
    std = clf.book_["age"].pooled().std
    values = LEVELS | {"age": [float(age) for age in range(int(ages[0]), int(ages[1]) + 1)]}
    free = [name for name in values if name not in fixed]
    now = clf.predict([row])[0]
    best = {}
    for names in itertools.combinations(free, number):
        choices = [[value for value in values[name] if value != row[name]] for name in names]
        rows = [row | dict(zip(names, change, strict=True)) for change in itertools.product(*choices)]
        for changed, label in zip(rows, clf.predict(rows), strict=True):
            if label == to if to is not None else label != now:
                size = sum(abs(changed[n] - row[n]) / std if n == "age" else 1.0 for n in names)
                best[names] = min(best.get(names, np.inf), size)
    return best


@pytest.mark.parametrize("model", [bb.NaiveBayes, bb.TAN, bb.FullBayes])
@pytest.mark.parametrize("seed", range(3))
def test_flips_agree_with_enumeration(model, seed):
    X, y = table(seed)
    clf = model().fit(X, y)
    random = np.random.default_rng(seed)
    for _ in range(3):
        row = {name: levels[random.integers(len(levels))] for name, levels in LEVELS.items()}
        row["age"] = float(random.integers(18, 40))
        now = clf.predict([row])[0]
        for to in (None, *(label for label in clf.classes_ if label != now)):
            for fixed in ((), ("car", "age")):
                found = clf.flip(row, to, fixed)
                for number in (1, 2):
                    expected = enumerated(clf, row, to, fixed, number) if hasattr(clf.book_["age"], "grid") else None
                    if expected is None or expected:
                        break
                if expected is None:  # moments alone do not tell the range; each option flips none the less
                    for option in found:
                        changed = row | {each.column: each.after for each in option.changes}
                        changed["age"] = float(changed["age"])
                        assert clf.predict([changed])[0] == option.prediction
                    continue
                sizes = {tuple(each.column for each in option.changes): option.change for option in found}
                assert sizes == pytest.approx(expected)
                assert list(sizes.values()) == sorted(sizes.values())


def test_a_flip_is_what_the_model_answers(clf):
    found = clf.flip(ROW)
    assert found.best is found[0]
    for option in found:
        changed = ROW | option.values
        changed["age"] = float(changed["age"])
        posterior = clf.predict_proba([changed])[0]
        assert clf.classes_[posterior.argmax()] == option.prediction != found.prediction
        assert option.probability == pytest.approx(posterior.max())


def test_numbers_move_no_further_than_needed_and_are_short():
    random = np.random.default_rng(0)
    pay = np.concatenate([random.normal(1, 1, 300), random.normal(4, 1, 300)])
    clf = bb.NaiveBayes(numeric="gaussian").fit({"pay": pay}, ["poor"] * 300 + ["rich"] * 300)
    [option] = clf.flip({"pay": 1.0})
    [change] = option.changes
    edge = np.linspace(1, 4, 100_001)
    first = edge[np.argmax(clf.predict({"pay": edge}) == "rich")]
    std = clf.book_["pay"].pooled().std
    assert first - 1e-4 <= float(change.after) <= first + 0.01 * std + 1e-4
    assert len(change.after) <= 5
    assert change.size == pytest.approx((float(change.after) - 1) / std)


def test_two_columns_where_one_is_not_enough():
    rows = [{"a": a, "b": b} for a in "01" for b in "01" for _ in range(20)]
    y = ["both" if row["a"] == row["b"] == "1" else "not" for row in rows]
    clf = bb.NaiveBayes(columns={"a": "category", "b": "category"}).fit(rows, y)
    found = clf.flip({"a": "0", "b": "0"})
    assert [option.values for option in found] == [{"a": "1", "b": "1"}]
    assert found[0].change == 2
    assert "and b = 1" in str(found)
    none = clf.flip({"a": "0", "b": "0"}, fixed=["a"])
    assert len(none) == 0
    assert none.best is None
    assert "no change of one or two columns is enough" in str(none)


def test_what_is_missing_stays_missing(clf):
    found = clf.flip({"car": "suv", "age": 30.0})
    assert {each.column for option in found for each in option.changes} <= {"car", "age"}


def test_flips_that_cannot_be(clf):
    now = clf.predict([ROW])[0]
    with refusal(BadOption, found=now):
        clf.flip(ROW, to=now)
    with refusal((UnknownChoice, BadData, BadOption)):
        clf.flip(ROW, to="never")
    with refusal(UnknownColumn, what="agee"):
        clf.flip(ROW, fixed=["agee"])
