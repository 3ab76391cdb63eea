"""What to ask next, against enumeration of all rows, and against the integrals of another library."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.answer.ask_next import BY_COUNTS, UNCALIBRATED, WORDS
from bayesbox.errors import BadOption, UnknownColumn

LEVELS = {"car": ["suv", "van", "bus"], "size": ["s", "m"], "paint": ["red", "blue", "green", "grey"]}


def entropy(p):
    p = np.asarray(p)
    return float(-(p[p > 0] * np.log2(p[p > 0])).sum())


def random_table(seed, rows=60, classes=3):
    random = np.random.default_rng(seed)
    X = {name: random.choice(levels, rows).tolist() for name, levels in LEVELS.items()}
    y = [f"c{(LEVELS['car'].index(car) + random.integers(2)) % classes}" for car in X["car"]]
    return X, y


def enumerated(clf, known, asked):
    """I(class; asked | known) from P(class, row) of all complete rows, summed over what is not known."""
    names = list(LEVELS)
    rows = [dict(zip(names, values, strict=True)) for values in itertools.product(*LEVELS.values())]
    rows = [row for row in rows if all(row[name] == value for name, value in known.items())]
    joint = np.exp(clf.joint_log_proba(rows))
    table = np.array(
        [joint[[k for k, row in enumerate(rows) if row[asked] == value]].sum(axis=0) for value in LEVELS[asked]]
    )
    table /= table.sum()
    return entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("known", [{}, {"car": "van"}, {"car": "bus", "size": "s"}], ids=str)
def test_naive_bayes_agrees_with_enumeration(seed, known):
    X, y = random_table(seed)
    clf = bb.NaiveBayes(smoothing="lidstone:0.5").fit(X, y)
    found = clf.ask_next(known)
    assert {each.column for each in found} == set(LEVELS) - set(known)
    for each in found:
        assert each.information == pytest.approx(enumerated(clf, known, each.column), abs=1e-10)
        assert each.values == tuple(sorted(LEVELS[each.column]))
    assert found.entropy == pytest.approx(entropy(clf.predict_proba([known or {"car": None}])[0]), abs=1e-10)


@pytest.mark.parametrize("model", [bb.TAN, bb.KDB, bb.AODE, bb.FullBayes, bb.AveragedNaiveBayes])
@pytest.mark.parametrize("seed", range(4))
def test_other_models_agree_with_their_own_joint(model, seed):
    """With one column unknown, P(class, value | known) is the joint of the rows with each value."""
    X, y = random_table(seed)
    clf = model().fit(X, y)
    for asked in LEVELS:
        known = {name: levels[seed % len(levels)] for name, levels in LEVELS.items() if name != asked}
        [question] = clf.ask_next(known)
        assert question.information == pytest.approx(enumerated(clf, known, asked), abs=1e-10)


def test_full_bayes_sums_over_all_that_is_not_known():
    X, y = random_table(3)
    clf = bb.FullBayes().fit(X, y)
    for each in clf.ask_next({"size": "m"}):
        assert each.information == pytest.approx(enumerated(clf, {"size": "m"}, each.column), abs=1e-10)


def integrated(clf, column, points, known=None):
    """The same for a number: by scipy, between points where the density may jump."""
    known = known or {}
    now = clf.predict_proba([known])[0] if known else np.exp(clf.class_log_prior_)
    density = clf.classifier_.model.conditional(column)

    def at(x):
        p = now * np.exp(density.log_prob(np.array([x]))[0])
        total = p.sum()
        return 0.0 if total <= 0 else total * entropy(p / total)

    edges = sorted({*points})
    pieces = [quad(at, low, high, epsabs=1e-10, limit=200)[0] for low, high in itertools.pairwise(edges)]
    return entropy(now) - math.fsum(pieces)


@pytest.fixture(scope="module")
def numbers():
    random = np.random.default_rng(5)
    y = random.choice(["a", "b", "c"], 400, p=[0.5, 0.3, 0.2])
    shift = np.where(y == "a", 0.0, np.where(y == "b", 1.0, 3.0))
    age = random.normal(40 + 8 * shift, 9)
    return {"age": age, "car": random.choice(["suv", "van"], 400).tolist()}, y


@pytest.mark.parametrize("numeric", ["gaussian", "student", "kernel"])
@pytest.mark.parametrize("known", [None, {"car": "van"}], ids=str)
def test_numbers_agree_with_another_quadrature(numbers, numeric, known):
    clf = bb.NaiveBayes(numeric=numeric).fit(*numbers)
    points = [-1e4, -500, -100, *range(-20, 140, 5), 200, 600, 1e4]
    assert clf.ask_next(known).bits["age"] == pytest.approx(integrated(clf, "age", points, known), abs=1e-6)


def test_robust_numbers_agree_between_their_steps(numbers):
    clf = bb.NaiveBayes().fit(*numbers)
    density = clf.classifier_.model.conditional("age")
    points = [*density.panels, *range(10, 120, 2)]
    assert density.special_values().size == 0
    assert clf.ask_next().bits["age"] == pytest.approx(integrated(clf, "age", points), abs=1e-6)


def test_zero_apart_is_an_answer_by_itself():
    """Half of the values are zero in one class: that alone says much."""
    random = np.random.default_rng(1)
    y = np.array(["a", "b"] * 200)
    pay = np.where((y == "a") & (random.random(400) < 0.5), 0.0, np.exp(random.normal(3, 1, 400)))
    clf = bb.NaiveBayes().fit({"pay": pay}, y)
    density = clf.classifier_.model.conditional("pay")
    assert density.zero_apart
    prior, zero = np.exp(clf.class_log_prior_), np.exp(density.mixed_zero)
    inside = [*np.geomspace(1e-300, 1e-3, 60), *(edge for edge in density.panels.tolist() if edge > 1e-3)]
    rest = integrated(clf, "pay", inside) - prior @ zero * entropy(prior * zero / (prior @ zero))
    assert clf.ask_next().bits["pay"] == pytest.approx(rest, abs=1e-6)
    assert clf.ask_next().bits["pay"] > 0.2


def test_counts_and_cells_are_sums():
    random = np.random.default_rng(2)
    y = np.array(["a", "b"] * 150)
    visits = random.poisson(np.where(y == "a", 2.0, 6.0))
    for columns, numeric in ((None, "gaussian:rounded"), ({"visits": bb.Count("poisson")}, "robust")):
        clf = bb.NaiveBayes(numeric=numeric, columns=columns).fit({"visits": visits.astype(float)}, y)
        log_p = clf.joint_log_proba([{"visits": float(k)} for k in range(-20, 60)][20 * (columns is not None) :])
        joint = np.exp(log_p[~np.isclose(log_p, clf.class_log_prior_).all(axis=1)])
        table = joint / joint.sum()
        found = entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table)
        assert clf.ask_next().bits["visits"] == pytest.approx(found, abs=1e-9)


def test_the_only_value_of_a_class_has_all_its_probability():
    columns = {"age": bb.Real("gaussian", floor=0)}
    clf = bb.NaiveBayes(columns=columns).fit({"age": [5.0, 5.0, 1.0, 2.0, 3.0, 9.0]}, ["a", "a", "b", "b", "b", "b"])
    found = clf.ask_next()
    assert found.bits["age"] == pytest.approx(found.entropy, abs=1e-6)


def test_missing_as_a_level_is_an_answer():
    X = {"car": ["suv", None, "van", "suv", None, None], "age": [1.0, 2.0, None, None, 3.0, 5.0]}
    y = ["a", "b", "a", "a", "b", "b"]
    clf = bb.NaiveBayes(missing="level", numeric="gaussian").fit(X, y)
    table = clf.classifier_.model.conditional("car").level_table()
    p = np.exp(np.vstack([table.log_p, table.log_missing])) * np.exp(clf.class_log_prior_)
    found = entropy(p.sum(axis=0)) + entropy(p.sum(axis=1)) - entropy(p)
    assert p.sum() == pytest.approx(1)
    assert clf.ask_next().bits["car"] == pytest.approx(found, abs=1e-10)
    assert 0 < clf.ask_next().bits["age"] < 1


def test_dates_are_asked_with_all_their_parts():
    days = [f"2024-{month:02d}-{day:02d}" for month in range(1, 13) for day in (3, 9, 15, 21, 27)]
    y = ["a" if day[5:7] in ("06", "07", "08") else "b" for day in days]
    clf = bb.NaiveBayes(columns={"day": "date"}).fit({"day": days}, y)
    assert set(clf.ask_next().bits) == {"day"}
    month = clf.classifier_.model.conditional(clf.classifier_.schema.parts["day"][0])
    table = np.exp(month.level_table().log_p) * np.exp(clf.class_log_prior_)
    alone = entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table)
    assert alone < clf.ask_next().bits["day"] < clf.ask_next().entropy
    tree = bb.TAN(columns={"day": "date"}).fit({"day": days, "car": ["suv", "van"] * 30}, y).ask_next()
    assert "day" in tree.silent
    assert set(tree.bits) == {"car"}


def test_costs_order_the_questions(numbers):
    clf = bb.NaiveBayes().fit(*numbers)
    assert [each.column for each in clf.ask_next()] == ["age", "car"]
    dear = clf.ask_next(costs={"age": 1e6})
    assert [each.column for each in dear] == ["car", "age"]
    assert dear[1].worth == dear[1].information / 1e6
    with refusal(UnknownColumn, what="agee"):
        clf.ask_next(costs={"agee": 2})
    for bad in (0, -1, math.inf, "dear"):
        with refusal(BadOption, found=bad):
            clf.ask_next(costs={"age": bad})


def test_what_cannot_be_asked_is_said():
    X = {"note": ["good red car", "bad old van", "red van", "old car"] * 5, "age": [1.0, 2.0, 3.0, 4.0] * 5}
    clf = bb.NaiveBayes(columns={"note": "words"}).fit(X, ["a", "b", "a", "b"] * 5)
    found = clf.ask_next()
    assert found.silent == {"note": WORDS}
    assert set(found.bits) == {"age"}
    documents = bb.TextClassifier().fit(["good car", "bad van"], ["a", "b"])
    with pytest.raises(BadOption, match="ask_next"):
        documents.ask_next(["x"])


def test_models_without_a_joint_weigh_answers_by_counts(numbers):
    X, y = numbers
    auto = bb.AutoBayes(budget=1).fit(X, y)
    found = auto.ask_next({"car": "van"})
    assert found.notes == (BY_COUNTS,)
    assert 0 < found.bits["age"] < found.entropy
    several = bb.BayesOptimal([bb.NaiveBayes().fit(X, y), bb.TAN().fit(X, y)])
    assert several.ask_next().notes == (BY_COUNTS,)
    assert 0 < several.ask_next().bits["age"] < 1.6


def test_a_calibrated_model_says_that_bits_are_before_it(numbers):
    clf = bb.NaiveBayes(calibration="temperature").fit(*numbers)
    plain = bb.NaiveBayes().fit(*numbers)
    assert clf.ask_next().notes == (UNCALIBRATED,)
    assert clf.ask_next().bits == plain.ask_next().bits


def test_all_known_leaves_nothing_to_ask(numbers):
    found = bb.NaiveBayes().fit(*numbers).ask_next({"age": 40.0, "car": "suv"})
    assert len(found) == 0
    assert found.best is None
    assert "nothing left to ask" in str(found)
    assert found.to_dict()["questions"] == []
    assert len(found.to_frame()) == 0


@pytest.mark.parametrize("known", [{}, {"car": "van"}], ids=str)
def test_naive_bayes_asks_as_its_network_does(known):
    """By propagation in a junction tree, which knows nothing of terms."""
    clf = bb.NaiveBayes().fit(*random_table(1))
    network = clf.to_network("kind")
    found = {each.node: each.information for each in network.ask_next(known, "kind")}
    assert clf.ask_next(known).bits == pytest.approx(found, abs=1e-10)
