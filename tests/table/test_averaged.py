"""Averaged naive Bayes against the sum over all sets of columns, each with its evidence; and Bayes-optimal answers."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.refusal import warning

import bayesbox as bb
from bayesbox.cli.print.titanic import TITANIC
from bayesbox.errors import BadOption, CannotForget, SuspiciousData
from bayesbox.table.averaged.classifier import AveragedClassifier


def table(seed=0, rows=30):
    """Ten columns: categories, a flag and numbers, some of which say nothing of the class; with missing values."""
    random = np.random.default_rng(seed)
    labels = random.choice(["x", "y", "z"], rows)
    frame = pd.DataFrame({f"c{place}": random.choice(list("abc"), rows) for place in range(5)}, dtype=object)
    frame["c1"] = np.where(random.random(rows) < 0.7, labels, frame["c1"])
    frame["flag"] = random.random(rows) < np.where(labels == "x", 0.2, 0.7)
    for place in range(4):
        frame[f"n{place}"] = random.normal(np.where(labels == "x", 0.0, 0.5 * place), 1.0) + 1e3 * place
    for name in ("c0", "c1", "n0", "n3"):
        frame.loc[random.random(rows) < 0.2, name] = None
    return frame, labels


def dirichlet(values, levels):
    """(P(values), P(next = v)), values drawn one after the other: the chain rule, not the closed form."""
    counts, evidence = dict.fromkeys(levels, 0), 0.0
    for value in values:
        evidence += math.log((counts[value] + 1) / (sum(counts.values()) + len(levels)))
        counts[value] += 1
    return evidence, {level: (counts[level] + 1) / (sum(counts.values()) + len(levels)) for level in levels}


def posterior(values, mean, variance, rows):
    """(rows, mean, sum of squares) after these values, under a prior of so many rows with this mean and variance."""
    n = len(values)
    a = sum(values) / n if n else mean
    s = sum((value - a) ** 2 for value in values)
    return n + rows, (rows * mean + n * a) / (n + rows), rows * variance + s + rows * n * (a - mean) ** 2 / (n + rows)


def student(x, values, mean, variance, rows):
    """The density of the next value after these."""
    v, location, squares = posterior(values, mean, variance, rows)
    scale = math.sqrt(squares / v * (v + 1) / v)
    z = (x - location) / scale
    return (
        math.lgamma((v + 1) / 2)
        - math.lgamma(v / 2)
        - 0.5 * math.log(v * math.pi)
        - math.log(scale)
        - (v + 1) / 2 * math.log1p(z * z / v)
    )


class Column:
    """Evidence and predictions of one column, with the class and without."""

    def __init__(self, column, labels, numeric):
        there = column.notna().to_numpy()
        self.values, self.labels = column[there].tolist(), labels[there].tolist()
        self.number, self.numeric = column.dtype.kind == "f", numeric
        self.levels = sorted(set(self.values))
        if self.number:
            self.mean = math.fsum(self.values) / len(self.values)
            self.variance = math.fsum((value - self.mean) ** 2 for value in self.values) / len(self.values)
            self.prior = self.mean, self.variance, 1 if numeric == "student" else 0.25

    def of(self, label):
        return [value for value, own in zip(self.values, self.labels, strict=True) if label in (None, own)]

    def log_evidence(self, classes):
        if not self.number:
            return sum(dirichlet(self.of(label), self.levels)[0] for label in classes)
        total = 0.0
        for label in classes:
            values = self.of(label)
            total += sum(student(value, values[:n], *self.prior) for n, value in enumerate(values))
        return total

    def p(self, x, label):
        if not self.number:
            return dirichlet(self.of(label), self.levels)[1][x]
        if self.numeric == "gaussian":
            rows, mean, squares = posterior(self.of(label), *self.prior)
            return NormalDist(mean, math.sqrt(squares / rows)).pdf(x)
        return math.exp(student(x, self.of(label), *self.prior))


@pytest.mark.parametrize(("inclusion", "numeric"), [(0.5, "student"), (0.2, "student"), (0.5, "gaussian")])
def test_the_average_is_that_over_all_sets(inclusion, numeric):
    frame, labels = table()
    clf = bb.AveragedNaiveBayes(inclusion, numeric=numeric).fit(frame, labels)
    classes = clf.classes_.tolist()
    columns = {name: Column(frame[name], labels, numeric) for name in frame}
    with_class = {name: column.log_evidence(classes) for name, column in columns.items()}
    without = {name: column.log_evidence([None]) for name, column in columns.items()}
    rows = frame.head(6)
    found = np.exp(clf.joint_log_proba(rows))
    cells = {
        (place, name, label): columns[name].p(rows[name].iloc[place], label)
        if pd.notna(rows[name].iloc[place])
        else 1.0
        for place in range(len(rows))
        for name in frame
        for label in (*classes, None)
    }
    expected, total = np.zeros((len(rows), len(classes))), 0.0
    shift = sum(max(with_class[name], without[name]) for name in frame)
    for chosen in itertools.product([False, True], repeat=len(columns)):
        log_weight = -shift
        for name, inside in zip(frame, chosen, strict=True):
            log_weight += (with_class if inside else without)[name] + math.log(inclusion if inside else 1 - inclusion)
        weight = math.exp(log_weight)
        total += weight
        for place in range(len(rows)):
            for c, label in enumerate(classes):
                product = (labels == label).mean() * weight
                for name, inside in zip(frame, chosen, strict=True):
                    product *= cells[place, name, label if inside else None]
                expected[place, c] += product
    np.testing.assert_allclose(found, expected / total, rtol=1e-10)
    assert found == pytest.approx(expected / total, abs=1e-12)
    odds = {name: math.exp(without[name] - with_class[name]) * (1 - inclusion) / inclusion for name in frame}
    assert clf.inclusion_ == pytest.approx({name: 1 / (1 + each) for name, each in odds.items()}, rel=1e-9)


@pytest.mark.parametrize("numeric", ["gaussian", "student", "mdl"])
def test_leave_one_out_forgetting_and_terms(numeric):
    frame, labels = table(1, 40)
    clf = bb.AveragedNaiveBayes(numeric=numeric).fit(frame, labels)
    digest, answer = clf.book_.digest(), clf.predict_proba(frame)
    np.testing.assert_allclose(clf.explain(frame).joint(), clf.joint_log_proba(frame), rtol=1e-12)
    found = clf.leave_one_out(frame, labels)
    for row in (0, 7, 39):
        others = np.arange(len(frame)) != row
        refit = bb.AveragedNaiveBayes(numeric=numeric).fit(frame[others].reset_index(drop=True), labels[others])
        one = frame[row : row + 1].reset_index(drop=True)
        np.testing.assert_allclose(found[row], refit.predict_proba(one)[0], rtol=1e-12)
    clf.forget(frame.head(5), labels[:5]).partial_fit(frame.head(5), labels[:5])
    assert clf.book_.digest() == digest
    np.testing.assert_array_equal(clf.predict_proba(frame), answer)


@st.composite
def mixed_tables(draw):
    """(frame, labels): few rows of many kinds of columns, with rare levels and classes, outliers and missing values."""
    rows = draw(st.integers(3, 14))

    def column(values):
        return draw(st.lists(st.none() | values, min_size=rows, max_size=rows))

    frame = pd.DataFrame(
        {
            "colour": pd.Series(column(st.sampled_from("abcdef")), dtype=object),
            "domain": pd.Series(column(st.sampled_from("ab")), dtype=object),
            "count": pd.Series(column(st.integers(0, 2)), dtype="float64"),
            "size": pd.Series(column(st.floats(-5, 5).map(lambda x: round(x, 2))), dtype="float64"),
            "far": pd.Series(column(st.sampled_from([1e6, 1e6 + 1, 1e6 + 1.5, 3e9, -7.0])), dtype="float64"),
        }
    )
    labels = np.array(draw(st.lists(st.sampled_from("xyz"), min_size=rows, max_size=rows)))
    return frame, labels


@given(
    mixed_tables(),
    st.sampled_from(["gaussian", "student", "mdl", "frequency:2"]),
    st.sampled_from(["laplace", "lidstone:0.5", "m:2"]),
    st.fixed_dictionaries(
        {
            "inclusion": st.sampled_from([0, 0.2, 0.5, 1]),
            "unseen": st.sampled_from(["smooth", "ignore"]),
            "prior_smoothing": st.sampled_from([None, "laplace"]),
        }
    ),
    st.sampled_from([0, 1e-4]),
)
@settings(max_examples=30, deadline=None)
@pytest.mark.filterwarnings("ignore")
def test_leave_one_out_is_a_refit_a_row(rows, numeric, smoothing, options, floor):
    frame, labels = rows
    assume(len(set(labels)) > 1)
    columns = {"colour": bb.Category(), "domain": bb.Category(["a", "b", "c"]), "far": bb.Real(floor=floor)}
    clf = bb.AveragedNaiveBayes(numeric=numeric, smoothing=smoothing, columns=columns, **options)
    found = clone(clf).fit(frame, labels).leave_one_out(frame, labels)
    classes = sorted(set(labels))
    for row in range(len(labels)):
        others = np.arange(len(labels)) != row
        refit = clone(clf).fit(frame[others].reset_index(drop=True), labels[others])
        answer = refit.predict_proba(frame[row : row + 1].reset_index(drop=True))[0]
        expected = dict.fromkeys(classes, 0.0) | dict(zip(refit.classes_, answer, strict=True))
        np.testing.assert_allclose(found[row], list(expected.values()), rtol=1e-12, atol=1e-15)


def test_leave_one_out_of_the_demo_with_a_given_prior():
    people = pd.read_csv(TITANIC)
    frame = people.loc[people.index.repeat(people.pop("people"))].reset_index(drop=True)
    labels = frame.pop("survived").to_numpy()
    prior = {name: (place + 1) / 3 for place, name in enumerate(sorted(set(labels)))}
    clf = bb.AveragedNaiveBayes(prior=prior).fit(frame, labels)
    found = clf.leave_one_out(frame, labels)
    for row in range(0, len(frame), 200):
        others = np.arange(len(frame)) != row
        refit = bb.AveragedNaiveBayes(prior=prior).fit(frame[others].reset_index(drop=True), labels[others])
        one = frame[row : row + 1].reset_index(drop=True)
        np.testing.assert_allclose(found[row], refit.predict_proba(one)[0], rtol=1e-12)


@pytest.mark.parametrize("numeric", ["gaussian", "student"])
def test_leave_one_out_makes_a_model_for_few_rows(numeric, monkeypatch):
    frame, labels = table(4, 400)
    frame.loc[7, "n1"] = 1e9
    clf = bb.AveragedNaiveBayes(numeric=numeric).fit(frame, labels)
    made = []
    accept = AveragedClassifier.accept
    monkeypatch.setattr(AveragedClassifier, "accept", lambda *given: made.append(1) or accept(*given))
    clf.leave_one_out(frame, labels)
    assert len(made) == 1  # the row that is so far away that its digits cancel


def test_rows_that_were_never_learned_are_refused():
    frame, labels = table()
    clf = bb.AveragedNaiveBayes().fit(frame, labels)
    with pytest.raises(CannotForget):
        clf.leave_one_out(frame.assign(c2="never"), labels)


def test_what_has_no_evidence_is_refused():
    frame, labels = table()
    for options in ({"numeric": "kernel"}, {"numeric": "gaussian:spacing"}, {"smoothing": "mle"}, {"inclusion": 2}):
        with pytest.raises(BadOption):
            bb.AveragedNaiveBayes(**options).fit(frame, labels).predict(frame)


def test_a_class_with_one_value_has_a_density():
    rows = pd.DataFrame({"size": [1.0, 1.0, 2.0, 3.0]})
    for floor in (0, 1e-4):
        clf = bb.AveragedNaiveBayes(columns={"size": bb.Real(floor=floor)}).fit(rows, list("aabb"))
        assert clf.predict(rows).tolist() == list("aabb")
        assert np.isfinite(clf.joint_log_proba(rows)).all()


def test_a_column_of_one_value_says_nothing():
    rows = pd.DataFrame({"size": [1.0, 1.0, 2.0, 3.0], "same": 7.0})
    with warning(SuspiciousData, reason="constant", columns=("same",)):
        clf = bb.AveragedNaiveBayes(columns={"same": bb.Real(floor=0)}).fit(rows, list("aabb"))
    without = bb.AveragedNaiveBayes().fit(rows[["size"]], list("aabb"))
    np.testing.assert_array_equal(clf.predict_proba(rows), without.predict_proba(rows[["size"]]))
    assert list(clf.inclusion_) == ["size"]


@pytest.mark.parametrize("numeric", ["student", "mdl"])
def test_with_every_column_included_it_is_naive_bayes(numeric):
    frame, labels = table(3, 50)
    plain = bb.NaiveBayes(numeric=numeric).fit(frame, labels).joint_log_proba(frame)
    every = bb.AveragedNaiveBayes(1, numeric=numeric).fit(frame, labels).joint_log_proba(frame)
    np.testing.assert_allclose(every, plain, rtol=1e-12)


def test_worked_example_8():
    def says(p):
        even = {"a": 0.5, "b": 0.5}
        return bb.NaiveBayes.from_tables(prior={"+": p, "-": 1 - p}, tables={"x": {"+": even, "-": even}})

    optimal = bb.BayesOptimal([says(1), says(0), says(0)], [0.4, 0.3, 0.3])
    row = [{"x": "a"}]
    assert optimal.map_hypothesis_.predict(row)[0] == "+"
    assert optimal.predict(row)[0] == "-"
    np.testing.assert_allclose(optimal.predict_proba(row), [[0.4, 0.6]], rtol=1e-12)


def test_weights_from_evidence_and_from_leave_one_out():
    frame, labels = table(2)
    one, two = bb.NaiveBayes().fit(frame, labels), bb.AveragedNaiveBayes().fit(frame, labels)
    by_evidence = bb.BayesOptimal([one, two], "evidence", prior=[1, 3], log_evidence=[-1000.0, -1001.0])
    np.testing.assert_allclose(by_evidence.weights_, np.array([1, 3 / math.e]) / (1 + 3 / math.e))
    left_out = bb.BayesOptimal([one, two], "leave-one-out").fit(frame, labels)
    place = [list(one.classes_).index(label) for label in labels]
    scores = [np.log(each.leave_one_out(frame, labels)[np.arange(len(labels)), place]).sum() for each in (one, two)]
    odds = math.exp(scores[1] - scores[0])
    np.testing.assert_allclose(left_out.weights_, np.array([1, odds]) / (1 + odds))
    answer = left_out.weights_[0] * one.predict_proba(frame) + left_out.weights_[1] * two.predict_proba(frame)
    np.testing.assert_allclose(left_out.predict_proba(frame), answer)
    for wrong in ({"weights": [1, -1]}, {"weights": [1]}, {"weights": "votes"}, {"weights": "evidence"}):
        with pytest.raises(BadOption):
            bb.BayesOptimal([one, two], **wrong).predict(frame)
