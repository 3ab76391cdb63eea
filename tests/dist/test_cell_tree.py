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


def runs_of(tally: Grid, lines: np.ndarray, base: float, *, is_log: bool) -> tuple[np.ndarray, np.ndarray]:
    """The first keys of the runs of cells, and the logs of their ratios."""
    nothing, one = np.zeros(lines[:1].shape), np.ones(1)
    added = nothing, nothing, nothing[0], nothing[:, :-1]
    [found] = _core.cell_runs([tally.grid], one, *lines[:, None], base * one, is_log * one, *added)
    return found.starts, found.log_ratios.T


@pytest.mark.parametrize("shape", ["normal", "skewed", "rounded", "outlier", "offset", "zeros"])
@pytest.mark.parametrize("rows", [5, 60, 3000])
def test_runs_are_those_of_the_second_algorithm(shape: str, rows: int) -> None:
    x, target = column(shape, rows, 1)
    tally = Grid.of(CLASSES, x, target)
    for is_log in (False, True):
        if is_log and (x <= 0).any():
            continue
        base, lines = lines_of(x, is_log=is_log)
        slow, leaves = SlowCellTree.of(tally, zeros=True), SlowCellTree.of(tally, zeros=True).leaves()
        starts, ratios = runs_of(tally, lines, base, is_log=is_log)

        def place(edges: Any, rows: Any, *, base: float = base, is_log: bool = is_log) -> Any:
            with np.errstate(divide="ignore"):
                found = np.log(np.maximum(edges, 0)) - base if is_log else apart(edges, base)
            return np.where(np.isinf(edges) & (not is_log), edges, found)[:, None]

        wanted = slow.log_ratios(leaves, Lines(*lines[:, None]), place, unit=None if is_log else 1.0)
        assert set(starts) <= set(leaves)
        found = ratios[np.searchsorted(starts, leaves, side="right") - 1]  # neighbours that are alike are one run
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)  # of a mass of 1e-7, nine digits are known
        assert rows < 60 or shape in ("offset", "outlier") or np.abs(ratios).max() > 0.1


@pytest.mark.parametrize("shape", ["normal", "rounded", "outlier"])
def test_runs_are_those_of_each_cell_alone(shape: str) -> None:
    """To the bit: a live model, which looks at one cell, answers as one that is fitted."""
    x, target = column(shape, 3000, 2)
    base, lines = lines_of(x, is_log=False)
    keys = np.unique(keys_of(_core.grid_cells(x)))
    whole = Grid.of(CLASSES, x, target)
    for key in keys[:: len(keys) // 20].tolist():
        row = int(np.flatnonzero(keys_of(_core.grid_cells(x)) == key)[0])
        rest = np.delete(np.arange(len(x)), row)
        starts, ratios = runs_of(Grid.of(CLASSES, x[rest], target[rest]), lines, base, is_log=False)
        alone = CellTree.of(whole, zeros=True).log_ratios(
            np.array([key]),
            StudentShape(*lines[:, None]),
            Places(np.array([base]), np.zeros(1), 1.0),
            target[row : row + 1],
        )
        np.testing.assert_array_equal(alone[0], ratios[np.searchsorted(starts, key, side="right") - 1])


def test_runs_have_the_same_bits_on_every_processor() -> None:
    x, target = column("normal", 3000, 3)
    x[::7] *= 1e-4  # narrow pieces
    base, lines = lines_of(x, is_log=False)
    tally = Grid.of(CLASSES, x, target)
    found = []
    for instructions in _core.instruction_sets():  # the widest last, which stay in force
        _core.use_instructions(instructions)
        found.append(runs_of(tally, lines, base, is_log=False))
    for starts, ratios in found[1:]:
        np.testing.assert_array_equal(starts, found[0][0])
        np.testing.assert_array_equal(ratios, found[0][1])


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
