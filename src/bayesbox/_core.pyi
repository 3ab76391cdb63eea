"""The compiled core: exact sums, counting, moments, scores. It sees arrays only, and releases the GIL."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class StopFlag:
    """Set by a thread that no longer waits for others: their next look for an interrupt raises KeyboardInterrupt.

    A flag that is made in a thread with a flag is set where that one is.
    """

    def __init__(self) -> None: ...
    def attach(self) -> None:
        """From now on this thread works for whoever set up the flag, and looks at it in place of signals."""
    def set(self) -> None: ...

def poll() -> None:
    """Raise KeyboardInterrupt where the flag of this thread is set; a thread without one runs the handlers of signals.

    Every long call of the core does so by itself, many times a second.
    """

class ExactArray:
    """A row of cells, each an exact dyadic number, in limbs of 32 bits with one window that grows where needed.

    Every finite double, every product of two or three doubles and every sum of these is held without rounding, so
    addition is associative and commutative to the last bit, and subtraction undoes it. Equality is equality of
    numbers, not of windows. Methods keep the GIL, so an array may be shared between threads.
    """

    def __init__(self, size: int) -> None: ...
    def __len__(self) -> int: ...
    @staticmethod
    def from_integers(values: NDArray[np.int64]) -> ExactArray: ...
    @staticmethod
    def from_table(table: NDArray[np.int64]) -> ExactArray:
        """The cells of a table, column by column."""

    @staticmethod
    def slices_of_integers(values: NDArray[np.int64], starts: NDArray[np.int64]) -> list[ExactArray]:
        """An array for the numbers from each start up to the next."""

    @staticmethod
    def slices_of_text(text: bytes, starts: NDArray[np.int64]) -> list[ExactArray]:
        """The same of lines as `text` writes them; the starts are those of lines, in bytes."""

    def any(self) -> bool:
        """Whether a cell is not zero."""

    @staticmethod
    def from_doubles(values: NDArray[np.float64]) -> ExactArray: ...
    @staticmethod
    def from_text(text: bytes) -> ExactArray:
        """The inverse of `text`; ValueError where a line is not canonical."""
    def copy(self) -> ExactArray: ...
    def add(self, other: ExactArray, index: NDArray[np.int64] | None = None, *, sign: int = 1) -> None:
        """In place: self[index[i]] += sign * other[i] (index None: cell by cell)."""
    def take(self, index: NDArray[np.int64]) -> ExactArray:
        """The cells at `index`, in that order; -1 gives a zero cell."""
    def sum_groups(self, index: NDArray[np.int64], size: int) -> ExactArray:
        """`size` cells: the cell i is the sum of the cells whose index is i."""
    def sum_rows(self, rows: int) -> ExactArray:
        """The cells as a table of so many rows: the sum of each row."""
    def others(self, rows: int) -> ExactArray:
        """The same table with, in place of each cell, the sum of all others in its column."""
    def columns(self, rows: int, first: int, last: int) -> NDArray[np.float64]:
        """The same table, from the column `first` to before `last`, as the nearest doubles."""
    def __eq__(self, other: object) -> bool: ...
    def signs(self) -> NDArray[np.int8]:
        """-1, 0 or 1 a cell."""
    def is_integral(self) -> bool:
        """Whether every cell is an integer."""
    def to_integers(self) -> NDArray[np.int64]:
        """The cells as int64; OverflowError where one is no integer or does not fit."""
    def to_doubles(self) -> NDArray[np.float64]:
        """The cells rounded to nearest, ties to even (+-inf beyond the range)."""
    def parts(self, cell: int) -> tuple[int, int]:
        """(m, e) with value m * 2**e: m odd, of any size; (0, 0) for zero."""
    def text(self) -> bytes:
        """One line a cell, each ended by a newline: `0`, or sign, hex of the odd m, `p`, decimal e: `-1bp-3`."""

class Moments:
    """Of one numeric column, by class: the number of values, of fractional values, their sum, their sum of squares."""

    n: ExactArray
    fractional: ExactArray
    total: ExactArray
    squares: ExactArray
    def __init__(self, n: ExactArray, fractional: ExactArray, total: ExactArray, squares: ExactArray) -> None: ...

def moments(
    columns: list[NDArray[Any]],
    target: NDArray[np.int32],
    classes: int,
    weights: NDArray[np.float64] | None = None,
) -> list[Moments]:
    """Class-split exact moments of many columns (float64, float32 or any integer or bool dtype, any stride).

    NaN is left out; a negative target leaves the row out, one of `classes` or more raises ValueError, here and in all
    counts below. With weights, n is the sum of w, `fractional` the sum of w over fractional values, then w*x and w*x*x;
    rows of weight 0 are left out. An infinite value raises ValueError whose args are ("infinite", column, row): the
    first such row of the first such column, rows left out aside. Weights are finite.
    """

def count_codes(
    columns: list[NDArray[Any]],
    sizes: list[int],
    target: NDArray[np.int32],
    classes: int,
) -> list[NDArray[np.int64]]:
    """Class x level counts of code columns of any integer type and stride; a code outside [0, size) is missing."""

def count_codes_weighted(
    columns: list[NDArray[Any]],
    sizes: list[int],
    target: NDArray[np.int32],
    classes: int,
    weights: NDArray[np.float64],
) -> list[ExactArray]:
    """The same with a weight a row, summed exactly; cells class-major."""

def count_labels(target: NDArray[np.int32], classes: int) -> NDArray[np.int64]:
    """The rows of each class; a negative label is missing."""

def row_ledger(
    columns: list[tuple[bytes, bytes, NDArray[Any], NDArray[np.uint8] | None, NDArray[np.int64] | None]],
    target: NDArray[np.int32],
    label_bytes: NDArray[np.uint8],
    label_offsets: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.uint16]:
    """The ledger of these rows, 1,024 lanes. A column is (name, b"n", numbers, None, None), or
    (name, tag, codes, bytes of the texts that they stand for, where each text begins)."""

def count_integers(
    columns: list[NDArray[Any]], target: NDArray[np.int32], classes: int, limit: int
) -> list[tuple[int, NDArray[np.int64]] | None]:
    """Class x value counts of columns of integers, bools or whole doubles (NaN: missing) as (lowest value, counts);
    None where the range of values exceeds `limit`, or a double is no whole number."""

def count_sparse(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    width: int,
    target: NDArray[np.int32],
    classes: int,
    weights: NDArray[np.float64] | None = None,
) -> ExactArray:
    """Class x column exact sums of a CSR matrix, class-major; NaN or infinite data raise ValueError."""

def pair_information(
    counts: NDArray[np.float64], sizes: NDArray[np.int64], classes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(I(x; y | class) of every two columns in nats, the rows that have both), from the cells of `count_pairs`."""

def pair_backoff(
    counts: NDArray[np.float64],
    sizes: NDArray[np.int64],
    classes: int,
    columns: NDArray[np.int64],
    levels: list[NDArray[np.int64]],
    weights: NDArray[np.float64],
    below: NDArray[np.float64],
    left_out: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(slots x slots x classes of log P(x_j | class, x_i), columns x columns x weights of the trust in P(x_j | class)).

    columns, levels: which of the counted ones, -1 for a level that was not counted; below, left_out: classes x slots.
    """

def without_holes(values: NDArray[Any], present: NDArray[np.uint8], offset: int) -> NDArray[Any]:
    """The values, with NaN or -1 where the bitmap, from bit `offset` on, has a 0."""

def factorize_integers(values: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(codes, sorted distinct values) of an integer or bool array of any stride; OverflowError beyond int64."""

def factorize_doubles(values: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """(codes, ascending distinct values) of numbers of any type and stride; NaN has the code -1, and -0.0 is 0.0."""

def spreads(
    tallies: list[Moments], numerator: int = 0, denominator: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint8]]:
    """What is known of the values of columns by class and, last, of all classes, from exact moments, rounded once.

    (n, mean, what the rounded mean leaves out, population deviation) x columns x (classes + 1), all 0 where there is no
    value; the root of numerator / denominator of the variance of each column; 0 for each column that needs more digits
    than the core has, or has a result that is not a normal double: its numbers mean nothing.
    """

def seen_of_numbers(tallies: list[Moments]) -> NDArray[np.uint8]:
    """1 for each column with a class whose values are seen to differ by their sums, rounded; others may differ too.

    And 2 if some of its values are neither 0 nor 1, and 4 if their number and sum may be those of row numbers.
    """

def flag_counts(tallies: list[Moments], classes: int) -> NDArray[np.float64]:
    """How often each class has 0 and 1, columns x classes x 2, of columns without other values."""

class GridCounts:
    """The cells that have a count, sorted by class and cell: a cell is that of `grid_cells`."""

    def __init__(self, label: NDArray[np.int32], cell: NDArray[np.int32], counts: ExactArray) -> None: ...
    def __len__(self) -> int:
        """How many cells have a count."""
    @property
    def label(self) -> NDArray[np.int32]:
        """The class of each: a copy."""
    @property
    def cell(self) -> NDArray[np.int32]:
        """The cells: a copy."""
    @property
    def counts(self) -> ExactArray:
        """Their counts."""

def split_grid(
    labels: NDArray[np.int32], cells: NDArray[np.int32], starts: NDArray[np.int64], counts: list[ExactArray]
) -> list[GridCounts]:
    """The grids of many columns: the rows of column k begin at starts[k] and stop at the next."""

def count_grids(
    columns: list[NDArray[Any]],
    target: NDArray[np.int32],
    classes: int,
) -> tuple[list[Moments], list[GridCounts]]:
    """The moments and the grid of each column; otherwise as `moments`, without weights."""

def add_grids(one: GridCounts, other: GridCounts, sign: int) -> GridCounts:
    """one + sign * other; no cell with a count of zero."""

def grids_agree(sums: list[Moments], grids: list[GridCounts]) -> int:
    """The first column whose cells hold more or fewer values of a class than its moments have; -1 if there is none."""

def grid_lines(classes: bytes, sums: Moments, grid: GridCounts) -> bytes | None:
    """A column's part of a digest: its moments and its grid, each after the line of its classes.

    None where a class has no value, so that the lines are those of fewer classes.
    """

def signs_of_grids(grids: list[GridCounts], classes: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The least cell of each column, -1 of one without cells; and its zeros of each class, columns x classes."""

def moments_without_zeros(sums: list[Moments], grids: list[GridCounts]) -> list[Moments]:
    """The moments of the values of each column that are not zero."""

def log_moments(grids: list[GridCounts], classes: int) -> NDArray[np.float64]:
    """n, the mean of log x and the sum of squared distances from it over the positive values of each column.

    3 x columns x (classes and all).
    """

def grid_cells(values: NDArray[Any]) -> NDArray[np.int32]:
    """The cell of each number: 0 of zero, else up to 16376 by exponent and three bits of the mantissa, with its sign.

    -32768 of NaN and of an infinite value.
    """

JOINT: int
LOG_POSTERIOR: int
POSTERIOR: int
ARGMAX: int
LOG_SUM: int

class LevelDictionary:
    """The levels of a column as bytes, in the order in which they came. Threads may share one."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def codes(self, letters: NDArray[np.uint8], offsets: NDArray[Any]) -> NDArray[np.int64]:
        """The codes of texts that stand one after another in UTF-8; new ones for those it does not know yet."""
    def codes_of(self, other: LevelDictionary) -> NDArray[np.int64]:
        """The codes of all levels of another dictionary, in its order."""
    def sum(
        self,
        cells: ExactArray,
        letters: NDArray[np.uint8],
        offsets: NDArray[Any],
        counted: ExactArray,
        classes: int,
    ) -> ExactArray:
        """Cells by this dictionary and `counted` by other texts added up, level by level; it learns the new texts."""
    def sum_of(self, cells: ExactArray, other: LevelDictionary, counted: ExactArray, classes: int) -> ExactArray:
        """The same of what was counted by another dictionary, or by its first levels."""
    def sorted(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """These codes in the order of their levels."""
    def texts(self, codes: NDArray[np.int64]) -> list[str]:
        """The levels of these codes."""

class PointKernel:
    """Rows, each the centre of a round normal density, by class."""

    @staticmethod
    def of(
        points: NDArray[np.float64],
        labels: NDArray[np.int64],
        groups: NDArray[np.int64],
        shares: NDArray[np.float64],
        pull: float,
        scale: float,
    ) -> PointKernel | None:
        """The kernel of rows whose columns are numbers (a group of 0) or zeros and a one for each of so many levels.

        A distance has its square over `scale`; the class shares count as `pull` rows. None where a group is something
        else.
        """

    def ask(self, rows: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The shares of the classes near each row, rows x classes; None where a group is not zeros and a one."""

class PoolScorer:
    """A pool of models made ready for rows that are dicts; its methods are those of `RowScorer`.

    axes: (name, levels or None, whether it is a flag, cuts, knots, centre, scale, whether values are missing) each.
    members: ("rows", power, scorer, places of the classes), ("forest", power, forest, table, trees), ("boosted", power,
    forest, values, start), ("linear", power, weights), ("normals", power, means times roots, roots, offsets, own power)
    or ("kernel", power, `PointKernel`) each. `shares` of the classes have a power too and stand for one of the rows.
    `places` are those of the labels among the classes of the pool, -1 of one that gets `rare`; `shift` is added.

    Many rows at once get None.
    """

    def __init__(
        self,
        axes: list[Any],
        members: list[Any],
        shares: NDArray[np.float64],
        power: float,
        rows: float,
        labels: tuple[Any, ...],
        places: NDArray[np.int64],
        rare: float,
        shift: NDArray[np.float64],
    ) -> None: ...
    def proba(self, row: Any, extra: NDArray[np.float64] | None = None) -> NDArray[np.float64] | None: ...
    def log_proba(self, row: Any, extra: NDArray[np.float64] | None = None) -> NDArray[np.float64] | None: ...
    def proba_by_label(self, row: Any, extra: NDArray[np.float64] | None = None) -> dict[Any, float] | None: ...
    def predict(self, row: Any, extra: NDArray[np.float64] | None = None) -> Any: ...
    def proba_many(self, rows: list[Any], logs: bool, known_only: bool = False) -> NDArray[np.float64] | None: ...
    def best_many(self, rows: list[Any], known_only: bool) -> NDArray[np.int32] | None: ...
    def proba_of_matrix(self, matrix: Any, places: NDArray[np.int64], logs: bool) -> NDArray[np.float64] | None: ...
    def best_of_matrix(self, matrix: Any, places: NDArray[np.int64]) -> NDArray[np.int32] | None: ...

class LiveRows:
    """Rows that are learned one at a time: kept until they are taken, and counted by a live model meanwhile.

    columns: (name, "number", "levels", "flag" or "nothing", levels so far, takes numbers too, takes new levels). Each
    method that takes a row says False, or None, where it is not plain; nothing was changed then.
    """

    def __init__(
        self, columns: list[Any], classes: tuple[str, ...], labels: tuple[Any, ...], label_type: str
    ) -> None: ...
    def learn(self, row: Any, label: Any) -> bool: ...
    def forget(self, row: Any, label: Any) -> bool:
        """Take a row out of the live model that was taken out of the tallies."""
    def forget_later(self, row: Any, label: Any) -> bool:
        """Take a row of levels out that the counts have, to be forgotten together with others."""
    @property
    def waiting(self) -> int:
        """How many rows wait."""
    @property
    def is_live(self) -> bool: ...
    def close(self) -> None:
        """Take no row any more."""
    def levels(self, column: int) -> list[str]: ...
    def take(self) -> tuple[tuple[int, NDArray[np.int32], list[Any]], tuple[int, NDArray[np.int32], list[Any]]]:
        """The rows that wait, which are gone then: their number, their classes, and of each column its numbers, its
        codes (-1: missing) and levels, or None; those to be learned and those to be forgotten."""
    def go_live(self, class_counts: NDArray[np.int64], columns: list[Any]) -> None:
        """Answer from these counts of all rows so far: of each column None, ("levels", what the rule adds, whether it
        smooths unseen levels, codes that are declared, counts of codes x classes) or ("normal", base, floor, n, sums
        and sums of squares of the distances from the base, each in two doubles; the last is that of all classes)."""
    def proba_by_label(self, row: Any) -> dict[Any, float] | None: ...
    def predict(self, row: Any) -> Any: ...

class RowScorer:
    """A product of a prior and of factors made ready for rows that are dicts: immutable, and safe to share.

    columns: ("number", name, gaussian or None, cells or None, weight of the cells, presence or None: the rows of
    observed and missing), ("normals", names, gaussian of each name) or ("cells", names, CellRuns of each name) for
    several of them that have nothing else, ("levels", name, levels, table of levels, unseen and missing, added last,
    unseen is an error), ("flag", name, table of false, true, unseen and missing, added last, unseen is an error),
    ("bins", name, cuts, table of the bins and missing), ("codes", name, levels or the number of a flag's or cuts,
    unseen is an error), ("density", name, density, weight, terms of being observed, of being missing). A density is
    ("normal", mean, mean_low, std, constant), ("student", base, shift, scale, df, constant), ("lognormal", mean, std,
    log_positive, terms of 0 and below, constant), ("kernel", (values, weights, width, start, step, grid) of each
    class) or ("mixed", a density, another, the logs of their shares).
    families: (places of a column of codes and of its parents, table, whether unseen is missing) each. one_dependence:
    as `score_one_dependence` takes it, with places before and whether unseen is missing behind. joint: ((place, whether
    missing is a level) of each axis, table of the cells and of unseen ones, whether unseen is ignored, places of the
    numbers, mean, mean_low, factor and constant of the normals, (cell, normal of each class) of some). calibration:
    (kind, its two numbers, shift or None).

    Each method gives None for a row that is not plain: a value of another type, an infinite number, a level that is an
    error, or no class that allows it. `extra` are terms that were worked out elsewhere, a value a class.
    """

    def __init__(
        self,
        prior: NDArray[np.float64],
        columns: list[tuple[object, ...]],
        labels: tuple[Any, ...],
        has_extra: bool,
        calibration: tuple[object, ...] | None,
        families: tuple[tuple[Any, ...], ...] | None = None,
        one_dependence: tuple[Any, ...] | None = None,
        joint: tuple[Any, ...] | None = None,
    ) -> None: ...
    def proba(self, row: Any, extra: NDArray[np.float64] | None = None) -> NDArray[np.float64] | None: ...
    def log_proba(self, row: Any, extra: NDArray[np.float64] | None = None) -> NDArray[np.float64] | None: ...
    def proba_by_label(self, row: Any, extra: NDArray[np.float64] | None = None) -> dict[Any, float] | None: ...
    def predict(self, row: Any, extra: NDArray[np.float64] | None = None) -> Any: ...
    def proba_many(self, rows: list[Any], logs: bool, known_only: bool = False) -> NDArray[np.float64] | None:
        """With `known_only` None too where a row has a level, or a column, that the model does not know."""
    def proba_of_columns(self, columns: list[list[Any] | None], rows: int) -> NDArray[np.float64] | None:
        """Of columns, one an input: lists of so many values, or None where it is absent."""
    def best_many(self, rows: list[Any], known_only: bool) -> NDArray[np.int32] | None:
        """The most probable class of each row, rows x 1."""
    def proba_of_matrix(
        self, matrix: NDArray[Any], places: NDArray[np.int64], logs: bool
    ) -> NDArray[np.float64] | None:
        """Of the numbers of a matrix, whose column places[j] is that of column j (-1: absent)."""
    def best_of_matrix(self, matrix: NDArray[Any], places: NDArray[np.int64]) -> NDArray[np.int32] | None:
        """The most probable class of each row, rows x 1."""

class JsonScorer:
    """Answers the JSON of rows as JSON. skipped, numbers: names of columns that rows may have and that are not used, of
    any value or of numbers; labels: each class as JSON; keys: its text as JSON and a colon. All are bytes."""

    def __init__(
        self,
        scorer: RowScorer,
        skipped: list[bytes],
        numbers: list[bytes],
        labels: list[bytes],
        keys: list[bytes],
    ) -> None: ...
    def answer(self, body: bytes, before: bytes, after: bytes, most: int) -> tuple[bytes, int, list[int]] | None:
        """The answers between two texts, the number of rows, and how many have each class.

        None where a body {"rows": [{...}], "proba": true} is not plain: where it has more than `most` rows, a column or
        a level that the scorer does not know, a text with escapes, or anything that is not valid."""

def score(
    rows: int,
    prior: NDArray[np.float64],
    gaussians: list[tuple[NDArray[Any], NDArray[np.float64]]],
    tables: list[tuple[NDArray[Any], NDArray[np.float64]]],
    integers: list[tuple[NDArray[Any], int, NDArray[np.float64]]],
    extra: NDArray[np.float64] | None,
    output: int,
    target: NDArray[np.int32] | None = None,
    by_class: list[tuple[NDArray[Any], int, NDArray[np.float64]]] = ...,
    cells: list[tuple[NDArray[Any], Any, float]] = ...,
) -> tuple[NDArray[Any], bool]:
    """Rows x classes of log prior + log-likelihoods: as they are (JOINT), normalised (LOG_POSTERIOR, POSTERIOR), or
    the first best class of each row as int32 (ARGMAX), or the log of the sum over the classes, one a row (LOG_SUM). The
    flag tells whether a row has no posterior, and so is NaN.

    gaussians: (values: float64, float32 or integers of any stride; parameters, classes x 4: mean, the rest of the mean
    below its last bit, deviation, log constant); adds constant - ((x - mean - rest) / deviation)**2 / 2; NaN adds 0.
    A deviation of 0 is a point mass: the constant where x is the mean, else -inf.
    tables: (codes, table of (levels + 1) x classes): adds the row of the code; the last row stands for any code
    outside [0, levels), which is missing.
    integers: (values, lowest, table of (levels + 2) x classes): adds the row value - lowest; the last but one stands
    for any value outside or with a fraction, which is unseen; the last for NaN, which is missing.
    by_class: (values, lowest, table of (classes * levels + 1) x classes): the same for integers, with the levels once
    for each class that a row has in `target`; the last row stands for any value outside.
    cells: (values, a density, a weight): adds the weight times log(h_c t_c(x) + h t(x)), or in the normalised forms
    log(1 + h_c t_c(x) / (h t(x))); NaN adds 0, an infinite value -inf. A density is a `CellRuns`, or has the fields of
    `bayesbox.dist.number.cell_density.CellDensity`.
    extra: rows x classes, added as it is.
    A row whose classes are all -inf gives NaN in LOG_POSTERIOR and POSTERIOR, and 0 in ARGMAX: the caller decides.
    """

def leave_one_out_gaussians(
    gaussians: list[tuple[NDArray[Any], NDArray[np.float64], float, float]],
    target: NDArray[np.int32],
    classes: int,
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """(terms, doubtful): rows x classes of Gaussian log-densities of each row under the moments of all other rows.

    gaussians: (values, moments of (classes + 1) x 4: n, mean, rest of the mean, n * variance in units of scale, the
    whole column last; floor, scale). A row is doubtful where its own value makes up nearly all of a variance.
    """

def comoments(
    columns: list[NDArray[Any]],
    target: NDArray[np.int32],
    groups: int,
    weights: NDArray[np.float64] | None = None,
) -> tuple[ExactArray, ExactArray]:
    """(sums, groups x columns; sums of products, groups x pairs (i, j), i <= j) of the rows of each group, exactly.

    NaN adds nothing; a negative target leaves the row out. An infinite value raises as in `moments`.
    """

def joint_normals(
    columns: list[NDArray[Any]],
    rows: int,
    means: NDArray[np.float64],
    rests: NDArray[np.float64],
    factors: NDArray[np.float64],
    constants: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """Rows x normals: constant - |factor (x - mean - rest)|**2 / 2; None where a value is missing (NaN).

    means, rests: normals x columns. factors: (normals * columns) x columns, each lower triangular.
    """

class FactorModel:
    """Variables with so many states each, and tables over some of them."""

    @property
    def cells(self) -> int: ...
    def possible_states(self) -> NDArray[np.uint8]:
        """One for each state of all variables: 0 where the tables rule it out, whatever else is known."""

def factor_model(
    cards: NDArray[np.int64], members: NDArray[np.int64], ends: NDArray[np.int64], tables: list[NDArray[np.float64]]
) -> FactorModel:
    """members: the variables of all scopes one after another; ends: where each scope ends; tables: flat, row-major."""

class JunctionTree:
    """Exact posteriors for a set of observed variables; where they pass the limit it is not made and cannot run."""

    def __init__(
        self,
        model: FactorModel,
        observed: NDArray[np.uint8] | bytearray,
        soft: NDArray[np.uint8] | bytearray,
        log2_limit: float,
    ) -> None: ...
    @property
    def log2_cells(self) -> float: ...
    @property
    def cliques(self) -> int: ...
    def run(
        self, states: NDArray[np.int32], likelihoods: NDArray[np.float64] | None = None, threads: int = 1
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(posteriors, rows x all states; log P(evidence), one a row: -inf where it is impossible, with no posteriors)

        states: rows x variables; likelihoods: one for each state of all variables, read for the soft ones. Without them
        a soft variable has the state of its row, and none where that is below 0.
        """
    def run_once(self, states: dict[int, int]) -> tuple[list[float], float]:
        """One case without likelihoods: (posteriors of all states, log P(evidence)).

        Quicker than `run` where the tables are small.
        """

def elimination_order(
    cards: NDArray[np.int64], members: NDArray[np.int64], ends: NDArray[np.int64], stage: NDArray[np.int64]
) -> tuple[NDArray[np.int32], float]:
    """(order, log2 of the cells of all tables on the way): stage 0 goes first, then 1, ...; -1 stays."""

def cutset(
    cards: NDArray[np.int64],
    members: NDArray[np.int64],
    ends: NDArray[np.int64],
    stage: NDArray[np.int64],
    allowed: NDArray[np.uint8],
    log2_limit: float,
    log2_work: float,
) -> tuple[NDArray[np.int32], NDArray[np.int32], float]:
    """(variables to condition on, the order of the rest, log2 of its cells), so that these are within the limit.

    Only variables that are `allowed` are conditioned on. The search ends, above the limit, where all cases together
    have more cells than log2_work says.
    """

def loopy_posteriors(
    model: FactorModel,
    states: NDArray[np.int32],
    soft: NDArray[np.uint8],
    likelihoods: NDArray[np.float64] | None,
    sweeps: int,
    tolerance: float,
) -> tuple[NDArray[np.float64], float, float, int]:
    """(posteriors of all states, log P(evidence) by Bethe, -inf where it is impossible; residual, sweeps)

    Here and below: states, one a variable, negative where it is hidden; likelihoods, one for each state of all
    variables, read for the soft ones.
    """

def weighted_samples(
    model: FactorModel,
    states: NDArray[np.int32],
    soft: NDArray[np.uint8],
    likelihoods: NDArray[np.float64] | None,
    order: NDArray[np.int64],
    wanted: NDArray[np.int64],
    samples: int,
    seed: int,
    cells: int,
    kept: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float, float, NDArray[np.float64]]:
    """(sums of weights and of their squares, by state and then by cell of the joint of the wanted; both sums over all
    samples; the log of the unit of the weights; the logs of the `kept` largest weights, ascending). order: parents
    first, where table i is that of variable i; empty for a factor graph. cells: the most that a table made beforehand
    may have."""

class CaseSearch:
    """The cases of the variables that must be known for small tables, the weightiest first."""

    def __init__(
        self,
        model: FactorModel,
        states: NDArray[np.int32],
        soft: NDArray[np.uint8],
        likelihoods: NDArray[np.float64] | None,
        cells: int,
        bound_cells: int,
    ) -> None: ...
    @property
    def variables(self) -> NDArray[np.int64]: ...
    def next(self, count: int) -> NDArray[np.int32]:
        """Up to so many cases x variables: their states."""

    def log_rest(self) -> float:
        """log of an upper bound of the sum over all cases that were not given yet."""

def block_gibbs_means(
    model: FactorModel,
    states: NDArray[np.int32],
    soft: NDArray[np.uint8],
    likelihoods: NDArray[np.float64] | None,
    order: NDArray[np.int64],
    wanted: NDArray[np.int64],
    chains: int,
    burn_in: int,
    sweeps: int,
    seed: int,
    cells: int,
) -> tuple[NDArray[np.float64] | None, int, int]:
    """(means as of gibbs_means, the number of blocks, the variables of the largest). cells: of a table of a block."""

def gibbs_means(
    model: FactorModel,
    states: NDArray[np.int32],
    soft: NDArray[np.uint8],
    likelihoods: NDArray[np.float64] | None,
    order: NDArray[np.int64],
    wanted: NDArray[np.int64],
    chains: int,
    burn_in: int,
    sweeps: int,
    seed: int,
) -> tuple[NDArray[np.float64] | None, bool, float]:
    """(chains x all states and cells of the joint of the wanted: means, None where no start was found; whether a
    table of several hidden variables has a zero; independent draws that the starts are worth, 0 if unknown).
    order: as above, or empty where the model is not a network."""

def mean_field(
    model: FactorModel,
    states: NDArray[np.int32],
    soft: NDArray[np.uint8],
    likelihoods: NDArray[np.float64] | None,
    order: NDArray[np.int64],
    sweeps: int,
    tolerance: float,
    seed: int,
) -> tuple[NDArray[np.float64] | None, float, float, int]:
    """(beliefs of all states, None where no start was found; the bound of log P(evidence), its last change, sweeps)"""

def read_numbers(text: bytes, at: int, most: int, between: bytes) -> tuple[NDArray[np.float64], int]:
    """(decimals from byte `at` on, the byte behind the last): up to `most`, what is `between` and space passed over.
    It stops before anything else, and before a number that no double holds."""

class BifFile:
    """A file that was read; nothing is made of it before it is asked for."""

    name: str
    has_cycle: bool
    def variables(
        self,
    ) -> tuple[list[tuple[str, tuple[str, ...], tuple[str, ...], tuple[int, ...], int]], NDArray[np.float64]]:
        """(name, states, parents, shape, end of its cells) of each variable, and the cells of all."""

def read_bif(
    text: bytes, nodes: int, cells: int, tolerance: float, normalize: bool
) -> tuple[BifFile | None, tuple[str, int, bytes, str] | None]:
    """(the file, None), or (None, a fault: (what, byte, found, remedy)). Limits: nodes, cells of all tables; tolerance
    of a row's sum."""

class FamilyScore:
    """A score of structure learning: 0 log-likelihood less `parameter` for each free parameter, 1 Dirichlet with
    `parameter` in each cell, 2 BDeu with the equivalent sample size `parameter`. A counted row is worth `scale`."""

    def __init__(self, kind: int, parameter: float, scale: float, rows: int) -> None: ...
    def table(self, table: NDArray[np.int64], before: int, states: int, after: int) -> float:
        """The score of the middle axis of counts of before x states x after, given the other two."""

class CodeTable:
    """Columns of codes (uint8 or uint16, contiguous), each below its size; they are held, not copied.

    Sets of columns are given as one list of members and where each set ends. A dense table of a set is row-major.
    """

    def __init__(self, columns: list[NDArray[Any]], sizes: NDArray[np.int64]) -> None: ...
    @property
    def rows(self) -> int: ...
    def count(self, members: NDArray[np.int64], ends: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """How often each combination occurs, a flat table for each set, in one walk over the rows."""
    def score(
        self,
        members: NDArray[np.int64],
        ends: NDArray[np.int64],
        of: NDArray[np.int64],
        child: NDArray[np.int64],
        score: FamilyScore,
    ) -> NDArray[np.float64]:
        """The score of the member child[i] of the set of[i], given its others; -inf where the cells have no number."""
    def changes(
        self, child: int, parents: NDArray[np.int64], candidates: NDArray[np.int64], score: FamilyScore
    ) -> tuple[float, NDArray[np.float64]] | None:
        """(the score of a family, its scores with each candidate added or, where it is a parent, taken away).

        None where the tables would be too large.
        """
    def g_tests(
        self, members: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wilks' G and the degrees of freedom of the first two members of each set, given its others."""
    def exact(
        self,
        kind: int,
        parameter: float,
        most_parents: int,
        required: NDArray[np.int64],
        forbidden: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """The parents of each column in the best network, as bits; empty where none keeps to the rules."""

class ArcMoves:
    """A structure under search without arcs yet, and the best of the moves from it; matrices are flat, parent x child.

    required: 1 where an arc must stay; turnable: 1 where it may have either direction; marks: a random number per arc.
    """

    def __init__(
        self, nodes: int, required: NDArray[np.uint8], turnable: NDArray[np.uint8], marks: NDArray[np.int64]
    ) -> None: ...
    @property
    def total(self) -> float:
        """The sum of the scores of all families."""
    def toggle(self, parent: int, child: int) -> None:
        """Add an arc, or take it away."""
    def set_changes(self, child: int, score: float, gain: NDArray[np.float64]) -> None:
        """The score of a node's family, and what each change of one parent brings; -inf where that may not be."""
    def lower(self, child: int, by: float) -> None:
        """Lower the gains of a node."""
    def remember(self) -> None:
        """Put this structure among those that `best(fresh=True)` avoids."""
    def best(self, fresh: bool) -> tuple[int, int, int, float]:
        """(kind, parent, child, gain): 0 to add, 1 to delete, 2 to reverse; the gain is -inf where there is none."""
    def covered(self) -> list[tuple[int, int]]:
        """The turnable arcs whose direction leaves the score as it is, by child, then parent."""

def expected_counts(
    tree: JunctionTree, states: NDArray[np.int32], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(the expected counts of all tables of the model, one after another; log P(row)); states below 0 are holes.

    The variables that the tree observes have no holes; those that others' rows know are soft in it.
    """

def fill_holes(tree: JunctionTree, states: NDArray[np.int32], seed: int, first_row: int = 0) -> NDArray[np.int32]:
    """The rows with their holes drawn from P(holes | row); impossible rows keep theirs."""

class Vocabulary:
    """Words and their numbers, in the order given; the hash table has a key of its own."""

    def __init__(self, words: tuple[str, ...]) -> None: ...
    def __len__(self) -> int: ...

class Phrases:
    """What is a word: table holds for each code point the lower case of a word character, else 0.

    shortest: characters of a word; fewest and most: words of a phrase; then the words to pass over. With characters,
    runs of so many characters take the place of words. With places, each word has its place in front.
    """

    def __init__(
        self,
        table: NDArray[np.uint32],
        shortest: int,
        fewest: int,
        most: int,
        stop_words: tuple[str, ...],
        characters: bool,
        places: bool,
    ) -> None: ...

class WordCounts:
    """The words of documents by class, batch after batch."""

    def __init__(self) -> None: ...
    def __len__(self) -> int:
        """The number of distinct words."""

    def count(
        self,
        bytes: NDArray[np.uint8],
        offsets: NDArray[Any],
        target: NDArray[np.int32],
        classes: int,
        phrases: Phrases,
    ) -> None:
        """Count documents; one whose class is negative is left out, one of `classes` or more raises ValueError."""

    def merge(self, other: WordCounts) -> None:
        """Add what another has counted."""

    def prune(self, limit: int) -> int:
        """Keep so many of the most common words; how many were dropped."""

    def drop_phrases(self) -> int:
        """Keep single words alone; how many phrases were dropped."""

    def counted(
        self, order: NDArray[np.int64], most: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], ExactArray, ExactArray]:
        """(bytes and offsets of the words, sorted; classes x words: occurrences; classes x words: documents)

        order: the numbers of the classes, in the order of the result.
        """

def text_bytes(texts: Sequence[str | None]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """(The texts in UTF-8, one after another; where each begins, and where the last ends); None is empty."""

def plain_text_bytes(texts: Sequence[object]) -> tuple[NDArray[np.uint8], NDArray[np.int64]] | None:
    """The same of a list or a tuple; None where a value is not of type `str` itself, or is not valid Unicode."""

def wide_text_bytes(texts: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int64]] | None:
    """The same of an array of numpy's type U, of any stride; None where a text is not valid Unicode."""

def factorize_wide_texts(texts: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(codes of an array of numpy's type U in the order in which they come, the row in which each comes first)."""

def quoted(names: Sequence[str]) -> bytes:
    """Names as a line of JSON strings, in ASCII."""

def quotes_enclose_fields(text: memoryview | bytes, delimiter: str) -> bool:
    """Whether every quoted field of a delimited text ends with its closing quote."""

def delimited_lines(
    columns: list[tuple[NDArray[Any], NDArray[Any] | None, NDArray[np.uint8] | None]],
    rows: int,
    delimiter: str,
    escape: bool,
) -> bytes:
    """Rows as delimited text. A column is (numbers, None, present) or (bytes of texts, where each begins, present);
    present is a byte a row, or None where there are no holes. With `escape`, an apostrophe before a formula."""

def holds_pair(bytes: NDArray[np.uint8], first: int, second: int) -> bool:
    """Whether the second byte follows the first anywhere."""

def log_shares(over: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
    """Levels x classes: log(over) - log(under) of counts (classes x levels) and the sums of the classes."""

def left_out_words(
    starts: NDArray[np.int64],
    words: NDArray[np.integer[Any]],
    times: NDArray[np.float64],
    target: NDArray[np.integer[Any]],
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    everywhere: NDArray[np.float64] | None,
    size: float,
    added: float,
    complement: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """(documents x classes: the sums of log P(word) by the counts of all other documents; the words added up).

    Documents as compressed rows; counts are words x classes, totals those of classes, and everywhere how often each
    word is there at all, or None where all words stay; `size` words are smoothed by `added`. None where a document was
    never learned.
    """

def strength_loss(
    sums: NDArray[np.float64],
    factors: NDArray[np.float64],
    prior: NDArray[np.float64],
    target: NDArray[np.integer[Any]],
    strength: float,
) -> tuple[float, float, float, NDArray[np.float64]]:
    """(the mean log loss of prior + strength * factors * sums, its slope and curvature by strength; each loss)."""

def text_keys(bytes: NDArray[np.uint8], offsets: NDArray[Any]) -> NDArray[np.uint64]:
    """A number for each text that follows from its bytes alone."""

def rank_texts(
    bytes: NDArray[np.uint8], offsets: NDArray[Any]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct texts in their order, as bytes and where each begins; and the rank of every text."""

def list_terms(
    bytes: NDArray[np.uint8], offsets: NDArray[Any], vocabulary: Vocabulary, phrases: Phrases
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """The known words of each document with their counts, as compressed rows: starts, words, counts."""

def score_words(
    bytes: NDArray[np.uint8],
    offsets: NDArray[Any],
    vocabulary: Vocabulary,
    weights: NDArray[np.float64],
    once: bool,
    phrases: Phrases,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(documents x classes: the sums of the weights (words x classes) of the known words; how many were added up)

    once: a word that occurs several times in a document is added once.
    """

class MailReader:
    """Reads the common forms of mail.

    names: the fields of the head that are read; charsets: the names of encodings, first so many of UTF-8, then those
    with a table of 256 code points each; references: the names of HTML references, each followed by its text.
    """

    def __init__(
        self,
        names: NDArray[np.uint8],
        name_offsets: NDArray[Any],
        charsets: NDArray[np.uint8],
        charset_offsets: NDArray[Any],
        tables: NDArray[np.uint32],
        utf8_names: int,
        references: NDArray[np.uint8],
        reference_offsets: NDArray[Any],
    ) -> None: ...
    def texts(
        self, data: bytes, starts: NDArray[np.int64], stops: NDArray[np.int64], are_messages: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
        """(the texts in UTF-8, their offsets, 1 for each that is unusual and was left out)"""

    def without_markup(self, page: bytes) -> bytes:
        """The text of an HTML page, both in UTF-8."""

def is_mailbox(data: Any) -> bool:
    """Whether bytes begin like an mbox: the line that separates messages, and then a field."""

def is_message(data: Any) -> bool:
    """Whether bytes begin like a message: lines of fields, one of those that every message may have among them."""

def read_small_files(
    paths: NDArray[np.uint8], ends: NDArray[np.int64], passed: NDArray[np.uint8], largest: int, enough: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """(the bytes of files one after another, where each begins, what each is), until there are `enough` bytes.

    A file is 0, a text, 1, a message, or 2, to be read by another reader: one larger than `largest`, compressed, an
    mbox, one that cannot be read, or one that is to be passed over.
    """

def cut_mailbox(data: Any, last: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """(where each message begins, where it ends, where the message begins that is not complete without more data)

    data begins with a separator; last: nothing more is to come.
    """

def chain_score(
    log_start: NDArray[np.float64],
    log_transition: NDArray[np.float64],
    log_terms: NDArray[np.float64],
    codes: NDArray[np.int32] | None,
    offsets: NDArray[np.int64],
    threads: int = 1,
) -> NDArray[np.float64]:
    """The log-likelihood of each sequence; -inf where it is impossible, 0 where it is empty.

    log_start: states. log_transition: states x states, from row to column. log_terms: terms x states, log P(step |
    state) of the distinct steps; `codes` names the row of each step (None: step t has row t). offsets: where each
    sequence begins, and the number of steps at the end. No logarithm is NaN or +inf. Any
    number of threads gives the same bits.
    """

def chain_posterior(
    log_start: NDArray[np.float64],
    log_transition: NDArray[np.float64],
    log_terms: NDArray[np.float64],
    codes: NDArray[np.int32] | None,
    offsets: NDArray[np.int64],
    filtered: bool = False,
    threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(log-likelihoods, steps x states of P(state | sequence)); filtered: given the steps so far only.

    The rows of an impossible sequence are zeros.
    """

def chain_expect(
    log_start: NDArray[np.float64],
    log_transition: NDArray[np.float64],
    log_terms: NDArray[np.float64],
    codes: NDArray[np.int32] | None,
    offsets: NDArray[np.int64],
    threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(log-likelihoods, and the expected counts: starts, states x states of transitions, terms x states)."""

def chain_best(
    log_start: NDArray[np.float64],
    log_transition: NDArray[np.float64],
    log_terms: NDArray[np.float64],
    codes: NDArray[np.int32] | None,
    offsets: NDArray[np.int64],
    threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """(the log-probability of the best path of each sequence, the path); ties go to the first state."""

def mdl_cuts(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Fayyad and Irani's cuts of a column: counts of distinct values (ascending) x classes; a cut is the position of
    the last value below it."""

def modl_cuts(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """The same by Boulle's MODL criterion; a best partition where the column has at most 256 runs."""

def modl_groups(counts: NDArray[np.float64]) -> NDArray[np.int32]:
    """The group of each level by the MODL criterion for groupings; a best one up to 10 levels. Counts: levels x
    classes."""

def matrix_product(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product of two matrices, each sum in one order: the same bits on every processor."""

def kernel_log_density(
    x: NDArray[np.float64], values: NDArray[np.float64], weights: NDArray[np.float64], width: float
) -> NDArray[np.float64]:
    """log of sum w_i N(x | v_i, width) / sum w_i at each x; values ascend, weights are above zero."""

def logarithms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The natural logarithms, the same bits on every processor: -inf of zero, NaN of negative numbers."""

def exponentials(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp of numbers that are not above zero, the same bits on every processor; NaN of others."""

def log_normal_cells(
    cells: NDArray[np.float64], mean: NDArray[np.float64], rest: NDArray[np.float64], deviation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """log P(cell - 1/2 < x < cell + 1/2) for x ~ N(mean + rest, deviation), cells x normals."""

def exp(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log1p(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log2(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def exp2(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def cosh(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def erf(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def erfc(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def lgamma(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_gamma_step(values: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_student_heights(df: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log of the height at its middle of Student's t with a scale of 1, for degrees of freedom above 0."""

class CellTree:
    """The tree over the cells of a grid, by their keys."""

    def __init__(
        self, keys: NDArray[np.int64], labels: NDArray[np.int32], counts: NDArray[np.float64], classes: int
    ) -> None: ...
    def log_ratios(
        self,
        keys: NDArray[np.int64],
        shift: NDArray[np.float64],
        scale: NDArray[np.float64],
        df: NDArray[np.float64],
        base: NDArray[np.float64],
        origin: NDArray[np.float64],
        own: NDArray[np.int32],
        unit: float,
        is_log: bool,
    ) -> NDArray[np.float64]:
        """The logs of ratios in the cells of keys, each without one value of the class `own`."""

class CellRuns:
    """The robust density of a column, as `cell_runs` finds it: a term of `score`, a column of a `RowScorer`."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first keys of the runs of cells with one ratio, ascending."""

    @property
    def log_ratios(self) -> NDArray[np.float64]:
        """What each density is multiplied by: densities x runs."""

    @property
    def size(self) -> int:
        """How many runs there are."""

    def without_zeros(self) -> CellRuns:
        """The same without what zero has apart."""

def cell_runs(
    grids: list[GridCounts],
    with_zeros: NDArray[np.float64],
    shift: NDArray[np.float64],
    scale: NDArray[np.float64],
    df: NDArray[np.float64],
    base: NDArray[np.float64],
    is_log: NDArray[np.float64],
    log_rest: NDArray[np.float64],
    at_loc: NDArray[np.float64],
    own: NDArray[np.float64],
    zeros: NDArray[np.float64],
) -> list[CellRuns]:
    """The robust density of each grid: a t of each class and, last, of a class of no rows,
    given as columns x densities, with log_rest, at_loc and own added to its logs. Where with_zeros is 0, zero is
    apart and has the log-probabilities `zeros`, columns x classes."""

def student_below(z: NDArray[np.float64], df: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(T < z) of Student's t with these degrees of freedom, for z of at most 0; above it 1/2."""

def count_pairs(
    columns: list[NDArray[Any]],
    sizes: NDArray[np.int64],
    target: NDArray[np.int32],
    classes: int,
    most_cells: int,
) -> NDArray[np.int64]:
    """Counts of all columns of codes and of all their pairs, one after the other: for each column i classes x sizes[i],
    then for each later column j classes x sizes[i] x sizes[j]. A code outside [0, size) is missing; a pair holds the
    rows that have both. ValueError where a column has more than 255 levels, or all together more than `most_cells`.
    """

def score_one_dependence(
    columns: list[NDArray[np.int32]],
    rows: int,
    first_slot: NDArray[np.int64],
    log_class: NDArray[np.float64],
    prior: NDArray[np.float64],
    naive: NDArray[np.float64],
    table: NDArray[np.float64],
    is_parent: NDArray[np.uint8],
) -> NDArray[np.float64]:
    """Rows x classes of the log of the mean over the parents i of P(c, x_i) times the product of P(x_j | c, x_i).

    Level a of column j has the slot first_slot[j] + a. Flat: prior, slots x classes, log P(c, x_i); table, slots x
    slots x classes, log P(x_j | c, x_i), 0 within a column; naive, slots x classes, log P(x_j | c), which with
    log_class judges a row none of whose values is a parent. A code outside a column's slots is missing.
    """

class Forest:
    """The questions of some trees; counts are kept beside it."""

    @property
    def trees(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    def count(self, codes: NDArray[np.uint16], target: NDArray[np.int32], classes: int) -> NDArray[np.int64]:
        """Nodes x classes: the rows that come to each node. Codes are columns x rows, 0xFFFF is missing."""
    def ask(self, codes: NDArray[np.uint16], counts: NDArray[np.int64], weight: float) -> NDArray[np.float64]:
        """Rows x classes: the sum of the trees' probabilities."""
    def table(self, counts: NDArray[np.int64], weight: float) -> NDArray[np.float64]:
        """What each node says, nodes x classes, for `ask_values`."""

    def ask_without(
        self, codes: NDArray[np.uint16], target: NDArray[np.int32], counts: NDArray[np.int64], weight: float
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """The same by the trees that were not grown on the row, its unit taken out; and how many these are."""
    def ask_values(self, codes: NDArray[np.uint16], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows x classes: the sum over the trees of the values (nodes x classes) of the leaves they come to."""
    def sum_values(
        self,
        codes: NDArray[np.uint16],
        target: NDArray[np.int32],
        values: NDArray[np.float64],
        start: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same from a start (a number a class), and the log loss of all rows after each tree."""
    def arrays(self) -> dict[str, NDArray[np.int64]]: ...
    @staticmethod
    def of(
        root: NDArray[np.int64],
        column: NDArray[np.int64],
        threshold: NDArray[np.int64],
        child: NDArray[np.int64],
        missing_left: NDArray[np.int64],
        words: NDArray[np.int64],
        words_of: NDArray[np.int64],
    ) -> Forest:
        """The forest of its arrays; every index is checked."""

def grow_forest(
    codes: NDArray[np.uint16],
    target: NDArray[np.int32],
    classes: int,
    levels: NDArray[np.int64],
    ordered: NDArray[np.uint8],
    trees: int,
    tried: int,
    sample: int,
    drawn: bool,
    seed: int,
) -> Forest:
    """Trees that ask about codes; the same for the same seed."""

def boost_forest(
    codes: NDArray[np.uint16],
    target: NDArray[np.int32],
    start: NDArray[np.float64],
    levels: NDArray[np.int64],
    ordered: NDArray[np.uint8],
    rounds: int,
    leaves: int,
    rate: float,
    pull: float,
    share: float,
    seed: int,
) -> tuple[Forest, NDArray[np.float64]]:
    """Trees that are added up, and the values of their nodes (nodes x classes); the same for the same seed."""

def has_avx2() -> bool: ...
def instruction_sets() -> list[str]:
    """Those of "baseline", "avx2" and "avx512" that this processor has, the widest last."""

def keep_freed_memory() -> None:
    """From now on keep memory that was given back for the next piece of work, and do not hand it to the system."""

def use_avx2(enabled: bool) -> bool:
    """Switch all that is above the baseline off or on (for tests and measurements); returns what is now in force."""

def use_instructions(name: str) -> str:
    """Use these instructions, or the widest below them that there are; returns the name of those in force."""
