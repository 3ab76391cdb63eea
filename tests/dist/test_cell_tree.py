"""The tree over the cells of a grid: the core against a second algorithm with numpy, level by level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.cell_tree import Lines, SlowCellTree

from bayesbox import _core
from bayesbox.dist.number.cell_tree import CellTree, Places, StudentShape, keys_of
from bayesbox.dist.number.special import apart
from bayesbox.tally.grid import Grid

CLASSES = ("a", "b", "c")


def column(shape: str, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    target = random.integers(0, 3, rows).astype(np.int32)
    x = random.normal(target * 0.5, 1.0)
    match shape:
        case "skewed":
            x = np.exp(x)
        case "rounded":
            x = np.round(10 * x)
        case "outlier":
            x[0] = 1e9
        case "offset":
            x += 1e6
        case "zeros":
            x = np.where(random.random(rows) < 0.5, 0.0, np.abs(x))
    return x, target


def lines_of(x: np.ndarray, *, is_log: bool) -> tuple[float, np.ndarray]:
    """A base and a t for each class and for one of no rows, shifts x scales x degrees."""
    places = np.log(x[x > 0]) if is_log else x
    scale = places.std()
    return float(places.mean()), np.array(
        [
            [-0.2 * scale, 0.1 * scale, 0.3 * scale, 0.0],
            [scale, 1.1 * scale, 0.9 * scale, 1.2 * scale],
            [3.0 + len(x) // 3, 40.0, 5.0, 3.0],
        ]
    )


@pytest.mark.parametrize("shape", ["normal", "skewed", "rounded", "outlier", "offset", "zeros"])
@pytest.mark.parametrize("rows", [5, 60, 3000])
def test_runs_are_those_of_the_second_algorithm(shape: str, rows: int) -> None:
    x, target = column(shape, rows, 1)
    tally = Grid.of(CLASSES, x, target)
    for is_log in (False, True):
        if is_log and (x <= 0).any():
            continue
        base, lines = lines_of(x, is_log=is_log)
        slow, fast = SlowCellTree.of(tally, zeros=True), CellTree.of(tally, zeros=True)
        starts, ratios = fast.runs(StudentShape(*lines[:, None]), base, is_log=is_log)
        np.testing.assert_array_equal(starts, slow.leaves())

        def place(edges: Any, rows: Any, *, base: float = base, is_log: bool = is_log) -> Any:
            with np.errstate(divide="ignore"):
                found = np.log(np.maximum(edges, 0)) - base if is_log else apart(edges, base)
            return np.where(np.isinf(edges) & (not is_log), edges, found)[:, None]

        wanted = slow.log_ratios(starts, Lines(*lines[:, None]), place, unit=None if is_log else 1.0)
        np.testing.assert_allclose(ratios, wanted, rtol=1e-9, atol=1e-9)  # of a mass of 1e-7, nine digits are known
        assert rows < 60 or shape in ("offset", "outlier") or np.abs(ratios).max() > 0.1


@given(st.sampled_from(["normal", "skewed", "rounded", "outlier"]), st.integers(0, 1000), st.sampled_from([40, 200]))
def test_each_row_is_left_out_as_by_the_second_algorithm(shape: str, seed: int, rows: int) -> None:
    x, target = column(shape, rows, seed)
    tally = Grid.of(CLASSES, x, target)
    _, lines = lines_of(x, is_log=False)
    spread = np.tile(lines[:, None], (1, rows, 1))
    spread[0] += x[:, None] / 1e3  # one for each row
    keys, unit = keys_of(_core.grid_cells(x)), 2.0
    origin = np.sin(x)

    def place(edges: Any, rows: Any) -> Any:
        return (origin[rows] + np.where(np.isinf(edges), edges, apart(edges, x[rows])) / unit)[:, None]

    wanted = SlowCellTree.of(tally, zeros=True).log_ratios(keys, Lines(*spread), place, target, unit=unit)
    found = CellTree.of(tally, zeros=True).log_ratios(keys, StudentShape(*spread), Places(x, origin, unit), target)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
