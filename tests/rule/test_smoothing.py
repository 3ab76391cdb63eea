"""Rules from their names, and what is refused."""

import pytest

import bayesbox as bb
from bayesbox.rule.smoothing import as_smoothing

NAMES = {
    "mle": bb.rules.MaximumLikelihood(),
    "laplace": bb.rules.Laplace(),
    "lidstone:0.5": bb.rules.Lidstone(0.5),
    "m:2": bb.rules.MEstimate(2),
    "prior-counts:red=2,blue=1": bb.rules.PriorCounts({"red": 2, "blue": 1}),
    "replace-zero": bb.rules.ReplaceZero("half"),
    "replace-zero:prior": bb.rules.ReplaceZero("prior"),
    "as-written:1,2": bb.rules.AsWritten(1, 2),
}


@pytest.mark.parametrize(("name", "rule"), NAMES.items())
def test_names(name, rule):
    assert as_smoothing(name) == rule


@pytest.mark.parametrize(
    "bad",
    [
        "laplacian",
        "lidstone",
        "lidstone:",
        "lidstone:x",
        "lidstone:-1",
        "lidstone:nan",
        "lidstone:inf",
        "lidstone:1,2",
        "laplace:1",
        "m:-1",
        "prior-counts:red",
        "prior-counts:red=-1",
        "replace-zero:third",
        "as-written:1",
        "",
        None,
        3,
        bb.rules.Laplace,
    ],
)
def test_what_is_no_rule(bad):
    with pytest.raises(bb.BadOption):
        as_smoothing(bad)


@pytest.mark.parametrize(
    "make",
    [
        lambda: bb.rules.Lidstone(-0.1),
        lambda: bb.rules.MEstimate(float("nan")),
        lambda: bb.rules.MEstimate(1, {"a": 0.5, "b": 0.6}),
        lambda: bb.rules.MEstimate(1, {"a": 1.5, "b": -0.5}),
        lambda: bb.rules.PriorCounts({"a": -1}),
        lambda: bb.rules.ReplaceZero("whole"),
        lambda: bb.rules.AsWritten(1, float("inf")),
        lambda: bb.rules.Lidstone("1"),
        lambda: bb.rules.MEstimate(None),
        lambda: bb.rules.AsWritten(1, "2"),
        lambda: bb.rules.PriorCounts(["red"]),
        lambda: bb.rules.PriorCounts({"red": "two"}),
        lambda: bb.rules.MEstimate(1, [0.5, 0.5]),
    ],
)
def test_parameters_are_checked(make):
    with pytest.raises(bb.BadOption):
        make()


def test_levels_of_a_rule_go_by_their_text():
    assert bb.rules.PriorCounts({True: 1, 3.0: 2}).counts == {"true": 1, "3": 2}
    assert bb.rules.MEstimate(1, {1: 0.5, 2: 0.5}).prior == {"1": 0.5, "2": 0.5}
