"""Meningitis and the stiff neck: Bayes' rule by itself."""

from fractions import Fraction

from tests.oracle.near import near

import bayesbox as bb


def test_stiff_neck():
    exact = Fraction(1, 2) * Fraction(1, 50_000) / Fraction(1, 20)
    assert exact == Fraction(1, 5000)
    assert bb.bayes_rule(prior=0.00002, likelihood=0.5, evidence=0.05) == near(exact)
