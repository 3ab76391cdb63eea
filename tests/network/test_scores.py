"""Scores of structures: the formulas, the counts behind them, and a stream."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbox._core import CodeTable, FamilyScore
from bayesbox.errors import BadOption
from bayesbox.network.learn.scores import Score, Scorer, parameters
from bayesbox.schema.coded import CodedRows, Variable
from bayesbox.source.base import Batch, Source
from bayesbox.stat.family_counter import MemoryCounter, SourceCounter, flat
from bayesbox.stat.mutual_information import g_test

from .networks import family_score, random_rows

SCORES = ["bic", "aic", "loglik", "k2", "dirichlet:0.5", "bdeu", "bdeu:7"]


class Cut(Source):
    """Rows as a source of batches of texts."""

    name = "data"

    def __init__(self, coded, size):
        self.coded, self.size = coded, size

    def batches(self):
        names = tuple(self.coded.names)
        texts = [
            np.array([(*variable.levels, None)[code] for code in column.tolist()], dtype=object)
            for variable, column in zip(self.coded.variables, self.coded.columns, strict=True)
        ]
        for start in range(0, self.coded.rows, self.size):
            some = tuple(text[start : start + self.size] for text in texts)
            yield Batch(names, some, len(some[0]), start)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(SCORES), rows=st.integers(1, 300))
def test_every_family_has_the_score_of_its_definition(seed, name, rows):
    generator = np.random.default_rng(seed)
    coded = random_rows(generator, columns=5, rows=rows)
    requests = [
        (int(order[0]), *order[1 : 1 + int(generator.integers(0, 4))].tolist())
        for order in (generator.permutation(5) for _ in range(12))
    ]
    score = Score.of(name)
    found = Scorer(MemoryCounter(coded), score).families(requests)
    for request, value in zip(requests, found, strict=True):
        expected = family_score(coded, request[0], request[1:], score.name, score.parameter)
        assert value == pytest.approx(expected, rel=1e-11, abs=1e-9)
    streamed = SourceCounter(Cut(coded, 37), coded.variables, rows)
    assert Scorer(streamed, score).families(requests) == pytest.approx(found, rel=1e-13)
    assert streamed.passes == 1  # all that was asked for together is counted in one pass


def test_tables_too_large_to_be_dense_have_the_same_score():
    """Eight columns of 200 states each: 2.56e18 cells, of which at most a thousand are filled."""
    generator = np.random.default_rng(5)
    cards = [200] * 8
    coded = random_rows(generator, columns=8, rows=1000, cards=cards)
    for name in SCORES:
        score = Score.of(name)
        found = Scorer(MemoryCounter(coded), score).family(3, (0, 1, 2, 4, 5, 6, 7))
        expected = family_score(coded, 3, (0, 1, 2, 4, 5, 6, 7), score.name, score.parameter)
        assert found == pytest.approx(expected, rel=1e-10)


def test_a_table_beyond_all_numbers_is_never_chosen():
    columns = [np.zeros(3, dtype=np.uint16)] * 5
    table = CodeTable(columns, np.full(5, 60_000))
    members, ends = flat([(0, 1, 2, 3, 4)])
    score = FamilyScore(0, 1.0, 1.0, 3)
    assert table.score(members, ends, np.array([0]), np.array([0]), score)[0] == -np.inf


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 9000))
def test_counts_are_those_of_the_rows(seed, rows):
    generator = np.random.default_rng(seed)
    cards = generator.integers(1, 40, size=4).tolist()
    columns = [generator.integers(-1, card, size=rows).astype(np.int8) for card in cards]  # with missing values
    variables = tuple(Variable(str(p), tuple(map(str, range(card)))) for p, card in enumerate(cards))
    coded = CodedRows(variables, tuple(columns), rows)
    sets = [(0,), (1, 0), (1, 2), (1, 2, 3), (3, 0, 2), (2, 1, 3)]
    for members, found in zip(sets, MemoryCounter(coded).counts(sets), strict=True):
        expected = np.zeros([cards[m] for m in members], dtype=np.int64)
        whole = np.all([columns[m] >= 0 for m in members], axis=0)
        np.add.at(expected, tuple(columns[m][whole] for m in members), 1)
        assert (found.reshape(expected.shape) == expected).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_g_is_twice_the_gain_in_likelihood(seed):
    coded = random_rows(np.random.default_rng(seed), columns=4, rows=200)
    counter = MemoryCounter(coded)
    statistic, degrees = counter.g_tests([(0, 1), (2, 3, 0, 1)])
    gain = family_score(coded, 0, (1,), "loglik") - family_score(coded, 0, (), "loglik")
    assert statistic[0] == pytest.approx(2 * gain, abs=1e-9)
    gain = family_score(coded, 2, (3, 0, 1), "loglik") - family_score(coded, 2, (0, 1), "loglik")
    assert statistic[1] == pytest.approx(2 * gain, abs=1e-9)
    again, freedom = SourceCounter(Cut(coded, 50), coded.variables, 200).g_tests([(0, 1), (2, 3, 0, 1)])
    assert again == pytest.approx(statistic, abs=1e-9)
    assert (degrees == freedom).all()


def test_degrees_of_freedom_are_of_the_states_that_occur():
    assert g_test(np.array([[[3, 0], [2, 0]], [[1, 5], [4, 0]], [[0, 0], [0, 0]]]))[1] == 1.0


def test_equivalent_structures_have_equal_scores():
    coded = random_rows(np.random.default_rng(3), columns=3, rows=100)
    chains = [[(), (0,), (1,)], [(1,), (2,), ()], [(1,), (), (1,)]]
    for name in ["bic", "aic", "loglik", "bdeu:3"]:
        values = [Scorer(MemoryCounter(coded), Score.of(name)).total(chain) for chain in chains]
        assert values == pytest.approx([values[0]] * 3, abs=1e-9)
        assert Score.of(name).equivalent
    assert not Score.of("k2").equivalent


def test_parameters():
    assert parameters([2, 3, 4], [(), (0,), (0, 1)]) == 1 + 2 * 2 + 3 * 6


@pytest.mark.parametrize("text", ["bics", "bic:3", "bdeu:0", "bdeu:x", "bdeu:-1", "dirichlet:inf", ""])
def test_scores_that_are_none(text):
    with pytest.raises(BadOption):
        Score.of(text)


def test_the_core_refuses_what_does_not_fit():
    codes = np.zeros(4, dtype=np.uint8)
    with pytest.raises(ValueError, match="no such state"):
        CodeTable([codes + 3], np.array([3]))
    with pytest.raises(ValueError, match="differ in length"):
        CodeTable([codes, codes[:3].copy()], np.array([2, 2]))
    with pytest.raises(ValueError, match="contiguous"):
        CodeTable([codes[::2]], np.array([2]))
    with pytest.raises(TypeError, match="uint8"):
        CodeTable([codes.astype(np.int64)], np.array([2]))
    table = CodeTable([codes], np.array([2]))
    with pytest.raises(ValueError, match="no such variable"):
        table.count(np.array([1]), np.array([1]))
    with pytest.raises(ValueError, match="empty set"):
        table.count(np.array([], dtype=np.int64), np.array([0]))
    with pytest.raises(ValueError, match="of two columns"):
        table.g_tests(np.array([0]), np.array([1]))


def rising(start: Fraction, count: int) -> Fraction:
    """start (start + 1) ... (start + count - 1): the ratio of gamma functions."""
    over = math.prod(start.numerator + step * start.denominator for step in range(count))
    return Fraction(over, start.denominator**count)


@pytest.mark.parametrize("name", ["k2", "dirichlet:0.5", "bdeu", "bdeu:7"])
def test_bayesian_scores_are_the_logarithm_of_an_exact_fraction(name):
    coded = random_rows(np.random.default_rng(11), columns=4, rows=900)
    score = Score.of(name)
    for request in [(0,), (1, 0), (2, 1, 3), (3, 0, 1, 2)]:
        states = len(coded.variables[request[0]].levels)
        combinations = math.prod(len(coded.variables[parent].levels) for parent in request[1:])
        cell = Fraction(str(score.parameter)) if name != "k2" else Fraction(1)
        if score.name == "bdeu":
            cell /= states * combinations
        rows = Counter(zip(*(coded.columns[place].tolist() for place in request[1:]), strict=True))
        if len(request) == 1:
            rows = Counter({(): coded.rows})
        cells = Counter(zip(*(coded.columns[place].tolist() for place in request), strict=True))
        probability = math.prod((rising(cell, count) for count in cells.values()), start=Fraction(1))
        for count in rows.values():
            probability /= rising(cell * states, count)
        exact = math.log(probability.numerator) - math.log(probability.denominator)
        assert Scorer(MemoryCounter(coded), score).family(request[0], request[1:]) == pytest.approx(exact, abs=1e-10)
