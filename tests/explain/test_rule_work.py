"""The work of Bayes' rule, against the rule by fractions."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Work

from .latex import check_latex

SHARES = st.fractions(min_value=0, max_value=1, max_denominator=50)


def value(work: Work, name: str, place: int = 0) -> Any:
    """The exact number of the last step of this name."""
    return work.step(name).rows[0].cells[place].value


def test_meningitis() -> None:
    work = bb.bayes_rule(prior=1 / 50000, likelihood=0.5, evidence=0.05, work=True)
    assert isinstance(work, Work)
    assert value(work, "posterior") == Fraction(1, 5000)
    assert str(work).splitlines()[-1] == "P(h | e) = 0.5 x 2e-05 / 0.05 = 1/5000 = 0.0002"
    check_latex(work.latex())
    assert "0.0002" in work.html()
    assert json.loads(json.dumps(work.to_dict()))["steps"][-1]["rows"][0]["cells"][0]["fraction"] == "1/5000"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.fractions(min_value=0, max_value=1, max_denominator=20), min_size=2, max_size=4), st.data())
def test_a_chain_of_evidence_is_exact(weights: list[Fraction], data: st.DataObject) -> None:
    names = "abcd"[: len(weights)]
    total = sum(weights)
    if not total:
        weights, total = [Fraction(1)] * len(names), Fraction(len(names))
    prior = {name: weight / total for name, weight in zip(names, weights, strict=True)}
    steps = [
        {name: data.draw(SHARES) for name in names} for _ in range(data.draw(st.integers(min_value=1, max_value=6)))
    ]
    joint = dict(prior)
    for step in steps:
        joint = {name: joint[name] * step[name] for name in names}
    if not sum(joint.values()):
        with pytest.raises(bb.ImpossibleEvidence):
            bb.bayes_rule(prior, steps, work=True)
        return
    work = bb.bayes_rule(prior, steps, work=True)
    assert isinstance(work, ClassWork)
    for place, name in enumerate(names):
        assert value(work, "posterior", place) == joint[name] / sum(joint.values())
    if len(steps) > 1:
        assert value(work, "all evidence") == sum(joint.values())
    assert work.posterior == pytest.approx(list(bb.bayes_rule(prior, steps).values()))
    assert all(len(line) <= 100 for line in str(work).splitlines())
    check_latex(work.latex())


def test_floats_are_what_they_are_written_as() -> None:
    work = bb.bayes_rule({"fair": 0.5, "loaded": 0.5}, [{"fair": 1 / 6, "loaded": 0.5}] * 2, work=True)
    assert [value(work, "posterior", place) for place in (0, 1)] == [Fraction(1, 10), Fraction(9, 10)]
    assert str(work).splitlines()[-1] == "so the most probable is loaded"
    assert work.to_dict()["class"] == "loaded"


def test_evidence_without_end_goes_on_by_logarithms() -> None:
    one = {"a": Fraction(123457, 1000003), "b": Fraction(123479, 1000033)}
    work = bb.bayes_rule({"a": 0.5, "b": 0.5}, [one] * 400, work=True)
    exact = one["a"] ** 400 / (one["a"] ** 400 + one["b"] ** 400)
    assert work.posterior[0] == pytest.approx(float(exact), rel=1e-9)


def test_what_is_refused_without_work_is_refused_with_it() -> None:
    with pytest.raises(bb.BadOption, match="inconsistent"):
        bb.bayes_rule(prior=0.9, likelihood=0.9, evidence=0.1, work=True)
    with pytest.raises(bb.BadOption):
        bb.bayes_rule(prior={"a": 0.5, "b": 0.5}, likelihood=0.5, work=True)
