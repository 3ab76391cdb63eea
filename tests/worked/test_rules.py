"""All the smoothing rules on one small table, by the formulas as they are printed."""

from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.near import near

import bayesbox as bb

COLOURS = ["red", "red", "red", "blue", "red", "green"]
LABELS = ["+", "+", "+", "+", "-", "-"]
N = {"+": 4, "-": 2}
COUNTS = {"+": {"red": 3, "blue": 1, "green": 0}, "-": {"red": 1, "blue": 0, "green": 1}}
PRIORS = {"red": Fraction(1, 2), "blue": Fraction(3, 8), "green": Fraction(1, 8)}
EXTRA = {"red": 2, "blue": 1, "green": 4}
K, CLASSES, TOTAL = 3, 2, 6


def replaced(zero):
    return lambda n_cv, n_c, v: Fraction(n_cv, n_c) if n_cv else zero(n_c)


PRINTED = {
    "maximum likelihood": (bb.rules.MaximumLikelihood(), lambda n_cv, n_c, v: Fraction(n_cv, n_c)),
    "laplace": (bb.rules.Laplace(), lambda n_cv, n_c, v: Fraction(n_cv + 1, n_c + K)),
    "lidstone 0.5": (bb.rules.Lidstone(0.5), lambda n_cv, n_c, v: (n_cv + Fraction(1, 2)) / (n_c + Fraction(1, 2) * K)),
    "lidstone 0.1": (
        bb.rules.Lidstone(0.1),
        lambda n_cv, n_c, v: (n_cv + Fraction(1, 10)) / (n_c + Fraction(1, 10) * K),
    ),
    "m-estimate": (bb.rules.MEstimate(2), lambda n_cv, n_c, v: (n_cv + 2 * Fraction(1, K)) / (n_c + 2)),
    "m-estimate with a prior": (
        bb.rules.MEstimate(3, {value: float(p) for value, p in PRIORS.items()}),
        lambda n_cv, n_c, v: (n_cv + 3 * PRIORS[v]) / (n_c + 3),
    ),
    "prior counts": (
        bb.rules.PriorCounts(EXTRA),
        lambda n_cv, n_c, v: Fraction(n_cv + EXTRA[v], n_c + sum(EXTRA.values())),
    ),
    "a zero becomes half": (bb.rules.ReplaceZero("half"), replaced(lambda n_c: Fraction(1, 2) / TOTAL)),
    "a zero becomes P(c)/n": (bb.rules.ReplaceZero("prior"), replaced(lambda n_c: Fraction(n_c, TOTAL) / TOTAL)),
    "as written, a = b = m": (bb.rules.AsWritten(2, 2), lambda n_cv, n_c, v: Fraction(n_cv + 2, n_c + 2)),
    "as written, a = 1, b = classes": (
        bb.rules.AsWritten(1, CLASSES),
        lambda n_cv, n_c, v: Fraction(n_cv + 1, n_c + CLASSES),
    ),
    "as written, a = m, b = mp": (
        bb.rules.AsWritten(2, 2 * 0.5),
        lambda n_cv, n_c, v: (n_cv + 2) / (n_c + 2 * Fraction(1, 2)),
    ),
}


@pytest.mark.parametrize(("rule", "formula"), PRINTED.values(), ids=PRINTED)
def test_p_of_each_value(rule, formula):
    clf = bb.NaiveBayes(smoothing=rule).fit({"colour": COLOURS}, LABELS)
    found = np.exp(clf.joint_log_proba({"colour": list(PRIORS)}))
    exact = [[Fraction(N[c], TOTAL) * formula(COUNTS[c][v], N[c], v) for c in N] for v in PRIORS]
    for row, expected in zip(found.tolist(), exact, strict=True):
        assert row == near(expected)


SUM_TO_ONE = {"maximum likelihood", "laplace", "lidstone 0.5", "lidstone 0.1", "m-estimate"}
SUM_TO_ONE |= {"m-estimate with a prior", "prior counts"}


@pytest.mark.parametrize("name", PRINTED)
def test_which_rules_sum_to_one(name):
    rule, formula = PRINTED[name]
    clf = bb.NaiveBayes(smoothing=rule).fit({"colour": COLOURS}, LABELS)
    terms = clf.explain({"colour": list(PRIORS)}).terms[:, :, 0]  # levels x classes
    sums = np.exp(terms).sum(axis=0)
    assert sums.tolist() == near([sum(formula(COUNTS[c][v], N[c], v) for v in PRIORS) for c in N])
    assert (sums.tolist() == near([1, 1])) == (name in SUM_TO_ONE)


CLASS_RULES = {
    "mle": ("mle", [Fraction(4, 6), Fraction(2, 6)]),
    "laplace": ("laplace", [Fraction(5, 8), Fraction(3, 8)]),
    "lidstone": ("lidstone:0.5", [Fraction(9, 14), Fraction(5, 14)]),
    "m": ("m:2", [Fraction(5, 8), Fraction(3, 8)]),
    "m with a prior": (bb.rules.MEstimate(2, {"+": 0.25, "-": 0.75}), [Fraction(9, 16), Fraction(7, 16)]),
    "prior counts": (bb.rules.PriorCounts({"+": 1, "-": 3}), [Fraction(5, 10), Fraction(5, 10)]),
    "replace zero": ("replace-zero:half", [Fraction(4, 6), Fraction(2, 6)]),
    "as written": ("as-written:1,2", [Fraction(5, 8), Fraction(3, 8)]),
}


@pytest.mark.parametrize(("rule", "exact"), CLASS_RULES.values(), ids=CLASS_RULES)
def test_class_prior_by_the_same_rules(rule, exact):
    clf = bb.NaiveBayes(prior_smoothing=rule).fit({"colour": COLOURS}, LABELS)
    assert np.exp(clf.class_log_prior_).tolist() == near(exact)
