"""Scores against the formula in numpy and scipy, and the two instruction sets against each other."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from bayesbox import _core
from bayesbox._core import ARGMAX, JOINT, LOG_POSTERIOR, LOG_SUM, POSTERIOR

PATHS = _core.instruction_sets()
OUTPUTS = [JOINT, LOG_POSTERIOR, POSTERIOR, ARGMAX, LOG_SUM]


def score(*arguments: Any) -> Any:
    """The answer of the core, its flag checked: it tells whether a posterior is NaN."""
    answer, impossible = _core.score(*arguments)
    if arguments[6] in (LOG_POSTERIOR, POSTERIOR):
        assert impossible == bool(np.isnan(answer).any())
    return answer


def reference(rows, prior, gaussians, tables, integers, extra):
    joint = np.tile(prior, (rows, 1)) + (0 if extra is None else extra)
    with np.errstate(all="ignore"):
        for values, parameters in gaussians:
            mean, rest, deviation, constant = parameters.T
            z = (values.astype(float)[:, None] - mean - rest) / deviation
            joint = joint + np.where(np.isnan(values.astype(float))[:, None], 0, constant - z * z / 2)
        for codes, table in tables:
            levels = len(table) - 1
            places = [int(c) if 0 <= c < levels else levels for c in codes]
            joint = joint + table[places].reshape(rows, len(prior))
        for values, low, table in integers:
            joint = joint + table[[place_of(v, low, len(table) - 2) for v in values]].reshape(rows, len(prior))
    return joint


def place_of(value, low, levels):
    """The row of a value: its own, that of unseen ones, or the last, of NaN."""
    if value != value:
        return levels + 1
    offset = value - low if isinstance(value, np.floating) else int(value) - low
    return int(offset) if 0 <= offset < levels and offset == int(offset) else levels


def on_both_paths(*args):
    found = []
    for on in PATHS:
        _core.use_instructions(on)
        found.append(score(*args))
    _core.use_avx2(True)
    for other in found[1:]:
        assert other.tobytes() == found[0].tobytes()
    return found[0]


def check(*args):
    joint = reference(*args)
    close = {"rtol": 1e-13, "atol": 1e-13}
    found = on_both_paths(*args, JOINT)
    np.testing.assert_allclose(found, joint, **close)
    best = on_both_paths(*args, ARGMAX)
    assert best.dtype == np.int32
    if joint.shape[1]:
        possible = np.isfinite(found).any(axis=1)
        assert np.array_equal(best, np.where(possible, np.argmax(found, axis=1), -1))
        with np.errstate(all="ignore"):
            log_sum = logsumexp(found, axis=1, keepdims=True)
            log_posterior = found - log_sum
        np.testing.assert_allclose(on_both_paths(*args, LOG_SUM), log_sum[:, 0], **close)
        log_posterior[~possible] = np.nan
        np.testing.assert_allclose(on_both_paths(*args, LOG_POSTERIOR), log_posterior, **close)
        posterior = on_both_paths(*args, POSTERIOR)
        np.testing.assert_allclose(posterior, np.exp(log_posterior), rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(posterior[possible].sum(axis=1), 1, rtol=1e-15 * (joint.shape[1] + 3))


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from([0, 1, 5, 255, 256, 600]), st.integers(1, 9), st.booleans())
def test_any_mixture(seed, rows, classes, impossible):
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(rows, 7))
    matrix[random.random(matrix.shape) < 0.1] = np.nan
    columns = [matrix[:, j] for j in range(7)] + [matrix[:, 1].astype(np.float32), random.integers(-5, 5, rows)]
    parameters = [
        np.column_stack(
            [random.normal(size=(classes, 2)) * [1, 1e-17], random.exponential(size=(classes, 2)) * [1, -1]]
        )
        for _ in columns
    ]

    def table(levels):
        values = random.normal(size=(levels + 1, classes))
        return np.where(random.random(values.shape) < 0.4, -np.inf, values) if impossible else values

    codes = random.integers(0, 9, (rows, 3))
    tables = [(codes[:, 0], table(6)), (codes[:, 1].astype(np.uint8), table(9)), (codes[:, 2] - 1, table(0))]
    doubles = np.where(random.random(rows) < 0.2, np.nan, codes[:, 1] + random.choice([0, 0.5], rows))
    integers = [
        (codes[:, 2].astype(np.int8), 2, table(4)),
        (codes[::-1, 0], -4, table(30)),
        (doubles, 1, table(5)),
        (doubles.astype(np.float32), -2, table(6)),
    ]
    extra = random.normal(size=(rows, classes)) if seed % 2 else None
    prior = np.log(random.dirichlet(np.ones(classes)))
    check(rows, prior, list(zip(columns, parameters, strict=True)), tables, integers, extra)


@pytest.mark.parametrize("place", range(3))
def test_an_infinite_class_leaves_no_posterior(place):
    extra = np.zeros((9, 3))
    extra[4, place] = np.inf
    args = (9, np.zeros(3), [], [], [], extra)
    for output in (LOG_POSTERIOR, POSTERIOR):
        answer = on_both_paths(*args, output)
        assert np.isnan(answer[4]).all()
        assert np.isfinite(np.delete(answer, 4, axis=0)).all()
    assert on_both_paths(*args, LOG_SUM)[4] == np.inf
    assert on_both_paths(*args, ARGMAX)[4] == place


def test_without_classes():
    args = (3, np.zeros(0), [], [], [], None)
    assert on_both_paths(*args, ARGMAX).tolist() == [-1, -1, -1]
    assert on_both_paths(*args, LOG_SUM).tolist() == [-np.inf] * 3
    assert on_both_paths(*args, LOG_POSTERIOR).shape == (3, 0)


def test_far_apart_classes():
    """Where one class is certain the log posterior keeps the digits of the rest."""
    extra = np.array([[0.0, -40.0], [-745.0, 0.0], [0.0, -2000.0], [-1e308, 1e308], [5.0, 5.0]])
    args = (5, np.zeros(2), [], [], [], extra)
    log_posterior = on_both_paths(*args, LOG_POSTERIOR)
    assert log_posterior[0, 0] == -np.exp(-40.0)
    assert log_posterior[2].tolist() == [0, -2000]
    posterior = on_both_paths(*args, POSTERIOR)
    assert posterior[1, 0] == 5e-324
    assert posterior[2].tolist() == [1, 0]
    assert posterior[3].tolist() == [0, 1]
    assert posterior[4].tolist() == [0.5, 0.5]
    assert on_both_paths(*args, ARGMAX).tolist() == [0, 1, 0, 1, 0]


def test_impossible_classes():
    table = np.array([[-np.inf, 0.0], [-np.inf, -np.inf], [0.0, 0.0]])
    codes = np.array([0, 1, 2, -1])
    args = (4, np.zeros(2), [], [(codes, table)], [], None)
    assert on_both_paths(*args, JOINT).tolist() == [[-np.inf, 0], [-np.inf, -np.inf], [0, 0], [0, 0]]
    posterior = on_both_paths(*args, POSTERIOR)
    assert posterior[0].tolist() == [0, 1]
    assert np.isnan(posterior[1]).all()
    assert posterior[2:].tolist() == [[0.5, 0.5]] * 2
    assert np.isnan(on_both_paths(*args, LOG_POSTERIOR)[1]).all()
    assert on_both_paths(*args, LOG_POSTERIOR)[0].tolist() == [-np.inf, 0]
    assert on_both_paths(*args, ARGMAX).tolist() == [1, -1, 0, 0]  # -1: no class allows it


def test_extreme_deviations():
    """The rest of the mean counts; a deviation whose inverse is no normal number is divided by; 0 is a point mass."""
    values = np.array([1.0, 1.0 + 2.0**-52, np.nan])
    parameters = np.array([[1.0, 2.0**-54, 2.0**-54, 0.0], [1.0, 0.0, 0.0, 3.0], [0.0, 0.0, 5e-324, 0.0]])
    found = on_both_paths(3, np.zeros(3), [(values, parameters)], [], [], None, JOINT)
    assert found.tolist() == [[-0.5, 3, -np.inf], [-4.5, -np.inf, -np.inf], [0, 0, 0]]
    tiny = np.array([[0.0, 0.0, 1e-310, 0.0], [0.0, 0.0, 1e-300, 0.0]])
    found = on_both_paths(1, np.zeros(2), [(np.array([2e-310]), tiny)], [], [], None, JOINT)
    assert found[0, 0] == pytest.approx(-2, rel=1e-12)
    assert found[0, 1] == pytest.approx(-2e-20, rel=1e-9)


@pytest.mark.parametrize(
    ("values", "lowest"),
    [
        (np.array([-128, 127, 0, 100], np.int8), 100),
        (np.array([-128, 127, 0, 100], np.int8), -1000),
        (np.array([0, 255, 3, 7], np.uint8), -2),
        (np.array([-(2**63), 2**63 - 1, 0, 5]), 2**63 - 3),
        (np.array([-(2**63), 2**63 - 1, 0, 5]), -(2**63)),
        (np.array([2**64 - 1, 2**63, 0, 2**64 - 3], np.uint64), 2**64 - 4),
        (np.array([2**64 - 1, 2**63, 0, 2], np.uint64), -3),
        (np.array([True, False, True, True]), 1),
    ],
)
def test_windows_at_the_ends_of_a_type(values, lowest):
    table = np.arange(12.0).reshape(6, 2)
    check(4, np.zeros(2), [], [], [(values, lowest, table)], None)


def test_blocks_and_threads_do_not_matter():
    random = np.random.default_rng(1)
    values, codes = random.normal(size=5000), random.integers(0, 4, 5000)
    parameters, table = random.exponential(size=(3, 4)), random.normal(size=(5, 3))

    def run(begin=0, end=5000):
        part = slice(begin, end)
        return score(
            end - begin, np.zeros(3), [(values[part], parameters)], [(codes[part], table)], [], None, POSTERIOR
        )

    whole = run()
    assert np.array_equal(np.vstack([run(a, min(a + 333, 5000)) for a in range(0, 5000, 333)]), whole)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(found, whole) for found in pool.map(lambda _: run(), range(12)))


def test_views_of_any_stride():
    random = np.random.default_rng(2)
    big = random.normal(size=(8, 40))
    prior, extra = big[0, ::10], big[:6, 3:35:8][::-1]
    parameters = np.abs(big[1:5, 4::-1][:, :4])
    table = big.T[::9, :4]
    check(6, prior, [(big[:6, 0][::-1], parameters)], [(np.arange(6)[::-1], table)], [], extra)


def test_nothing():
    assert score(0, np.zeros(3), [], [], [], None, POSTERIOR).shape == (0, 3)
    assert score(2, np.zeros(0), [], [(np.zeros(2, int), np.zeros((1, 0)))], [], None, JOINT).shape == (2, 0)
    assert score(2, np.zeros(0), [], [], [], None, ARGMAX).tolist() == [-1, -1]
    assert score(2, np.array([1.0]), [], [], [], None, POSTERIOR).tolist() == [[1], [1]]


def test_outputs_are_distinct():
    assert len(set(OUTPUTS)) == 5


def test_bad_arguments():
    prior, values, parameters = np.zeros(2), np.zeros(3), np.ones((2, 4))
    codes, table = np.zeros(3, int), np.zeros((4, 2))
    good = (3, prior, [(values, parameters)], [(codes, table)], [(codes, 0, table)], np.zeros((3, 2)), JOINT)
    assert score(*good).shape == (3, 2)
    for place, bad, error in [
        (0, -1, ValueError),
        (0, 4, ValueError),
        (0, 2**60, ValueError),
        (1, np.zeros(3), ValueError),
        (1, np.zeros((2, 1)), ValueError),
        (1, np.zeros(2, int), TypeError),
        (2, [(values[:2], parameters)], ValueError),
        (2, [(values, parameters[:1])], ValueError),
        (2, [(values, np.ones((2, 3)))], ValueError),
        (2, [(values, parameters.astype(int))], TypeError),
        (2, [(values,)], ValueError),
        (2, [values], ValueError),
        (3, [(codes[:2], table)], ValueError),
        (3, [(values, table)], TypeError),
        (3, [(codes, np.zeros((0, 2)))], ValueError),
        (3, [(codes, np.zeros((3, 3)))], ValueError),
        (3, [(codes, np.zeros(2))], ValueError),
        (4, [(codes, table)], ValueError),
        (4, [(codes, 2**64, table)], ValueError),
        (4, [(codes, -(2**63) - 1, table)], ValueError),
        (4, [(codes, "low", table)], TypeError),
        (5, np.zeros((2, 3)), ValueError),
        (5, np.zeros(6), ValueError),
        (6, 5, ValueError),
        (6, -1, ValueError),
    ]:
        args = list(good)
        args[place] = bad
        with pytest.raises(error):
            score(*args)


def test_the_switch():
    assert _core.use_avx2(False) is False
    assert _core.use_avx2(True) is _core.has_avx2()
    names = _core.instruction_sets()
    assert names == ["baseline", "avx2", "avx512"][: len(names)]
    assert [_core.use_instructions(name) for name in names] == names
    assert _core.use_instructions("avx512") == names[-1]
    with pytest.raises(ValueError, match="baseline"):
        _core.use_instructions("sse9")


@given(st.integers(0, 2**32), st.sampled_from([1, 300]), st.integers(1, 5), st.integers(1, 4))
def test_tables_by_class(seed, rows, classes, levels):
    random = np.random.default_rng(seed)
    values = random.integers(-1, levels + 2, (rows, 2))[:, 0]
    target = random.integers(-1, classes + 1, rows).astype(np.int32)
    table = random.normal(size=(classes * levels + 1, classes))
    inside = (values >= 1) & (values < levels + 1) & (target >= 0) & (target < classes)
    expected = table[np.where(inside, target * levels + values - 1, classes * levels)]
    found = on_both_paths(rows, np.zeros(classes), [], [], [], None, JOINT, target, [(values, 1, table)])
    np.testing.assert_array_equal(found, expected)


def test_tables_by_class_need_a_target_and_full_rows():
    values, table = np.zeros(2, dtype=np.int32), np.zeros((5, 2))
    with pytest.raises(ValueError, match="target"):
        score(2, np.zeros(2), [], [], [], None, JOINT, None, [(values, 0, table)])
    with pytest.raises(ValueError, match="each class"):
        score(2, np.zeros(2), [], [], [], None, JOINT, values, [(values, 0, table[:4])])
    with pytest.raises(TypeError, match="integer"):
        score(2, np.zeros(2), [], [], [], None, JOINT, values, [(np.zeros(2), 0, table)])
