"""What has changed: the tests against scipy's, numbers by cells and by moments, memory, and two models."""

from __future__ import annotations

import itertools
import json
import tracemalloc

import numpy as np
import pytest
from scipy.stats import chi2_contingency, norm, ttest_ind_from_stats
from tests.refusal import refusal
from tests.tables import HEAVY

import bayesbox as bb
from bayesbox.errors import BadData, NoCounts
from bayesbox.source.base import Batch
from bayesbox.stat.drift import moments_test, pooled_rare, shift_test


def rows(seed, n, shift=0.0, levels=("suv", "van", "bus"), share=(0.5, 0.3, 0.2)):
    random = np.random.default_rng(seed)
    y = random.choice(["a", "b"], n)
    age = np.rint(random.normal(40 + shift + 5 * (y == "a"), 10))
    pay = np.where(random.random(n) < 0.3, 0.0, np.exp(random.normal(7, 1.5, n)))
    return {"car": random.choice(levels, n, p=share).tolist(), "age": age, "pay": pay}, y


@pytest.fixture(scope="module")
def clf():
    return bb.NaiveBayes().fit(*rows(0, 4000))


@pytest.mark.parametrize("seed", range(5))
def test_the_test_is_scipys(seed):
    random = np.random.default_rng(seed)
    table = random.integers(20, 200, (2, 6)).astype(float)
    found = shift_test(*table)
    other = chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert (found.statistic, found.df, found.p_value) == pytest.approx((other.statistic, other.dof, other.pvalue))


def test_rare_levels_are_pooled_until_five_are_expected():
    random = np.random.default_rng(0)
    for _ in range(200):
        size = random.integers(1, 12)
        before, after = (random.integers(0, random.choice([3, 40]), size).astype(float) for _ in range(2))
        one, other = pooled_rare(before, after)
        assert one.sum() == before.sum()
        assert other.sum() == after.sum()
        both = one + other
        assert (both > 0).all() or not both.sum()
        if len(both) > 2:
            assert (both * min(one.sum(), other.sum()) / both.sum()).min() >= 5


def test_levels_agree_with_scipy_and_new_ones_are_a_level(clf):
    X, _ = rows(1, 1500, share=(0.4, 0.35, 0.25))
    X["car"] = ["boat" if k % 10 == 0 else car for k, car in enumerate(X["car"])]
    found = clf.drift(X)["car"]
    levels = ["bus", "suv", "van", "boat"]
    before = [*clf.book_["car"].counts.sum(axis=0), 0]
    table = np.array([before, [X["car"].count(level) for level in levels]])
    other = chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert found.test[:3] == pytest.approx((other.statistic, other.dof, other.pvalue))
    p, q = ((row + 0.5) / (row + 0.5).sum() for row in table)
    assert found.psi == pytest.approx(((q - p) * np.log(q / p)).sum())
    assert (found.unseen, found.examples) == (150, ("boat",))
    assert found.drifted
    assert "boat" in str(clf.drift(X))


def test_numbers_are_compared_in_about_ten_groups_of_cells(clf):
    X, _ = rows(2, 2000, shift=4.0)
    found = clf.drift(X)
    assert found["age"].by == "cells"
    assert 6 <= found["age"].test.df <= 12
    assert found["age"].drifted
    assert not found["pay"].drifted
    assert "age" in found.drifted


def test_without_a_change_p_values_are_those_of_chance(clf):
    """Of 120 tests of rows of the same origin about 5 % are below 0.05, and nothing is called drifted."""
    p = []
    for seed in range(10, 50):
        found = clf.drift(rows(seed, 400)[0])
        assert found.drifted == []
        p += [each.p_value for each in found]
    assert len(p) == 120
    assert np.mean(np.array(p) < 0.05) < 0.12
    assert 0.35 < np.mean(p) < 0.65


def test_missing_values_drift_by_themselves(clf):
    X, _ = rows(3, 2000)
    X["age"] = np.where(np.arange(2000) % 4 == 0, np.nan, X["age"])
    found = clf.drift(X)["age"]
    assert (found.missing_before, found.missing_after) == (0.0, 0.25)
    assert found.missing_test.p_value < 1e-9
    assert found.psi < 0.1
    assert found.drifted
    assert found.word == "missing"


def test_models_of_moments_compare_means(clf):
    X, y = rows(0, 4000)
    gaussian = bb.NaiveBayes(numeric="gaussian").fit(X, y)
    new, _ = rows(4, 1000, shift=3.0)
    found = gaussian.drift(new)["age"]
    before = gaussian.book_["age"].pooled()
    other = ttest_ind_from_stats(
        before.mean, np.std(X["age"]), 4000, new["age"].mean(), new["age"].std(), 1000, equal_var=False
    )
    assert found.by == "moments"
    assert np.sqrt(found.test.statistic) == pytest.approx(abs(other.statistic), rel=1e-2)
    assert found.p_value == pytest.approx(2 * norm.sf(np.sqrt(found.test.statistic)), rel=1e-6)
    assert "mean and standard deviation only" in str(gaussian.drift(new))


def test_the_index_of_normals_is_that_of_fine_cells():
    edges = np.linspace(-12, 12, 20_001)
    p, q = (np.diff(norm.cdf(edges, *each)) for each in ((0, 1), (0.7, 1.5)))
    there = (p > 0) & (q > 0)
    index = ((q - p) * np.log(np.where(there, q, 1) / np.where(there, p, 1)))[there].sum()
    assert moments_test((100, 0.0, 1.0), (50, 0.7, 2.25)).psi == pytest.approx(index, rel=1e-3)
    assert moments_test((0, 0.0, 0.0), (50, 0.7, 2.25)).p_value == 1
    assert moments_test((5, 1.0, 0.0), (50, 1.0, 0.0)).psi == 0


@pytest.mark.parametrize("model", [bb.TAN, bb.AODE, bb.KDB, bb.FullBayes])
def test_other_models_compare_what_they_have_counted(model):
    clf = model().fit(*rows(0, 2000))
    found = clf.drift(rows(5, 1000, shift=6.0)[0])
    assert found["age"].drifted
    assert not found["car"].drifted
    assert found["age"].by == ("bins" if model in (bb.TAN, bb.AODE) else "moments")


def test_batches_add_up(clf):
    X, _ = rows(6, 3000, shift=1.0)
    columns = (np.array(X["car"], dtype=object), X["age"], X["pay"])
    whole = clf.drift(X)
    edges = [*range(0, 3000, 700), 3000]
    parts = [
        Batch(tuple(X), tuple(column[low:high] for column in columns), high - low)
        for low, high in itertools.pairwise(edges)
    ]
    found = clf.classifier_.drift(parts)
    assert [(each.column, each.test, each.unseen) for each in found] == [
        (each.column, each.test, each.unseen) for each in whole
    ]
    assert [each.expected for each in found.classes] == pytest.approx([each.expected for each in whole.classes])


def test_many_rows_take_no_memory(clf):
    """Levels that were never seen, a new one in each row, and numbers of all sizes are counted, not kept."""
    random = np.random.default_rng(0)

    def batches(number):
        for k in range(number):
            car = np.array([f"car {k} {i}" for i in range(2000)], dtype=object)
            yield Batch(("car", "age", "pay"), (car, random.normal(size=2000), random.normal(size=2000)), 2000)

    peaks = []
    for number in (3, 30):
        tracemalloc.start()
        found = clf.classifier_.drift(batches(number))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert found.rows == 60_000
    assert found["car"].unseen == 60_000
    assert peaks[1] < 1.5 * peaks[0]


def test_the_classes_that_are_expected_and_predicted(clf):
    X, _ = rows(7, 1000, shift=8.0)
    found = clf.drift(X)
    posterior = clf.predict_proba(X)
    assert [each.name for each in found.classes] == clf.classes_.tolist()
    assert [each.expected for each in found.classes] == pytest.approx(posterior.mean(axis=0).tolist())
    predicted = clf.predict(X)
    assert [each.predicted for each in found.classes] == [np.mean(predicted == label) for label in clf.classes_]
    assert [each.learned for each in found.classes] == pytest.approx((clf.book_.n / 4000).tolist())
    assert found.class_psi > 0.01
    assert found.class_test is None


def test_two_models(clf):
    same = bb.NaiveBayes().fit(*rows(8, 3000))
    other = bb.NaiveBayes().fit(*rows(9, 3000, shift=5.0, levels=("suv", "van", "tram"), share=(0.5, 0.3, 0.2)))
    assert clf.drift(same).drifted == []
    found = clf.drift(other)
    assert set(found.drifted) == {"age", "car"}
    assert found["car"].examples == ("tram",)
    counts = [[*clf.book_["car"].counts.sum(axis=0), 0]]
    levels = other.book_["car"]
    by_name = dict(zip(levels.levels, levels.counts.sum(axis=0), strict=True))
    counts.append([by_name.get(level, 0) for level in (*clf.book_["car"].levels, "tram")])
    expected = chi2_contingency(np.array(counts), correction=False, lambda_="log-likelihood")
    assert found["car"].test.statistic == pytest.approx(expected.statistic)
    test = chi2_contingency(np.array([clf.book_.n, other.book_.n]), correction=False, lambda_="log-likelihood")
    assert found.class_test.p_value == pytest.approx(test.pvalue)


def test_files_and_forms(clf, tmp_path):
    X, _ = rows(11, 300)
    path = tmp_path / "new.csv"
    lines = [f"{car},{age},{pay}" for car, age, pay in zip(X["car"], X["age"].tolist(), X["pay"].tolist(), strict=True)]
    path.write_text("\n".join(["car,age,pay", *lines]) + "\n")
    assert clf.drift(path).to_dict() == clf.drift(str(path)).to_dict()
    assert [each.test.statistic for each in clf.drift(path)] == pytest.approx(
        [each.test.statistic for each in clf.drift(X)]
    )


def test_flags_are_flags_however_they_are_written():
    clf = bb.NaiveBayes().fit({"on": [True, False] * 50, "one": [1, 0] * 50}, ["a", "a", "b", "b"] * 25)
    found = clf.drift({"on": ["TRUE", "false", "maybe", None] * 25, "one": [1.0, 0.0, 2.0, np.nan] * 25})
    for name in ("on", "one"):
        assert found[name].unseen == 25
        assert found[name].missing_after == 0.25


def test_documents_drift_by_their_words():
    texts = ["good red car", "bad old car", "fine car", "bad car old"] * 30
    clf = bb.TextClassifier(occurrence="count").fit(texts, ["a", "b", "a", "b"] * 30)
    assert clf.drift(texts).drifted == []
    found = clf.drift(["old boat", "bad boat"] * 40)
    [words] = found.columns
    assert words.by == "words"
    assert words.unseen == 80
    assert words.examples == ("boat",)
    assert words.drifted
    assert clf.drift(bb.TextClassifier(occurrence="count").fit(texts, ["a", "b", "a", "b"] * 30)).drifted == []


def test_what_cannot_be_compared(clf):
    given = bb.NaiveBayes.from_tables(
        prior={"a": 0.5, "b": 0.5}, tables={"car": {"a": {"x": 1.0, "y": 0.0}, "b": {"x": 0.5, "y": 0.5}}}
    )
    with refusal(NoCounts):
        given.drift({"car": ["x"]})
    with refusal(BadData, what="no rows"):
        clf.classifier_.drift([])
    with refusal(BadData, what="infinite"):
        clf.drift({"car": ["suv"], "age": [np.inf], "pay": [1.0]})


def test_results_show_themselves():
    found = bb.NaiveBayes().fit(*HEAVY).drift(HEAVY.X)
    assert "\n" not in repr(found)
    assert "<table>" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["columns"]
    assert len(found.to_frame()) == 3
