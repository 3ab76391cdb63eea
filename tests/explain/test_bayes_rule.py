"""Bayes' rule on numbers and on distributions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.near import near

import bayesbox as bb

DICE = {"fair": Fraction(1, 6), "loaded": Fraction(1, 2)}


@pytest.mark.parametrize("rolls", [0, 1, 2, 5, 40, 2000])
def test_the_posterior_becomes_the_next_prior(rolls):
    found = bb.bayes_rule(
        prior={"fair": 0.75, "loaded": 0.25}, likelihood=[{die: float(p) for die, p in DICE.items()}] * rolls
    )
    weights = {"fair": Fraction(3, 4) * DICE["fair"] ** rolls, "loaded": Fraction(1, 4) * DICE["loaded"] ** rolls}
    exact = weights["loaded"] / sum(weights.values())
    assert found["loaded"] == pytest.approx(float(exact), rel=1e-11, abs=0)
    assert sum(found.values()) == pytest.approx(1)


def test_one_likelihood_need_not_be_in_a_list():
    step = {"fair": 1 / 6, "loaded": 1 / 2}
    prior = {"fair": 0.5, "loaded": 0.5}
    assert bb.bayes_rule(prior, step) == bb.bayes_rule(prior, [step]) == {"fair": near(0.25), "loaded": near(0.75)}
    once = bb.bayes_rule(prior, step)
    assert bb.bayes_rule(once, step) == {die: near(p) for die, p in bb.bayes_rule(prior, [step, step]).items()}


def test_an_impossible_hypothesis():
    assert bb.bayes_rule({"a": 0.5, "b": 0.5}, {"a": 0.0, "b": 0.2}) == {"a": 0.0, "b": 1.0}
    assert bb.bayes_rule({"a": 0.0, "b": 1.0}, {"a": 0.9, "b": 0.2}) == {"a": 0.0, "b": 1.0}


@given(prior=st.floats(0, 1), likelihood=st.floats(0, 1), other=st.floats(0, 1))
def test_numbers(prior, likelihood, other):
    evidence = prior * likelihood + (1 - prior) * other
    if evidence == 0:
        with pytest.raises(bb.ImpossibleEvidence):
            bb.bayes_rule(prior=prior, likelihood=likelihood, evidence=evidence)
        return
    found = bb.bayes_rule(prior=prior, likelihood=likelihood, evidence=evidence)
    assert found == pytest.approx(min(likelihood * prior / evidence, 1.0), rel=1e-15)
    assert 0 <= found <= 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"prior": 0.5, "likelihood": 0.5},
        {"prior": 1.5, "likelihood": 0.5, "evidence": 0.5},
        {"prior": -0.1, "likelihood": 0.5, "evidence": 0.5},
        {"prior": 0.5, "likelihood": math.nan, "evidence": 0.5},
        {"prior": 0.5, "likelihood": 0.5, "evidence": 2},
        {"prior": 0.9, "likelihood": 0.9, "evidence": 0.5},
        {"prior": True, "likelihood": 0.9, "evidence": 0.5},
        {"prior": {"a": 0.5, "b": 0.6}, "likelihood": {"a": 0.1, "b": 0.2}},
        {"prior": {"a": 0.5, "b": 0.5}, "likelihood": {"a": 0.1}},
        {"prior": {"a": 0.5, "b": 0.5}, "likelihood": {"a": 0.1, "b": 0.1, "c": 0.1}},
        {"prior": {"a": 0.5, "b": 0.5}, "likelihood": {"a": 0.1, "b": 1.1}},
        {"prior": {"a": 0.5, "b": 0.5}, "likelihood": {"a": 0.1, "b": 0.2}, "evidence": 0.5},
    ],
)
def test_what_is_no_probability(arguments):
    with pytest.raises(bb.BadOption):
        bb.bayes_rule(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"prior": 0.5, "likelihood": 0.0, "evidence": 0},
        {"prior": {"a": 0.5, "b": 0.5}, "likelihood": {"a": 0.0, "b": 0.0}},
        {"prior": {"a": 1.0, "b": 0.0}, "likelihood": [{"a": 0.5, "b": 0.5}, {"a": 0.0, "b": 0.5}]},
    ],
)
def test_impossible_evidence(arguments):
    with pytest.raises(bb.ImpossibleEvidence):
        bb.bayes_rule(**arguments)


def test_fractions_stay_exact():
    assert bb.bayes_rule(prior=Fraction(1, 50000), likelihood=Fraction(1, 2), evidence=Fraction(1, 20)) == Fraction(
        1, 5000
    )
    prior = {"fair": Fraction(3, 4), "loaded": Fraction(1, 4)}
    assert bb.bayes_rule(prior, [DICE] * 2) == {"fair": Fraction(1, 4), "loaded": Fraction(3, 4)}


def test_numbers_of_numpy():
    found = bb.bayes_rule(prior=np.float32(0.5), likelihood=np.int64(1), evidence=np.float64(0.75))
    assert (type(found), found) == (float, 0.5 / 0.75)
    found = bb.bayes_rule({"a": np.float32(0.5), "b": np.float32(0.5)}, {"a": np.int64(1), "b": np.float32(0.25)})
    assert found == {"a": 0.8, "b": 0.2}


@pytest.mark.parametrize("likelihood", [0.5, None, "half", [0.5, 0.5], [[0.5, 0.5]]])
def test_a_likelihood_over_hypotheses_is_a_dict(likelihood):
    with pytest.raises(bb.BadOption):
        bb.bayes_rule(prior={"a": 0.5, "b": 0.5}, likelihood=likelihood)
