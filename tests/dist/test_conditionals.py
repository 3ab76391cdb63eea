"""Distributions by themselves: each against its formula."""

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox import _core
from bayesbox.dist.base import Plan, ignored_where_impossible
from bayesbox.dist.bernoulli import Bernoulli, flag_codes
from bayesbox.dist.multinomial import Multinomial
from bayesbox.dist.number.gaussian import Gaussian
from bayesbox.dist.number.poisson import Poisson
from bayesbox.dist.table import Table
from bayesbox.errors import ImpossibleRows, UnseenLevel

NOTHING = np.zeros(2)


def terms(conditional, column, *, rows=None):
    """The log-probabilities of a column, rows x classes."""
    plan = Plan(len(column) if rows is None else rows, np.zeros(2))
    conditional.add_to(plan, {} if rows is not None else {"x": column})
    return plan.run(_core.JOINT)


# -- Poisson ---------------------------------------------------------------------------------------------------------

RATES = np.array([0.5, 3.25])


def test_poisson_is_scipys():
    counts = np.array([0, 1, 2, 3, 10, 170, 1000], dtype=float)
    found = terms(Poisson("x", RATES, NOTHING, NOTHING), counts)
    np.testing.assert_allclose(found, stats.poisson(RATES).logpmf(counts[:, None]), rtol=1e-12)


@pytest.mark.parametrize("odd", [-1.0, 0.5, np.nan, -0.5])
def test_poisson_of_what_is_no_count(odd):
    assert terms(Poisson("x", RATES, NOTHING, NOTHING), np.array([odd])).tolist() == [[0.0, 0.0]]


def test_poisson_with_a_rate_of_zero():
    found = terms(Poisson("x", np.array([0.0, 2.0]), NOTHING, NOTHING), np.array([0.0, 1.0]))
    assert found[0].tolist() == [0.0, -2.0]
    assert found[1, 0] == -np.inf


def test_poisson_missing_as_a_level():
    seen, gone = np.log([0.9, 0.6]), np.log([0.1, 0.4])
    found = terms(Poisson("x", RATES, seen, gone), np.array([2.0, np.nan]))
    np.testing.assert_allclose(found[0], stats.poisson(RATES).logpmf(2) + seen, rtol=1e-12)
    assert found[1].tolist() == gone.tolist()
    assert terms(Poisson("x", RATES, seen, gone), None, rows=3).tolist() == [gone.tolist()] * 3


@pytest.mark.parametrize(("rule", "weight"), [("mle", 0), ("laplace", 1), ("lidstone:0.5", 0.5), ("m:3", 3)])
def test_poisson_rates(rule, weight):
    """(sum + a * mean of the column) / (n + a)."""
    X, y = {"x": [0, 1, 5, 2, 7]}, ["a", "a", "b", "b", "b"]
    clf = bb.NaiveBayes(smoothing=rule, columns={"x": "count:poisson"}).fit(X, y)
    rates = np.array([(1 + weight * 3) / (2 + weight), (14 + weight * 3) / (3 + weight)])
    expected = stats.poisson(rates).logpmf(np.array([[4]])) + np.log([0.4, 0.6])
    np.testing.assert_allclose(clf.joint_log_proba({"x": [4]}), expected, rtol=1e-12)


def test_poisson_cannot_be_smoothed_by_every_rule():
    clf = bb.NaiveBayes(smoothing="replace-zero:half", columns={"x": "count:poisson"})
    with refusal(bb.BadOption, what="Poisson"):
        clf.fit({"x": [0, 1]}, ["a", "b"]).predict({"x": [1]})


# -- Bernoulli -------------------------------------------------------------------------------------------------------

FLAG = Bernoulli("x", ("0", "1"), np.log([[0.3, 0.6], [0.7, 0.4]]), np.log([0.05, 0.1]), np.log([0.2, 0.25]))
ROWS = {"0": [0.3, 0.6], "1": [0.7, 0.4], "unseen": [0.05, 0.1], "missing": [0.2, 0.25]}

ASKED = {
    "doubles": (np.array([0.0, 1.0, 0.5, np.nan, 2.0, -0.0]), ["0", "1", "unseen", "missing", "unseen", "0"]),
    "integers": (np.array([0, 1, 2, -1]), ["0", "1", "unseen", "unseen"]),
    "bytes": (np.array([0, 1, 255], dtype=np.uint8), ["0", "1", "unseen"]),
    "bools": (np.array([False, True]), ["0", "1"]),
    "texts": (pa.array(["0", "1", "true", "False", "yes", None]), ["0", "1", "1", "0", "unseen", "missing"]),
    "arrow bools": (pa.array([True, None, False]), ["1", "missing", "0"]),
    "arrow integers": (pa.array([1, None, 3]), ["1", "missing", "unseen"]),
    "arrow doubles": (pa.array([1.0, None, 0.5]), ["1", "missing", "unseen"]),
}


@pytest.mark.parametrize(("column", "expected"), ASKED.values(), ids=ASKED)
def test_bernoulli(column, expected):
    np.testing.assert_allclose(np.exp(terms(FLAG, column)), [ROWS[each] for each in expected], rtol=1e-12)


def test_bernoulli_of_one_level():
    for level, expected in {"1": "1", "TRUE": "1", "0": "0", "maybe": "unseen", None: "missing"}.items():
        np.testing.assert_allclose(np.exp(FLAG.row(level)), ROWS[expected], rtol=1e-12)
    np.testing.assert_allclose(np.exp(terms(FLAG, None, rows=2)), [ROWS["missing"]] * 2, rtol=1e-12)


def test_flag_codes():
    assert flag_codes(np.array([0.0, 1.0, 3.0, np.nan])).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("column", [np.array([0, 2]), np.array([0.0, 0.5]), pa.array(["0", "maybe"])])
def test_bernoulli_may_refuse_what_was_never_seen(column):
    strict = Bernoulli("x", ("0", "1"), FLAG.log_p, FLAG.log_unseen, FLAG.log_missing, unseen_is_error=True)
    with refusal(UnseenLevel, column="x"):
        terms(strict, column)


# -- Table -----------------------------------------------------------------------------------------------------------

INTEGERS = Table("x", ("3", "5", "-1"), np.log([[0.5, 0.2], [0.25, 0.3], [0.25, 0.5]]), np.log([0.1, 0.2]), NOTHING)


@pytest.mark.parametrize(
    "column",
    [
        np.array([3, 5, -1, 4, 9, -2]),
        np.array([3, 5, -1, 4, 9, -2], dtype=np.int8),
        np.array([3.0, 5.0, -1.0, 4.0, 9.0, -2.0]),
        pa.array(["3", "5", "-1", "4", "9", "-2"]),
        pa.array([3, 5, -1, 4, 9, -2]),
    ],
    ids=["int64", "int8", "doubles", "texts", "arrow"],
)
def test_table_looks_up_integers_and_texts_alike(column):
    expected = [[0.5, 0.2], [0.25, 0.3], [0.25, 0.5]] + [[0.1, 0.2]] * 3
    np.testing.assert_allclose(np.exp(terms(INTEGERS, column)), expected, rtol=1e-12)


def test_integers_over_a_wide_range_are_not_spread_out():
    wide = Table("x", ("0", "1000000000000"), np.log([[0.5, 0.2], [0.5, 0.8]]), np.log([0.1, 0.2]), NOTHING)
    assert wide.lookup is None
    found = terms(wide, np.array([10**12, 0, 5]))
    np.testing.assert_allclose(np.exp(found), [[0.5, 0.8], [0.5, 0.2], [0.1, 0.2]], rtol=1e-12)


def test_a_level_with_a_leading_zero_is_no_integer():
    table = Table("x", ("01", "1"), np.log([[0.5, 0.2], [0.5, 0.8]]), np.log([0.1, 0.2]), NOTHING)
    assert table.lookup is None
    np.testing.assert_allclose(np.exp(terms(table, np.array([1]))), [[0.5, 0.8]], rtol=1e-12)


# -- Multinomial -----------------------------------------------------------------------------------------------------


def test_multinomial_with_zeros():
    """A word that is impossible in one class forbids it only where it occurs."""
    with np.errstate(divide="ignore"):
        words = Multinomial(("x", "y"), np.log([[0.0, 0.5], [1.0, 0.5]]))
    plan = Plan(3, np.zeros(2))
    words.add_to(plan, {"x": np.array([0, 1, 0]), "y": np.array([2.0, 1.0, np.nan])})
    found = plan.run(_core.JOINT)
    np.testing.assert_allclose(found, [[0, 2 * math.log(0.5)], [-np.inf, 2 * math.log(0.5)], [0, 0]], rtol=1e-12)


def test_multinomial_refuses_negative_counts():
    words = Multinomial(("x",), np.log([[0.5, 0.5]]))
    with refusal(bb.BadData, column="x", found=-1.0):
        words.add_to(Plan(1, np.zeros(2)), {"x": np.array([-1.0])})


# -- Gaussian --------------------------------------------------------------------------------------------------------


def test_gaussian_is_scipys():
    mean, deviation = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    values = np.array([0.0, 1.0, 2.5, -40.0, np.nan])
    found = terms(Gaussian("x", mean, NOTHING, deviation, NOTHING, NOTHING), values)
    np.testing.assert_allclose(found[:4], stats.norm(mean, deviation).logpdf(values[:4, None]), rtol=1e-12)
    assert found[4].tolist() == [0.0, 0.0]


def test_gaussian_takes_the_rest_of_the_mean():
    step = 2.0**-13
    density = Gaussian("x", np.full(2, 1e12), np.array([0.0, step / 2]), np.full(2, step), NOTHING, NOTHING)
    found = terms(density, np.array([1e12 + step]))
    assert (found[0, 1] - found[0, 0]) == pytest.approx(0.5 - 0.125, rel=1e-12)


POINTS = {"x": [5.0, 5.0, 1.0, 9.0, 5.0], "y": [2.0, 2.0, 2.0, 3.0, 2.0], "z": [1.0, 2.0, 3.0, 4.0, 5.0]}
POINT_LABELS = ["p", "p", "q", "q", "p"]


@pytest.fixture
def points():
    """p holds 5 in x and 2 in y alone; q spreads over both."""
    return bb.NaiveBayes(columns=dict.fromkeys("xyz", bb.Real(floor=0))).fit(POINTS, POINT_LABELS)


@pytest.mark.parametrize(
    ("row", "p"),
    [
        ({"x": 5.0}, 1.0),
        ({"x": 5.0, "y": 2.0}, 1.0),
        ({"x": 5.0, "z": 1e6}, 1.0),  # the value itself outranks any density
        ({"x": np.nextafter(5.0, 6)}, 0.0),
        ({"x": 5.0, "y": 2.5}, 0.0),  # one hit does not make up for one miss
        ({"x": 4.0, "y": 2.0}, 0.0),
    ],
)
def test_point_masses(points, row, p):
    asked = {name: row.get(name) for name in "xyz"}
    assert points.predict_proba([asked])[0].tolist() == [p, 1 - p]
    assert points.predict([asked]).tolist() == ["p" if p else "q"]
    log_p = points.predict_log_proba([asked])[0]
    assert np.exp(log_p).tolist() == [p, 1 - p]


def test_more_hits_outrank_fewer():
    X = {"x": [1.0, 1.0, 1.0, 1.0], "y": [2.0, 2.0, 0.0, 4.0], "z": [0.0, 1.0, 0.0, 2.0]}
    clf = bb.NaiveBayes(columns=dict.fromkeys("xyz", bb.Real(floor=0)), prior={"p": 1e-9, "q": 1 - 1e-9})
    clf.fit(X, ["p", "p", "q", "q"])
    assert clf.predict_proba([{"x": 1.0, "y": 2.0}])[0].tolist() == [1.0, 0.0]
    equal = clf.predict_proba([{"x": 1.0}])[0]
    assert equal.tolist() == pytest.approx([1e-9, 1 - 1e-9], rel=1e-12)


def test_joint_and_density_of_a_point_mass(points):
    assert points.joint_log_proba([{"x": 5.0}, {"x": 4.0}])[:, 0].tolist() == [np.inf, -np.inf]
    assert points.log_density([{"x": 5.0}]).tolist() == [np.inf]


def test_impossible_everywhere_gives_the_prior():
    clf = bb.NaiveBayes(columns={"x": bb.Real(floor=0)}).fit({"x": [1.0, 1.0, 2.0]}, ["p", "p", "q"])
    with warning(ImpossibleRows, count=1, rows=2):
        p = clf.predict_proba({"x": [3.0, 2.0]})
    np.testing.assert_allclose(p, [[2 / 3, 1 / 3], [0, 1]], rtol=1e-12)
    with warning(ImpossibleRows, count=1, rows=1):
        assert clf.predict({"x": [3.0]}).tolist() == ["p"]
    assert clf.log_density({"x": [3.0]}).tolist() == [-np.inf]


def test_ignored_where_impossible():
    rows = np.array([[-np.inf, -np.inf], [-np.inf, -1.0]])
    assert ignored_where_impossible(rows).tolist() == [[0.0, 0.0], [-np.inf, -1.0]]


@pytest.mark.parametrize("missing", ["ignore", "level"])
def test_a_number_missing_as_a_level(missing):
    """P(observed | c) N(x) or P(missing | c), both by Laplace over the two."""
    X, y = {"x": [1.0, 2.0, None, 4.0, 6.0]}, ["a", "a", "a", "b", "b"]
    clf = bb.NaiveBayes(numeric="gaussian", missing=missing).fit(X, y)
    seen, gone = np.array([3 / 5, 3 / 4]), np.array([2 / 5, 1 / 4])
    prior, density = np.array([0.6, 0.4]), stats.norm([1.5, 5.0], [0.5, 1.0]).pdf(2.5)
    if missing == "ignore":
        seen = gone = np.ones(2)
    expected = [prior * density * seen, prior * gone]
    np.testing.assert_allclose(np.exp(clf.joint_log_proba({"x": [2.5, None]})), expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(clf.joint_log_proba([{"x": None}])), [prior * gone], rtol=1e-12)
