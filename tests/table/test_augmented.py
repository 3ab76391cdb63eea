"""AODE and KDB against their formulas evaluated one row, one class and one parent at a time."""

import copy
import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadOption, CannotForget, DataWarning, MissingColumns, UnseenLevels
from bayesbox.rule import backoff
from bayesbox.table.augmented import one_dependence


def table(seed=0, rows=60, missing=0.15):
    """Four categories that depend on each other and on the class, with missing values."""
    random = np.random.default_rng(seed)
    labels = random.choice(["x", "y", "z"], rows, p=[0.5, 0.3, 0.2])
    shape = np.where(random.random(rows) < 0.6, np.where(labels == "x", "round", "flat"), "odd")
    colour = np.where(random.random(rows) < 0.5, np.where(shape == "odd", "red", "blue"), "green")
    size = random.choice(["s", "m", "l", "xl"], rows, p=[0.5, 0.3, 0.18, 0.02])
    frame = pd.DataFrame(
        {"shape": shape, "colour": colour, "size": size, "new": random.random(rows) < 0.4}, dtype=object
    )
    frame["new"] = frame["new"].map({True: "yes", False: "no"})
    for name in frame:
        frame.loc[random.random(rows) < missing, name] = None
    return frame, labels


TRUST = {2.0: 0.5, 8.0: 0.3, 64.0: 0.2}


class Counter:
    """Counts and probabilities, one at a time, of the rows themselves."""

    def __init__(self, frame, labels, rule):
        there = frame.astype(object).where(frame.notna(), None)
        self.rows = [dict(row) for row in there.to_dict("records")]
        self.labels = list(labels)
        self.rule = rule
        self.classes = sorted(set(labels))
        self.levels = {name: sorted({row[name] for row in self.rows} - {None}) for name in frame}

    def n(self, label, **values):
        return sum(
            all(row[name] == value for name, value in values.items()) and label in (None, own)
            for row, own in zip(self.rows, self.labels, strict=True)
        )

    def total(self, label, name, given):
        return sum(self.n(label, **{name: level}, **given) for level in self.levels[name])

    def p(self, label, name, value, given):
        """P(name=value | label, given), the conditions from the strongest to the weakest."""
        size = len(self.levels[name])
        n, total = self.n(label, **{name: value}, **given), self.total(label, name, given)
        if self.rule == "laplace":
            return (n + 1) / (total + size)
        if given:
            lower = self.p(label, name, value, dict(list(given.items())[:-1]))
        elif label is not None:
            lower = self.p(None, name, value, {})
        else:
            lower = 1 / size
        return sum(share * (n + m * lower) / (total + m) for m, share in TRUST.items())

    def prior(self, label):
        return self.labels.count(label) / len(self.labels)


@pytest.fixture
def fixed_trust(monkeypatch):
    monkeypatch.setattr(backoff, "learned_trust", lambda *_: backoff.Trust(tuple(TRUST), tuple(TRUST.values())))


@pytest.fixture
def single_trust(monkeypatch):
    """One m for every step, in the core too."""
    for module in (backoff, one_dependence):
        monkeypatch.setattr(module, "WEIGHTS", (8.0,))
    monkeypatch.setitem(globals(), "TRUST", {8.0: 1.0})


def aode_by_hand(counter, row, label, least=1):
    present = {name: value for name, value in row.items() if value is not None}
    parents = [name for name, value in present.items() if counter.n(None, **{name: value}) >= least]
    sums = []
    for parent in parents:
        product = counter.prior(label) * counter.p(label, parent, present[parent], {})
        for name, value in present.items():
            if name != parent:
                product *= counter.p(label, name, value, {parent: present[parent]})
        sums.append(product)
    if sums:
        return sum(sums) / len(sums)
    naive = (counter.p(label, name, value, {}) for name, value in present.items())
    return counter.prior(label) * math.prod(naive)


@pytest.mark.parametrize("rule", ["laplace", "backoff"])
@pytest.mark.parametrize("least", [1, 12])
def test_aode_is_its_formula(rule, least, single_trust):
    frame, labels = table()
    clf = bb.AODE(smoothing=rule, least=least).fit(frame, labels)
    counter = Counter(frame, labels, rule)
    rows = [*counter.rows, {"shape": None, "colour": None, "size": "xl", "new": None}, dict.fromkeys(frame)]
    found = clf.joint_log_proba(pd.DataFrame(rows, columns=list(frame), dtype=object))
    for place, row in enumerate(rows):
        expected = [math.log(aode_by_hand(counter, row, label, least)) for label in clf.classes_]
        np.testing.assert_allclose(found[place], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_tables_of_pairs_are_steps_of_the_back_off(weighted):
    """The core's tables and trusts against the step of one pair, with missing values, rare levels and weights."""
    frame, labels = table()
    weights = np.random.default_rng(3).random(len(labels)) if weighted else None
    clf = bb.AODE().fit(frame, labels, sample_weight=weights)
    model, pairs = clf.classifier_.model, clf.classifier_.book.with_classes(clf.classifier_.model.classes).joint
    counted = one_dependence.PairCounts(pairs, model.coding)
    first = dict(zip(model.names, model.first_slot.tolist(), strict=False))
    assert len(model.trusts) == len(list(model.trusts)) == len(model.names) * (len(model.names) + 1)
    for parent, name in itertools.permutations(model.names, 2):
        size, given = len(model.coding.levels[name]), len(model.coding.levels[parent])
        _, below = one_dependence._by_class(counted.single(name), None, size)
        counts = one_dependence.with_unseen(counted.pair(parent, name))
        expected = backoff.step(counts, backoff.expanded(below))
        found = model.table[first[parent] : first[parent] + given, first[name] : first[name] + size + 1]
        np.testing.assert_allclose(np.exp(np.moveaxis(found, -1, 0)), expected.probability, rtol=1e-12)
        np.testing.assert_allclose(model.trusts[parent, name].shares, expected.trust.shares, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", ["laplace", "backoff"])
@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_kdb_is_its_formula(rule, k, fixed_trust):
    frame, labels = table(1)
    clf = bb.KDB(k, smoothing=rule).fit(frame, labels)
    counter = Counter(frame, labels, rule)
    assert max(len(parents) for parents in clf.parents_.values()) == min(k, 3)
    found = clf.joint_log_proba(frame)
    for place, row in enumerate(counter.rows):
        for c, label in enumerate(clf.classes_):
            expected = math.log(counter.prior(label))
            for name, value in row.items():
                if value is None:
                    continue
                known = itertools.takewhile(lambda parent, row=row: row[parent] is not None, clf.parents_[name])
                expected += math.log(counter.p(label, name, value, {parent: row[parent] for parent in known}))
            assert found[place, c] == pytest.approx(expected, rel=1e-12)


def dependence(counter, one, other):
    """I(one; other | class) over the rows that have both."""
    total = sum(
        counter.n(label, **{one: a, other: b})
        for label in counter.classes
        for a in counter.levels[one]
        for b in counter.levels[other]
    )
    information = 0.0
    for label in counter.classes:
        cells = {
            (a, b): counter.n(label, **{one: a, other: b}) for a in counter.levels[one] for b in counter.levels[other]
        }
        within = sum(cells.values())
        for (a, b), n in cells.items():
            if n:
                row = sum(cells[a, other_b] for other_b in counter.levels[other])
                column = sum(cells[other_a, b] for other_a in counter.levels[one])
                information += n / total * math.log(n * within / (row * column))
    return information


def test_kdb_takes_the_strongest_parents():
    frame, labels = table(2, rows=200)
    clf = bb.KDB(1).fit(frame, labels)
    counter = Counter(frame, labels, "laplace")
    before = [name for name, parents in clf.parents_.items() if not parents]
    assert len(before) == 1
    for name, parents in clf.parents_.items():
        for parent in parents:
            others = [each for each in frame if each not in (name, parent) and name not in clf.parents_[each]]
            stronger = [each for each in others if dependence(counter, each, name) > dependence(counter, parent, name)]
            assert all(parent_of_later(clf, name, each) for each in stronger)


def parent_of_later(clf, name, other):
    """Whether `other` says less of the class, so that it could not be a parent of `name`."""
    tallies = clf.book_.columns
    return information(tallies[other].counts) <= information(tallies[name].counts)


def information(counts):
    counts = np.asarray(counts, dtype=float)
    p = counts / counts.sum()
    outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    return float((p[p > 0] * np.log(p[p > 0] / outer[p > 0])).sum())


ESTIMATORS = {
    "aode": bb.AODE(),
    "aode laplace": bb.AODE(smoothing="laplace", least=3),
    "aode mle": bb.AODE(smoothing="mle"),
    "tan": bb.TAN(),
    "tan aic": bb.TAN("aic", "size", smoothing="lidstone:0.01"),
    "kdb": bb.KDB(2),
    "kdb m": bb.KDB(1, smoothing="m:2"),
    "kdb mle": bb.KDB(1, smoothing="mle"),
}
each_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def fitted(name, frame, labels, **parameters):
    from sklearn.base import clone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return clone(ESTIMATORS[name]).set_params(**parameters).fit(frame, labels)


def numbers(seed=3, rows=80):
    frame, labels = table(seed, rows)
    random = np.random.default_rng(seed)
    frame["weight"] = random.normal(np.where(labels == "x", 0.0, 2.0), 1.0)
    frame["sold"] = random.integers(0, 2, rows).astype(float)
    frame.loc[random.random(rows) < 0.1, "weight"] = np.nan
    return frame, labels


@each_estimator
def test_leave_one_out_is_a_refit_of_the_same_structure(name, single_trust):
    frame, labels = numbers(rows=50)
    labels[0] = "alone"
    clf = fitted(name, frame, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = clf.leave_one_out(frame, labels)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    compared = 0
    for row in range(len(frame)):
        rest = copy.deepcopy(clf)
        one = frame[row : row + 1].reset_index(drop=True)
        rest.forget(one, labels[row : row + 1])
        if arcs(rest) != arcs(clf):  # a tree is found anew from the counts, and one row may turn it
            continue
        compared += 1
        expected = np.zeros(len(clf.classes_))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            answer = rest.predict_proba(one)[0]
        expected[[list(clf.classes_).index(label) for label in rest.classes_]] = answer
        np.testing.assert_allclose(found[row], expected, rtol=1e-10, atol=1e-12)
    assert compared > len(frame) / 2


def arcs(clf):
    """The parents of each column, for a model that has them."""
    return [
        (table.column, table.parents)
        for table in getattr(clf.classifier_.model, "conditionals", ())
        if hasattr(table, "parents")
    ]


@each_estimator
def test_leave_one_out_refuses_rows_that_were_never_learned(name):
    frame, labels = numbers()
    clf = fitted(name, frame, labels)
    with refusal(CannotForget, column="shape"):
        clf.leave_one_out(frame.assign(shape="square"), labels)


@each_estimator
def test_terms_sum_to_the_joint(name):
    frame, labels = numbers()
    clf = fitted(name, frame, labels)
    explanation = clf.explain(frame)
    assert explanation.columns == tuple(frame.columns)
    np.testing.assert_allclose(explanation.joint(), clf.joint_log_proba(frame), rtol=1e-10)


@each_estimator
def test_learning_in_parts_forgetting_and_order(name):
    frame, labels = numbers()
    clf = fitted(name, frame, labels)
    digest, expected = clf.book_.digest(), clf.predict_proba(frame)
    more, more_labels = numbers(9, 30)
    clf.partial_fit(more, more_labels)
    assert clf.book_.digest() != digest
    clf.forget(more, more_labels)
    assert clf.book_.digest() == digest
    np.testing.assert_array_equal(clf.predict_proba(frame), expected)
    order = np.random.default_rng(0).permutation(len(frame))
    again = fitted(name, frame.iloc[order].reset_index(drop=True), labels[order])
    assert again.book_.digest() == digest
    np.testing.assert_array_equal(again.predict_proba(frame), expected)


@each_estimator
def test_a_row_twice_is_a_row_of_weight_two(name):
    frame, labels = numbers()
    twice = fitted(name, pd.concat([frame, frame], ignore_index=True), np.concatenate([labels, labels]))
    from sklearn.base import clone

    weighted = clone(ESTIMATORS[name]).fit(frame, labels, sample_weight=np.full(len(frame), 2.0))
    assert weighted.book_.digest() == twice.book_.digest()
    np.testing.assert_array_equal(weighted.predict_proba(frame), twice.predict_proba(frame))


@each_estimator
def test_unseen_levels_and_absent_columns(name):
    frame, labels = numbers()
    clf = fitted(name, frame, labels, unseen="smooth")
    strange = frame.assign(shape="square", size="huge")
    if "mle" not in name:
        np.testing.assert_allclose(clf.predict_proba(strange).sum(axis=1), 1)
    ignoring = fitted(name, frame, labels)
    with pytest.warns(UnseenLevels):
        found = ignoring.predict_proba(strange)
    with pytest.warns(MissingColumns):
        np.testing.assert_array_equal(found, clf.predict_proba(frame.assign(shape=None).drop(columns="size")))
    with refusal(ValueError, column="shape", found="square"):
        fitted(name, frame, labels, unseen="error").predict(strange)


def test_columns_of_many_levels_depend_on_the_class_alone():
    random = np.random.default_rng(5)
    frame, labels = table(5, 600)
    frame["street"] = [f"s{number}" for number in random.integers(0, 300, 600)]
    for clf in (bb.AODE(), bb.KDB(2)):
        clf.fit(frame, labels)
        assert math.isfinite(clf.log_likelihood(frame, labels))
        np.testing.assert_allclose(clf.explain(frame).joint(), clf.joint_log_proba(frame), rtol=1e-10)
        np.testing.assert_allclose(clf.leave_one_out(frame, labels).sum(axis=1), 1)
    assert bb.AODE().fit(frame, labels).classifier_.model.alone[0].column == "street"


def test_options_are_checked():
    frame, labels = table()
    for clf in (
        bb.AODE(least=0),
        bb.KDB(9),
        bb.KDB(-1),
        bb.AODE(numeric="nothing"),
        bb.AODE(smoothing="as-written:1,2"),
    ):
        with pytest.raises(BadOption):
            clf.fit(frame, labels)


@each_estimator
def test_the_model_file_holds_all_of_it(name, tmp_path):
    frame, labels = numbers()
    frame["street"] = [f"s{number}" for number in range(len(frame))]
    clf = fitted(name, frame, labels)
    clf.save(tmp_path / "one.bayes")
    again = bb.load(tmp_path / "one.bayes")
    assert type(again) is type(clf)
    assert str(again.get_params()) == str(clf.get_params()) or again.classifier_.rules == clf.classifier_.rules
    assert again.book_.digest() == clf.book_.digest()
    np.testing.assert_array_equal(again.predict_proba(frame), clf.predict_proba(frame))
    again.save(tmp_path / "two.bayes")
    assert (tmp_path / "one.bayes").read_bytes() == (tmp_path / "two.bayes").read_bytes()
    more, more_labels = numbers(4, 20)
    clf.partial_fit(more, more_labels)
    assert again.partial_fit(more, more_labels).book_.digest() == clf.book_.digest()
