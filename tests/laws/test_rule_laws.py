"""The laws of every registered smoothing rule."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.near import near

import bayesbox as bb
from bayesbox._core import ExactArray
from bayesbox.dist.cells import Cells, LevelCounts, log_table, ratio
from bayesbox.rule.smoothing import RULES, as_smoothing

LEVELS = ("a", "b", "c")

INSTANCES = {
    "mle": [bb.rules.MaximumLikelihood()],
    "laplace": [bb.rules.Laplace()],
    "lidstone": [bb.rules.Lidstone(0), bb.rules.Lidstone(0.1), bb.rules.Lidstone(3)],
    "m": [
        bb.rules.MEstimate(0),
        bb.rules.MEstimate(2.5),
        bb.rules.MEstimate(0.3, {"a": 0.5, "b": 0.125, "c": 0.375}),
        bb.rules.MEstimate(4, {"a": 1.0}),
    ],
    "prior-counts": [bb.rules.PriorCounts({"a": 1, "b": 2, "c": 0.5}), bb.rules.PriorCounts({"b": 3})],
    "replace-zero": [bb.rules.ReplaceZero("half"), bb.rules.ReplaceZero("prior")],
    "as-written": [
        bb.rules.AsWritten(1, 1),
        bb.rules.AsWritten(2, 1),
        bb.rules.AsWritten(1, 2),
        bb.rules.AsWritten(0, 3),
    ],
}
SUM_TO_ONE = ("mle", "laplace", "lidstone", "m", "prior-counts")

ALL = [pytest.param(name, rule, id=str(rule)) for name, rules in INSTANCES.items() for rule in rules]
each_rule = pytest.mark.parametrize(("name", "rule"), ALL)
cases = settings(max_examples=60)

COUNTS = st.lists(
    st.lists(st.one_of(st.integers(0, 4), st.integers(0, 2**60)), min_size=3, max_size=3), min_size=1, max_size=3
)


def counted(counts, *, missing=None):
    cells = ExactArray.from_integers(np.array(counts, dtype=np.int64).ravel())
    gone = None if missing is None else ExactArray.from_integers(np.array(missing, dtype=np.int64))
    return LevelCounts.of(LEVELS, cells, len(counts), missing=gone)


def test_every_rule_is_under_the_laws():
    assert set(INSTANCES) == set(RULES), "a rule is registered without an instance here"
    assert all(type(rule) is RULES[name] for name, rules in INSTANCES.items() for rule in rules)


@each_rule
@given(counts=COUNTS)
@cases
def test_fractions_and_doubles_agree(name, rule, counts):
    levels = counted(counts)
    over, under = levels.ratio(rule, exact=True)
    doubles = levels.ratio(rule)
    for index in np.ndindex(over.shape):
        exact = Fraction(over[index]) / Fraction(under[index])
        assert doubles.numerator[index] / doubles.denominator[index] == near(exact)
        assert exact >= 0


@each_rule
@given(counts=COUNTS, missing=st.none() | st.integers(0, 5))
@cases
def test_sums_to_one(name, rule, counts, missing):
    levels = counted(counts, missing=None if missing is None else [missing] * len(counts))
    over, under = levels.ratio(rule, exact=True)
    domain = len(LEVELS) + (missing is not None)  # without the column for what was never seen
    for c in range(len(counts)):
        total = sum(Fraction(over[c, v]) / Fraction(under[c, v]) for v in range(domain))
        if levels.as_cells(exact=True).n == 0 and under[c, 0] == 1 and not any(over[c]):
            assert total == 0  # nothing was seen and the rule adds nothing: the column is left out
        elif name in SUM_TO_ONE:
            assert total == 1


@pytest.mark.parametrize("name", sorted(set(INSTANCES) - set(SUM_TO_ONE)))
def test_the_others_do_not_sum_to_one(name):
    levels = counted([[3, 1, 0], [1, 0, 2]])
    for rule in INSTANCES[name]:
        over, under = levels.ratio(rule, exact=True)
        assert sum(Fraction(over[0, v]) / Fraction(under[0, v]) for v in range(3)) != 1


@each_rule
@given(counts=COUNTS, data=st.data())
@cases
def test_more_rows_of_a_level_never_make_it_less_probable(name, rule, counts, data):
    """A row that moves from another level to this one, the class keeping its size."""
    c = data.draw(st.integers(0, len(counts) - 1))
    giver, taker = data.draw(st.permutations([0, 1, 2]))[:2]
    moved = [list(row) for row in counts]
    moved[c][giver] += 1
    before = counted(moved).ratio(rule, exact=True)
    moved[c][giver] -= 1
    moved[c][taker] += 1
    after = counted(moved).ratio(rule, exact=True)
    p = [Fraction(each.numerator[c, taker]) / Fraction(each.denominator[c, taker]) for each in (before, after)]
    assert p[0] <= p[1]
    if name != "replace-zero":
        assert p[0] < p[1]


@each_rule
@given(counts=COUNTS, data=st.data())
@cases
def test_a_level_counts_by_its_name_alone(name, rule, counts, data):
    """Listing the levels in another order permutes the answers."""
    order = data.draw(st.permutations([0, 1, 2]))
    array = np.array(counts, dtype=object)
    straight = Cells(array, array.sum(axis=1), 3, LEVELS)
    turned = Cells(array[:, order], array.sum(axis=1), 3, [LEVELS[i] for i in order])
    one, other = ratio(rule, straight), ratio(rule, turned)
    assert (one.numerator[:, order] * other.denominator == other.numerator * one.denominator[:, order]).all()


@each_rule
def test_a_class_without_a_value_where_the_rule_is_silent(name, rule):
    """0/0 becomes the share over all classes; a rule with a prior of its own gives that."""
    over, under = counted([[3, 1, 0], [0, 0, 0]]).ratio(rule, exact=True)
    _, silent = rule.ratio(counted([[3, 1, 0], [0, 0, 0]]).as_cells(exact=True))
    found = [Fraction(over[1, v]) / Fraction(under[1, v]) for v in range(3)]
    if silent[1, 0] == 0:
        assert found == [Fraction(3, 4), Fraction(1, 4), 0]
    else:
        own = rule.ratio(counted([[0, 0, 0]]).as_cells(exact=True))
        assert found == [Fraction(own.numerator[0, v]) / Fraction(own.denominator[0, v]) for v in range(3)]


@each_rule
def test_a_level_impossible_in_every_class_is_left_out(name, rule):
    """The row of a level that no class can have is zeros, which says nothing."""
    levels = counted([[3, 1, 0], [1, 2, 0]])
    log_p, unseen, missing = log_table(levels, rule)
    over, _ = levels.ratio(rule, exact=True)
    for v, row in enumerate([*log_p, unseen]):
        if not any(over[:, v]):
            assert row.tolist() == [0.0, 0.0]
        else:
            assert not np.isnan(row).any()
            assert row.tolist() != [0.0, 0.0]
    assert missing.tolist() == [0.0, 0.0]


@each_rule
def test_nothing_seen_at_all_gives_no_nan(name, rule):
    log_p, unseen, _ = log_table(counted([[0, 0, 0], [0, 0, 0]]), rule)
    assert not np.isnan(log_p).any()
    assert not np.isnan(unseen).any()
    assert (log_p[:, 0] == log_p[:, 1]).all()


@each_rule
def test_rules_are_values(name, rule):
    again = type(rule)(**vars(rule))
    assert again == rule
    assert as_smoothing(rule) is rule


NAMED = [case for case in ALL if case.values[1].text() != repr(case.values[1])]


@pytest.mark.parametrize(("name", "rule"), NAMED)
def test_names_of_rules_go_both_ways(name, rule):
    assert rule.text().partition(":")[0] == name
    assert as_smoothing(rule.text()) == rule
