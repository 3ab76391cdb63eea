"""A right call of each function of the core that counts or scores rows, small, with values drawn at random."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.schema.arrays import text_array
from bayesbox.schema.tokens import text_buffers

ROWS, CLASSES = 9, 3
Maker = Callable[[np.random.Generator], tuple[Callable[..., Any], tuple[Any, ...]]]
EXAMPLES: dict[str, Callable[[random.Random], Call]] = {}


class Call(NamedTuple):
    """A function and its arguments, by position."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def example(make: Maker) -> Maker:
    """Register a call by the name of the function that makes it."""

    def drawn(chance: random.Random) -> Call:
        return Call(*make(np.random.default_rng(chance.randrange(2**32))))

    EXAMPLES[make.__name__] = drawn
    return make


def labels(draw: np.random.Generator, rows: int = ROWS) -> NDArray[np.int32]:
    return draw.integers(-1, CLASSES, rows).astype(np.int32)


def codes_of(draw: np.random.Generator, size: int = 4, kind: Any = np.int32) -> NDArray[Any]:
    return draw.integers(0, size, ROWS).astype(kind)


def reals(draw: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    return draw.normal(size=shape or (ROWS,))


def row_weights(draw: np.random.Generator) -> NDArray[np.float64]:
    return draw.random(ROWS)


def whole(*values: int) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def texts_of(texts: list[str]) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    return text_buffers(text_array(texts))


DOCUMENTS = ["kiwi sheep", "", "Munich beer beer", "naïve don't"]

# -- exact numbers ----------------------------------------------------------------------------------------------------


@example
def exact_integers(draw: np.random.Generator) -> Any:
    def run(values: Any, index: Any, size: Any, rows: Any, cell: Any, first: Any) -> None:
        cells = _core.ExactArray.from_integers(values)
        cells.add(_core.ExactArray.from_integers(np.ones(len(index), np.int64)), index)
        cells.take(index)
        cells.sum_groups(index, size)
        assert len(_core.ExactArray.from_table(values[: len(values) // rows * rows].reshape(rows, -1).T)) <= len(values)
        cells.sum_rows(rows)
        cells.others(rows)
        cells.columns(rows, first, 2)
        cells.parts(cell)
        cells.to_integers()

    return run, (draw.integers(-5, 5, 6), whole(0, 3, 5, 1, 1, 2), 6, 3, 2, 0)


@example
def exact_doubles(draw: np.random.Generator) -> Any:
    def run(values: Any, other: Any, sign: Any) -> None:
        cells = _core.ExactArray.from_doubles(values)
        cells.add(_core.ExactArray.from_doubles(other), sign=sign)
        again = _core.ExactArray.from_text(cells.text())
        assert again == cells
        again.to_doubles()
        again.signs()
        again.is_integral()

    return run, (reals(draw), reals(draw), 1)


@example
def exact_text(_: np.random.Generator) -> Any:
    return _core.ExactArray.from_text, (b"0\n1p0\n-1bp-3\nffffffffffffffffp100\n",)


@example
def exact_slices(draw: np.random.Generator) -> Any:
    def run(values: Any, starts: Any, text: Any, lines: Any) -> None:
        assert sum(map(len, _core.ExactArray.slices_of_integers(values, starts))) == starts[-1] - starts[0]
        for cells in _core.ExactArray.slices_of_text(text, lines):
            cells.any()

    return run, (draw.integers(-5, 5, 6), whole(0, 2, 2, 6), b"0\n1p0\n-1bp-3\n", whole(0, 2, 6, 13))


# -- counting ---------------------------------------------------------------------------------------------------------


@example
def moments(draw: np.random.Generator) -> Any:
    return _core.moments, ([reals(draw), codes_of(draw)], labels(draw), CLASSES, row_weights(draw))


@example
def comoments(draw: np.random.Generator) -> Any:
    return _core.comoments, ([reals(draw), reals(draw)], labels(draw), CLASSES, row_weights(draw))


@example
def count_codes(draw: np.random.Generator) -> Any:
    kind = draw.choice(["i4", "u1", "i8", "u2"])
    return _core.count_codes, ([codes_of(draw, 4, kind), codes_of(draw)], [4, 4], labels(draw), CLASSES)


@example
def count_codes_weighted(draw: np.random.Generator) -> Any:
    return _core.count_codes_weighted, ([codes_of(draw)], [4], labels(draw), CLASSES, row_weights(draw))


@example
def count_labels(draw: np.random.Generator) -> Any:
    return _core.count_labels, (labels(draw), CLASSES)


@example
def count_grids(draw: np.random.Generator) -> Any:
    values = np.where(draw.random(ROWS) < 0.3, draw.choice([0.0, np.nan, 5e-324, 1e308], ROWS), reals(draw))
    return _core.count_grids, ([values, codes_of(draw, 9, "u1")], labels(draw), CLASSES)


@example
def add_grids(draw: np.random.Generator) -> Any:
    one, other = (_core.count_grids([np.round(reals(draw), 1)], labels(draw), CLASSES)[1][0] for _ in range(2))
    return _core.add_grids, (one, other, int(draw.choice([-1, 1])))


@example
def grid_lines(draw: np.random.Generator) -> Any:
    def run(names: Any, sums: Any, label: Any, cell: Any, counts: Any, starts: Any) -> None:
        grids = [_core.GridCounts(label, cell, counts), *_core.split_grid(label, cell, starts, [counts])]
        both = [sums] * len(grids)
        for grid in grids:
            _core.grid_lines(names, sums, grid)
        _core.grids_agree(both, grids)
        _core.signs_of_grids(grids, CLASSES)
        _core.moments_without_zeros(both, grids)
        _core.log_moments(grids, CLASSES)

    sums, grids = _core.count_grids([reals(draw)], labels(draw), CLASSES)
    label, cell, counts = grids[0].label, grids[0].cell, grids[0].counts
    return run, (b'["a","b","c"]\n', sums[0], label, cell, counts, np.array([0, len(counts)]))


@example
def grid_cells(draw: np.random.Generator) -> Any:
    return _core.grid_cells, (reals(draw) * 10.0 ** draw.integers(-300, 300),)


@example
def count_integers(draw: np.random.Generator) -> Any:
    return _core.count_integers, ([codes_of(draw, 9, "i8"), np.floor(reals(draw) * 4)], labels(draw), CLASSES, 256)


@example
def count_sparse(draw: np.random.Generator) -> Any:
    starts = np.array([0, 1, 3, 3, 4], dtype=draw.choice(["i4", "i8"]))
    arguments = (starts, np.array([0, 1, 2, 0], dtype=starts.dtype), reals(draw, 4), 3, labels(draw, 4), CLASSES)
    return _core.count_sparse, (*arguments, draw.random(4))


@example
def count_pairs(draw: np.random.Generator) -> Any:
    return _core.count_pairs, ([codes_of(draw), codes_of(draw, 3)], whole(4, 3), labels(draw), CLASSES, 1000)


@example
def without_holes(draw: np.random.Generator) -> Any:
    return _core.without_holes, (draw.choice([reals(draw), codes_of(draw)]), np.array([0b10110101, 1], np.uint8), 3)


@example
def factorize(draw: np.random.Generator) -> Any:
    def run(integers: Any, doubles: Any) -> None:
        _core.factorize_integers(integers)
        _core.factorize_doubles(doubles)

    return run, (codes_of(draw), reals(draw))


@example
def row_ledger(draw: np.random.Generator) -> Any:
    numbers = (b"age", b"n", reals(draw), None, None)
    return _core.row_ledger, (
        [numbers, (b"car", b"t", codes_of(draw, 4, np.int32), *texts_of(DOCUMENTS))],
        labels(draw),
        *texts_of(["low", "high", "none"]),
        row_weights(draw),
    )


# -- scores -----------------------------------------------------------------------------------------------------------


@example
def score(draw: np.random.Generator) -> Any:
    def run(output: Any, *arguments: Any) -> None:
        rows, prior, gaussians, tables, integers, extra, target, by_class, cells = arguments
        _core.score(rows, prior, gaussians, tables, integers, extra, output, target, by_class, cells)

    shape = np.abs(reals(draw, CLASSES, 4)) + 0.1
    return run, (
        int(draw.integers(5)),
        ROWS,
        reals(draw, CLASSES),
        [(reals(draw), shape), (codes_of(draw), shape)],
        [(codes_of(draw), reals(draw, 5, CLASSES)), (codes_of(draw, 4, np.uint8), reals(draw, 5, CLASSES))],
        [(codes_of(draw, 4, np.int64), 0, reals(draw, 6, CLASSES))],
        reals(draw, ROWS, CLASSES),
        np.abs(labels(draw)),
        [(codes_of(draw, 4, np.int64), 0, reals(draw, CLASSES * 4 + 1, CLASSES))],
        [(reals(draw), cell_density(draw, is_log=log), 1.0 + log) for log in (False, True)],
    )


def cell_density(draw: np.random.Generator, *, is_log: bool) -> Any:
    """Of three runs, over cells on both sides of zero."""
    run_of = np.sort(draw.integers(0, 3, 32)).astype(np.uint16)
    heights = reals(draw, CLASSES + 1, 3)
    parameters = np.abs(reals(draw, CLASSES + 1, 3)) + 0.1
    parameters[-1, -1] = 3.0
    zeros = None if is_log else reals(draw, CLASSES)
    return 8170, run_of, heights, np.exp(heights[:-1] - heights[-1]), parameters, 0.5, is_log, zeros


@example
def cell_runs(draw: np.random.Generator) -> Any:
    def run(prior: Any, values: Any, *given: Any) -> None:
        for found in _core.cell_runs(*given):
            assert found.size == len(found.starts) == found.log_ratios.shape[1]
            for density in (found, found.without_zeros()):
                _core.score(len(values), prior, [], [], [], None, 0, None, [], [(values, density, 1.0)])
                for column in (("number", "x", None, density, 1.0, None), ("cells", ("x",), (density,))):
                    _core.RowScorer(prior, [column], ("a", "b", "c"), False, None)

    target = np.abs(labels(draw))
    grids = _core.count_grids([reals(draw), reals(draw)], target, CLASSES)[1]
    shape = (2, CLASSES + 1)
    return run, (
        reals(draw, CLASSES), reals(draw), grids, np.array([0.0, 1.0]), reals(draw, *shape),
        np.abs(reals(draw, *shape)) + 0.1,
        np.abs(reals(draw, *shape)) + 3, reals(draw, 2), np.zeros(2),
        reals(draw, *shape), reals(draw, *shape), reals(draw, CLASSES + 1), reals(draw, 2, CLASSES),
    )  # fmt: skip


@example
def student_below(draw: np.random.Generator) -> Any:
    return _core.student_below, (-np.abs(reals(draw)), np.abs(reals(draw)) + 3)


@example
def leave_one_out_gaussians(draw: np.random.Generator) -> Any:
    shape = np.abs(reals(draw, CLASSES + 1, 4)) + 3
    return _core.leave_one_out_gaussians, ([(reals(draw), shape, 1e-9, 1.0)], np.abs(labels(draw)), CLASSES)


@example
def matrix_product(draw: np.random.Generator) -> Any:
    return _core.matrix_product, (reals(draw, 3, 4), reals(draw, 4, 2))


@example
def joint_normals(draw: np.random.Generator) -> Any:
    columns = [reals(draw), reals(draw)]
    return _core.joint_normals, (
        columns, ROWS, reals(draw, CLASSES, 2), reals(draw, CLASSES, 2),
        reals(draw, CLASSES * 2, 2), reals(draw, CLASSES),
    )  # fmt: skip


@example
def score_one_dependence(draw: np.random.Generator) -> Any:
    slots = 7
    return _core.score_one_dependence, (
        [codes_of(draw), codes_of(draw, 3)], ROWS, whole(0, 4, slots), reals(draw, CLASSES),
        reals(draw, slots * CLASSES), reals(draw, slots * CLASSES), reals(draw, slots * slots * CLASSES),
        np.ones(slots, np.uint8),
    )  # fmt: skip


@example
def densities(draw: np.random.Generator) -> Any:
    def run(x: Any, values: Any, weights: Any, width: Any, mean: Any, rest: Any, deviation: Any) -> None:
        _core.kernel_log_density(x, values, weights, width)
        _core.log_normal_cells(x, mean, rest, deviation)

    values = np.sort(reals(draw))
    return run, (reals(draw), values, row_weights(draw) + 0.1, 0.5, reals(draw, 2), reals(draw, 2), np.ones(2))


@example
def log_shares(draw: np.random.Generator) -> Any:
    counts = draw.integers(0, 9, (CLASSES, 4)).astype(np.float64)
    return _core.log_shares, (counts, counts.sum(axis=1))


@example
def cuts(draw: np.random.Generator) -> Any:
    def run(counts: Any) -> None:
        _core.mdl_cuts(counts)
        _core.modl_cuts(counts)
        _core.modl_groups(counts)

    return run, (draw.integers(0, 9, (12, CLASSES)).astype(np.float64),)


@example
def level_dictionary(draw: np.random.Generator) -> Any:
    def run(letters: Any, offsets: Any, codes: Any, values: Any, classes: Any) -> None:
        dictionary = _core.LevelDictionary()
        dictionary.codes(*texts_of(["suv", "sports"]))
        cells = _core.ExactArray.from_integers(values)
        total = dictionary.sum(_core.ExactArray(4), letters, offsets, cells, classes)
        other = _core.LevelDictionary()
        counted = other.sum(_core.ExactArray(0), letters, offsets, cells, classes)
        dictionary.sum_of(total, other, counted, classes)
        dictionary.codes(letters, offsets)
        dictionary.texts(dictionary.sorted(codes))

    return run, (*texts_of(["a", "suv", "a", ""]), draw.integers(0, 2, 3), draw.integers(0, 9, 8), 2)


@example
def spreads(draw: np.random.Generator) -> Any:
    def run(columns: Any, target: Any, numerator: Any, denominator: Any) -> None:
        moments = _core.moments(columns, target, CLASSES)
        _core.seen_of_numbers(moments)
        _core.flag_counts(moments, CLASSES)
        _core.spreads(moments, numerator, denominator)

    return run, ([reals(draw), reals(draw)], labels(draw), 1, 10_000)
