"""Ten thousand small tables of categories, flags and counts, under every rule, against naive Bayes in fractions."""

import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from tests.oracle import exact_naive_bayes as exact
from tests.oracle.near import RELATIVE

import bayesbox as bb
from bayesbox.errors import BadOption, ImpossibleRows, MissingColumns, UnseenLevels

SEEDS, TABLES = 40, 250
assert SEEDS * TABLES == 10_000

LEVELS = ["a", "b", "c"]
PRIOR = {"a": Fraction(1, 2), "b": Fraction(1, 8), "true": Fraction(1, 4), "1": Fraction(1, 8)}
EXTRA = {"a": Fraction(2), "c": Fraction(1, 2), "e": Fraction(3), "false": Fraction(1), "w1": Fraction(1)}


def floats(values):
    return {name: float(value) for name, value in values.items()}


RULES = [
    ("mle", exact.maximum_likelihood()),
    (bb.rules.Laplace(), exact.laplace()),
    ("lidstone:0.1", exact.lidstone(Fraction(1, 10))),
    (bb.rules.Lidstone(0), exact.lidstone(Fraction(0))),
    (bb.rules.MEstimate(2), exact.m_estimate(Fraction(2))),
    ("m:0", exact.m_estimate(Fraction(0))),
    (bb.rules.MEstimate(0.5, floats(PRIOR)), exact.m_estimate(Fraction(1, 2), PRIOR)),
    (bb.rules.PriorCounts(floats(EXTRA)), exact.prior_counts(EXTRA)),
    ("replace-zero:half", exact.zero_becomes("half")),
    ("replace-zero:prior", exact.zero_becomes("prior")),
    ("as-written:1,1", exact.as_written(Fraction(1), Fraction(1))),
    (bb.rules.AsWritten(0, 2), exact.as_written(Fraction(0), Fraction(2))),
]
PRIOR_RULES = [
    (None, exact.maximum_likelihood()),
    ("laplace", exact.laplace()),
    ("as-written:1,3", exact.as_written(Fraction(1), Fraction(3))),
    (bb.rules.PriorCounts({"x": 2, "z": 1}), exact.prior_counts({"x": Fraction(2), "z": Fraction(1)})),
    ("replace-zero:half", exact.zero_becomes("half")),
]


class Case:
    """A random table with its options, its questions, and both classifiers."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.rows = int(random.integers(1, 13))
        self.missing = self.choose(["ignore", "level"])
        self.unseen = self.choose(["smooth", "smooth", "ignore"])
        self.rule, self.exact_rule = self.choose(RULES)
        self.prior_rule, self.exact_prior_rule = self.choose(PRIOR_RULES)
        self.labels = random.choice(["x", "y", "z"], self.rows, p=[0.5, 0.35, 0.15]).tolist()
        self.weights = None if random.random() < 0.7 else random.choice([0, 0.5, 1, 2, 3], self.rows).tolist()
        if self.weights is not None and not any(self.weights):
            self.weights = None
        self.X, self.asked, self.kinds, self.columns, self.words = {}, {}, {}, {}, {}
        self.questions = 4
        for name in [f"c{i}" for i in range(random.integers(0, 3))]:
            self.add_category(name)
        for name in [f"f{i}" for i in range(random.integers(0, 2))]:
            self.add_flag(name)
        for name in [f"n{i}" for i in range(random.integers(0, 2))]:
            self.add_number(name)
        if random.random() < 0.3 or not self.X:
            self.add_words()
        self.declared = ("w",) if random.random() < 0.15 else ()
        self.prior = self.given_prior() if random.random() < 0.2 else None

    def choose(self, options):
        return options[int(self.random.integers(len(options)))]

    def draw(self, values, holes=0.25):
        """A column; at least one row that counts has a value, so that the column has a kind."""
        column = [None if self.random.random() < holes else self.choose(values) for _ in range(self.rows)]
        counted = [row for row in range(self.rows) if self.weights is None or self.weights[row]]
        if all(column[row] is None for row in counted):
            column[counted[0]] = self.choose(values)
        return column

    def enter(self, name, values, asked, kind, column):
        self.X[name] = values
        if self.random.random() > 0.1:  # a column that is absent when asked is missing
            self.asked[name] = asked
        if kind is not None:
            self.kinds[name] = kind
        self.columns[name] = column

    def questions_of(self, values):
        return [self.choose([*values, None]) for _ in range(self.questions)]

    def own_missing(self):
        return self.choose([None, None, "ignore", "level"])

    def add_category(self, name):
        own = self.own_missing()
        domain = self.choose([None, None, ("a", "b", "c", "d")])
        kind = bb.Category(domain, missing=own) if domain or own else None
        values, asked = self.draw(LEVELS), self.questions_of([*LEVELS, "d", "e", "new"])
        column = exact.Column(values, domain or (), missing=own or self.missing, unseen=self.unseen)
        self.enter(name, values, asked, kind, column)

    def add_flag(self, name):
        own = self.own_missing()
        values, asked = self.draw([True, False]), self.questions_of([True, False])
        text = {True: "true", False: "false", None: None}
        column = exact.Column(
            [text[v] for v in values], ("false", "true"), fixed=True, missing=own or self.missing, unseen=self.unseen
        )
        self.enter(name, values, asked, bb.Flag(missing=own) if own else None, column)

    def add_number(self, name):
        """A number that is 0 or 1 is a flag with the levels 0 and 1; anything else asked was never seen."""
        values, asked = self.draw([0, 1]), self.questions_of([0, 1, 2, 0.5])
        text = {0: "0", 1: "1", None: None}
        column = exact.Column(
            [text[v] for v in values], ("0", "1"), fixed=True, missing=self.missing, unseen=self.unseen
        )
        self.enter(name, values, asked, None, column)

    def add_words(self):
        for word in ("w1", "w2", "w3"):
            self.words[word] = self.X[word] = self.draw([0, 0, 1, 3], holes=0.1)
            self.asked[word] = [self.choose([0, 0, 1, 2, None]) for _ in range(self.questions)]
            self.kinds[word] = bb.Count()

    def given_prior(self):
        classes = self.oracle(prior=None).classes
        shares = self.random.integers(0, 5, len(classes)) if len(classes) > 1 else np.array([1])
        shares[0] += shares.sum() == 0
        return {c: Fraction(int(share), int(shares.sum())) for c, share in zip(classes, shares, strict=True)}

    def oracle(self, prior):
        return exact.NaiveBayes(
            self.labels,
            self.columns,
            self.words,
            None if self.weights is None else [Fraction(w) for w in self.weights],
            self.exact_rule,
            self.exact_prior_rule,
            prior,
            self.declared,
        )

    def fitted(self):
        clf = bb.NaiveBayes(
            smoothing=self.rule,
            prior_smoothing=self.prior_rule,
            prior=None if self.prior is None else floats(self.prior),
            missing=self.missing,
            unseen=self.unseen,
            columns=self.kinds,
        )
        classes = [*self.oracle(None).classes] if self.declared else None
        return clf.partial_fit(self.X, self.labels, classes=classes, sample_weight=self.weights)

    def drop_constants(self, clf):
        """Take the columns of one value from the oracle: they are ignored."""
        weights = self.weights or [1] * self.rows
        for name in set(clf.classifier_.model.ignored) & set(self.columns):
            pairs = zip(self.columns[name].values, weights, strict=True)
            assert len({value for value, weight in pairs if weight and value is not None}) <= 1
            del self.columns[name]

    def questions_in_rows(self):
        """What is asked, as the oracle takes it: flags as their texts."""
        text = {True: "true", False: "false"}
        for row in range(self.questions):
            asked = {name: values[row] for name, values in self.asked.items()}
            flags = {name: text.get(v) for name, v in asked.items() if name.startswith("f")}
            numbers = {name: None if v is None else str(v) for name, v in asked.items() if name.startswith("n")}
            yield asked | flags | numbers


def assert_case(case):
    """Compare all answers to one case; gives what happened in it."""
    try:
        clf = case.fitted()
        case.drop_constants(clf)
    except BadOption:  # prior counts of values that are levels of some columns and not of others
        assert isinstance(case.rule, bb.rules.PriorCounts)
        return True
    oracle = case.oracle(case.prior)
    assert clf.classes_.tolist() == oracle.classes
    asked = case.asked or {next(iter(case.X)): [None] * case.questions}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        p = clf.predict_proba(asked)
        log_p = clf.predict_log_proba(asked)
        best = clf.predict(asked)
    joints = [oracle.joint(question) for question in case.questions_in_rows()]
    answers = [oracle.posterior(joint) for joint in joints]
    expected = [[float(answer[c]) for c in oracle.classes] for answer, _ in answers]
    np.testing.assert_allclose(p, expected, rtol=RELATIVE, atol=0)
    np.testing.assert_allclose(np.exp(log_p), expected, rtol=RELATIVE, atol=0)
    expected = [[float(joint[c]) for c in oracle.classes] for joint in joints]
    np.testing.assert_allclose(np.exp(clf.joint_log_proba(asked)), expected, rtol=RELATIVE, atol=0)
    for label, (answer, _) in zip(best, answers, strict=True):
        assert answer[label] >= max(answer.values()) * (1 - Fraction(RELATIVE))
    every_possible = all(possible for _, possible in answers)
    assert {w.category for w in caught} - {MissingColumns, UnseenLevels} == (
        set() if every_possible else {ImpossibleRows}
    )
    return every_possible


@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_tables(seed):
    random = np.random.default_rng(seed)
    seen = Counter()
    for number in range(TABLES):
        case = Case(random)
        try:
            seen[assert_case(case)] += 1
        except AssertionError as error:
            error.add_note(f"seed {seed}, table {number}: {vars(case)}")
            raise
        seen[str(case.rule)] += 1
    assert seen[False] > 0, "no table asked for the impossible"
    assert all(seen[str(rule)] > 0 for rule, _ in RULES)
