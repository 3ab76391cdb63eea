"""Terms of densities by cell: the formula in numpy, every instruction set, and values of every sort."""

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

from bayesbox import _core
from bayesbox._core import ARGMAX, JOINT, LOG_POSTERIOR, LOG_SUM, POSTERIOR
from bayesbox.dist.number.cell_density import CellDensity

RUNS = np.array([-33_000, -8_190, 8_170, 8_190])  # their first keys
ODD = [np.nan, 0.0, -0.0, 5e-324, 1e-310, -1e-310, 1e300, -1e300, 1e9, -3.0]


def density(draw: np.random.Generator, classes: int, *, is_log: bool, zeros: bool, df: float) -> CellDensity:
    parameters = np.exp(draw.normal(size=(classes + 1, 3)))
    parameters[:, 0] = draw.normal(size=classes + 1)
    parameters[:, 2] = df
    parameters[-1, 2] = 3.0
    heights = draw.normal(size=(len(RUNS), classes + 1))
    shares = -np.exp(draw.normal(size=classes)) if zeros else None
    return CellDensity.of(RUNS, heights, parameters, 0.3, is_log=is_log, zeros=shares)


def by_formula(values: Any, cells: CellDensity) -> np.ndarray:
    x = np.asarray(values, dtype=np.float64)
    shift, scale, df = cells.parameters.T
    with np.errstate(all="ignore"):
        place = (np.log(x) if cells.is_log else x) - cells.base
        z = (place[:, None] - shift) / scale
        tails = np.where(np.abs(z) < 1e150, np.log1p(z * z / df), 2 * np.log(np.abs(z)) - np.log(df))
        sizes = (np.abs(x) + 0.0).view(np.int64) >> 49
        run = np.searchsorted(RUNS, np.where(x < 0, -1 - sizes, sizes), side="right") - 1
        logs = cells.heights.T[run] - (df + 1) / 2 * tails
        terms = np.logaddexp(logs[:, :-1], logs[:, -1:]) - (np.log(x)[:, None] if cells.is_log else 0)
    terms[np.isnan(x) | (cells.is_log & (x <= 0))] = 0.0
    if cells.zeros is not None:
        terms[x == 0] = cells.zeros
    return terms


def run(rows: int, classes: int, cells: list[Any], output: int) -> np.ndarray:
    """The answer on each instruction set, which must be the same to the last bit."""
    found = []
    for instructions in _core.instruction_sets():
        assert _core.use_instructions(instructions) == instructions
        found.append(_core.score(rows, np.zeros(classes), [], [], [], None, output, None, [], cells)[0])
    assert len({each.tobytes() for each in found}) == 1
    return found[0]


@pytest.mark.parametrize("df", [3.0, 7.5, 1e3, 1.2e4, 1e6, 2.0**53])
@pytest.mark.parametrize("classes", [1, 2, 3, 5])
def test_terms_are_those_of_the_formula(classes: int, df: float) -> None:
    draw = np.random.default_rng(classes)
    rows = 263
    columns = np.exp(draw.normal(size=(rows, 9))) * draw.choice([1, 1, -1], (rows, 9))
    columns[draw.random(columns.shape) < 0.1] = 0.0
    columns[: len(ODD), 0] = columns[: len(ODD), 1] = columns[-len(ODD) :, 2] = ODD
    weights = [1.0, 1.0, 0.5, 0.5, 2.0, 1.0, 1.0, 1.0, 1.0]
    cells: list[Any] = [
        (columns[:, j], density(draw, classes, is_log=j % 2 == 1, zeros=j % 3 == 0, df=df), weight)
        for j, weight in enumerate(weights)
    ]
    expected = sum(weight * by_formula(values, each) for values, each, weight in cells)
    joint = run(rows, classes, cells, JOINT)
    np.testing.assert_allclose(joint, expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(run(rows, classes, cells, LOG_POSTERIOR), log_softmax(expected, axis=1), atol=1e-12)
    posterior = run(rows, classes, cells, POSTERIOR)
    np.testing.assert_allclose(posterior, np.exp(log_softmax(expected, axis=1)), atol=1e-12)
    np.testing.assert_allclose(run(rows, classes, cells, LOG_SUM), np.logaddexp.reduce(expected, axis=1), atol=1e-11)
    np.testing.assert_array_equal(run(rows, classes, cells, ARGMAX), posterior.argmax(axis=1))
    for row in range(rows):  # a row has the same bits alone
        alone = [(values[row : row + 1], each, weight) for values, each, weight in cells]
        assert run(1, classes, alone, POSTERIOR).tobytes() == posterior[row : row + 1].tobytes()


@pytest.mark.parametrize("kind", [np.float32, np.int8, np.uint64])
def test_numbers_of_any_type(kind: Any) -> None:
    draw = np.random.default_rng(1)
    values = draw.integers(0, 90, 50).astype(kind)
    cells = density(draw, 3, is_log=True, zeros=True, df=40.0)
    found = run(50, 3, [(values, cells, 1.0)], JOINT)
    np.testing.assert_allclose(found, by_formula(values, cells), rtol=1e-13, atol=1e-13)


def test_an_infinite_value_is_impossible() -> None:
    cells = density(np.random.default_rng(2), 3, is_log=False, zeros=True, df=9.0)
    found = run(3, 3, [(np.array([1.0, np.inf, -np.inf]), cells, 1.0)], JOINT)
    np.testing.assert_array_equal(np.isneginf(found), [[False] * 3, [True] * 3, [True] * 3])


def test_infinite_scales_leave_the_heights() -> None:
    made = density(np.random.default_rng(3), 3, is_log=False, zeros=True, df=9.0)
    made.parameters[:] = 0.0, np.inf, 3.0
    found = run(2, 3, [(np.array([5e300, 0.0]), made, 1.0)], JOINT)
    expected = np.logaddexp(made.heights[:-1, -1], made.heights[-1, -1])
    np.testing.assert_allclose(found, [expected, made.zeros], rtol=1e-14)


@pytest.mark.parametrize("common", [1.0, 4.0])
def test_a_common_density_of_other_degrees_and_scales_far_apart(common: float) -> None:
    """None is made by a fit; such terms are worked out in logs."""
    draw = np.random.default_rng(4)
    made = density(draw, 2, is_log=False, zeros=False, df=9.0)
    made.parameters[-1, 2] = common
    made.parameters[0, 1] = 1e-90
    values = draw.normal(size=40)
    found = run(40, 2, [(values, made, 1.0)], JOINT)
    np.testing.assert_allclose(found, by_formula(values, made), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("least_size", 16_383),
        ("least_size", -1),
        ("run_of", np.zeros(3, dtype=np.uint16)),
        ("run_of", np.zeros(0, dtype=np.uint16)),
        ("run_of", np.zeros(4, dtype=np.int64)),
        ("run_of", np.zeros(8, dtype=np.uint16)[::2]),
        ("heights", np.zeros((3, 4))),
        ("heights", np.zeros((4, 0))),
        ("ratios", np.zeros((3, 5))),
        ("ratios", np.zeros((4, 3)).T),
        ("parameters", np.zeros((3, 3))),
        ("zeros", np.zeros(4)),
    ],
)
def test_a_density_that_does_not_fit_is_refused(field: str, value: Any) -> None:
    made = density(np.random.default_rng(5), 3, is_log=False, zeros=True, df=9.0)
    with pytest.raises((ValueError, TypeError)):
        run(1, 3, [(np.zeros(1), made._replace(**{field: value}), 1.0)], JOINT)


def test_a_weight_must_be_finite() -> None:
    made = density(np.random.default_rng(6), 3, is_log=False, zeros=True, df=9.0)
    with pytest.raises(ValueError, match="weight"):
        run(1, 3, [(np.zeros(1), made, np.inf)], JOINT)
