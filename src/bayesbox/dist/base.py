"""The base class of all families of distributions, and the plan of terms that the core sums."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox import _core
from bayesbox.dist import functions
from bayesbox.errors import BadOption, CannotSample, NotLinear
from bayesbox.schema.arrays import AnyArray, NumberArray
from bayesbox.schema.columns import Column
from bayesbox.schema.columns import Columns as Columns

if TYPE_CHECKING:
    from bayesbox.dist.expression import Expression, PmmlDensity
    from bayesbox.dist.factor import Factor, NoFactor
    from bayesbox.dist.fit import FitOptions
    from bayesbox.dist.learned import LearnedTable
    from bayesbox.dist.leave_one_out import LeaveOneOutPlan
    from bayesbox.dist.number.cell_density import CellDensity
    from bayesbox.dist.number.cumulative import Cumulative
    from bayesbox.dist.together import CompilesTogether
    from bayesbox.tally.book import Book

ROUNDING = 1e-12  # tolerance of a sum of probabilities

Doubles = NDArray[np.float64]


class Marks(NamedTuple):
    """Values to mark: their names, and a column with each of them followed by a missing one."""

    labels: tuple[str, ...]
    values: Column


class LevelTable(NamedTuple):
    """log P(level | class), levels x classes, and that of a missing value, zeros if it is ignored."""

    levels: tuple[str, ...]
    log_p: Doubles
    log_missing: Doubles

    def shares(self) -> Doubles:
        """P(level | class), normalised in each class; a level that is ignored as impossible in every class has 0."""
        shares: Doubles = functions.exp(self.log_p)
        ignored = (self.log_p == 0).all(axis=1)
        if ignored.any() and not ignored.all():
            shares[ignored] = 0.0
        sums = shares.sum(axis=0, keepdims=True)
        even = np.full_like(shares, 1 / len(shares))
        return np.where(sums > 0, shares / np.where(sums > 0, sums, 1.0), even)

    def likely(self, probability: float) -> list[tuple[str, ...]]:
        """The smallest set of levels with this total probability in each class, the most probable first.

        >>> table = LevelTable(("red", "green", "blue"), np.log([[0.2], [0.7], [0.1]]), np.zeros(1))
        >>> table.likely(0.5), table.likely(0.85)
        ([('green',)], [('green', 'red')])
        """
        found = []
        for shares in self.shares().T:
            order = np.argsort(-shares, kind="stable")
            enough = int(np.searchsorted(np.cumsum(shares[order]), probability * (1 - ROUNDING))) + 1
            found.append(tuple(self.levels[place] for place in order[:enough]))
        return found


class Interval(NamedTuple):
    """An interval from `low` to `high`, one value per class in each."""

    low: Doubles
    high: Doubles


class UnseenNote(NamedTuple):
    """A note about an unseen level: the known levels, and whether the smoothing rule gives it a probability."""

    known: tuple[str, ...]
    smoothed: bool


class Linear(NamedTuple):
    """A linear function of the values of some columns: the weights and a constant."""

    weights: dict[str, list[float]]
    constant: float


class Distribution(ABC):
    """P(x | class) for one column, or jointly for a group of columns: everything about a family.

    A family needs `columns`, `classes` and `log_prob`. The rest is derived from these; a family overrides methods to be
    faster, exact or easier to read.
    """

    family: ClassVar[str] = ""
    """The name of the family in columns, options and files; set on registration."""

    looks_up_levels: ClassVar[bool] = False
    """Whether it only has the counted levels; otherwise its formula gives other values a probability too."""

    fitted_together: CompilesTogether | None = None
    """What it shares with the distributions that were fitted with it, if the core takes them together."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Its columns."""

    @property
    @abstractmethod
    def classes(self) -> int:
        """The number of classes."""

    @abstractmethod
    def log_prob(self, values: Any) -> Doubles:
        """log P(x | class), rows x classes, for the values of its column, or a mapping of columns if it has several.

        A row of zeros is not informative about the class.
        """

    def parameters(self) -> dict[str, Doubles]:
        """The estimated parameters by name, each an array with one value per class."""
        return {}

    def table_bytes(self) -> int:
        """The memory of its tables during prediction, if that does not follow from the size of its tally."""
        return 0

    @property
    def free_parameters(self) -> int:
        """The number of free parameters over all classes."""
        return sum(each.size for each in self.parameters().values())

    @property
    def all_parameters(self) -> int:
        """The number of parameters over all classes, including those determined by summing to one."""
        return self.free_parameters if self.level_number is None else self.level_number * self.classes

    @property
    def level_number(self) -> int | None:
        """The number of levels, including missing if it is one; None if there are no levels."""
        return None

    def level_table(self) -> LevelTable | None:
        """Its table of levels; None if there are no levels."""
        return None

    def mean_and_std(self) -> tuple[Doubles, Doubles] | None:
        """Mean and standard deviation of its values in each class; None if unknown."""
        return None

    # -- its values ------------------------------------------------------------------------------------------------

    unsampled: ClassVar[str] = "its values have no scale"  # why values cannot be sampled

    @cached_property
    def cumulative(self) -> Cumulative | None:
        """P(X <= x | class), by integration of its density; None if it is not a density of a number."""
        from bayesbox.dist.number.cumulative import Cumulative

        if not (self.is_scale and self.has_density and len(self.columns) == 1):
            return None
        return Cumulative(self.log_prob, self.family or type(self).__name__, self.parameters().values())

    def quantile(self, share: float) -> Doubles | None:
        """The quantile of a probability, by class; None if values are not numbers."""
        if self.cumulative is None:
            return None
        return self.cumulative.quantile(np.full(self.classes, share), np.arange(self.classes))

    def interval(self, probability: float = 0.9) -> Interval | None:
        """The central interval with this probability; None if values are not numbers."""
        require_share(probability)
        low, high = self.quantile((1 - probability) / 2), self.quantile((1 + probability) / 2)
        return None if low is None or high is None else Interval(low, high)

    def likely_levels(self, probability: float = 0.9) -> list[tuple[str, ...]] | None:
        """The smallest set of levels with this total probability in each class, the most probable first; None without
        levels."""
        require_share(probability)
        table = self.level_table()
        return None if table is None else table.likely(probability)

    def sample(self, random: np.random.Generator, classes: NDArray[np.int64]) -> list[object]:
        """A sampled value for each of these classes, by inversion of the cumulative distribution."""
        if self.cumulative is None:
            raise CannotSample(self.family or type(self).__name__, self.unsampled)
        drawn: list[object] = self.cumulative.quantile(random.random(len(classes)), classes).tolist()
        return drawn

    def unseen(self, level: str) -> UnseenNote | None:  # noqa: ARG002
        """A note if a level is unseen; None if it was seen, or if there are no levels."""
        return None

    def describe(self) -> str:
        """The family in a few words; empty if the type of its column already says it."""
        return ""

    # -- fitting ---------------------------------------------------------------------------------------------------

    silent: ClassVar[str] = "all its values are equal"  # why a column is ignored if `fit` returns None
    fits_columns: ClassVar[bool] = False  # whether it has `fit_columns`, which fits many columns at once

    @classmethod
    def fit(cls, column: str, tally: Any, options: FitOptions) -> Distribution | None:
        """The distribution fitted to the tally of its column; None if it is not informative about the class."""
        raise NotImplementedError

    @classmethod
    def fit_together(cls, tallies: Mapping[str, Any], options: FitOptions) -> Distribution:
        """The distribution fitted to the tallies of several columns."""
        raise NotImplementedError

    takes_prior: ClassVar[bool] = False  # whether it is the normal density, which a prior worth some rows can stabilise

    def with_prior(self, tally: Any, floor: float, rows: float) -> Distribution:  # noqa: ARG002
        """The most probable density under a prior worth some rows of the whole column; other families are unchanged."""
        return self

    def leave_one_out(self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions) -> None:  # noqa: ARG002
        """Add the terms of training rows, each under the tally of all other rows; by default by refitting for each."""
        if any(name in columns for name in self.columns):
            plan.doubtful[:] = True

    def averaged(self, tally: Any, options: FitOptions, inclusion: float) -> tuple[Distribution, float] | None:  # noqa: ARG002
        """The model average with the pooled distribution of the column, and the probability that the class matters.

        `inclusion` is the prior of that probability. None if the column is not informative; an error if the family has
        no marginal likelihood.
        """
        raise self.not_averaged(type(self).__name__)

    def not_averaged(self, name: str) -> BadOption:
        """The error of a family without a marginal likelihood."""
        return BadOption(
            f"column `{self.columns[0]}` has a density without a marginal likelihood, so it cannot be averaged over",
            found=name,
            remedy="Use numeric='gaussian', 'student' or bins, such as 'mdl'; declare counts as real",
        )

    def leave_one_out_averaged(
        self, plan: LeaveOneOutPlan, columns: Columns, book: Book, options: FitOptions, inclusion: float
    ) -> None:
        """Add the terms of training rows, each under the model average of all other rows."""
        raise NotImplementedError

    # -- display ---------------------------------------------------------------------------------------------------

    is_scale: ClassVar[bool] = False  # whether its values are numbers
    least: ClassVar[float] = -math.inf  # the smallest possible value
    has_density: ClassVar[bool] = False  # whether it can be drawn as a curve

    def shown_tally(self, tally: Any) -> Any:
        """The tally of its column for display."""
        return tally

    def by_column(self) -> Iterator[Distribution]:
        """The distribution of each of its columns, if their terms are separate."""
        yield self

    def work(self, columns: Columns, book: Book, options: FitOptions) -> Iterator[Factor | NoFactor]:  # noqa: ARG002
        """The factor of each of its columns for one row, with the counts behind it; or why the column is ignored."""
        from bayesbox.dist.factor import Factor, Logged

        terms = self.terms(columns, 1)[0].tolist()
        name = ", ".join(self.columns)
        yield Factor(f"P({name} | class)", ("",) * len(terms), tuple(map(Logged, terms)))

    def learned(self, book: Book, options: FitOptions, most: int | None) -> Iterator[LearnedTable]:  # noqa: ARG002
        """Everything learned about its columns: one row per level (the most common if there are more than `most`) or
        parameter."""
        from bayesbox.dist.learned import LearnedTable, level_rows, most_common_places, parameter_rows

        name, table = ", ".join(self.columns), self.level_table()
        if table is None:
            yield LearnedTable(name, parameter_rows(name, self.parameters(), self.classes), about=self.describe())
            return
        places = most_common_places(table.shares().sum(axis=1), most)
        titles = [f"P({name}={table.levels[place]} | class)" for place in places.tolist()]
        rows = level_rows(titles, table.log_p[places], None)
        yield LearnedTable(name, rows, len(table.levels) - len(places), self.describe())

    def marks(self) -> Marks | None:
        """The values that a nomogram marks; None if there are none, or if they are numbers."""
        return None

    def special_values(self) -> Doubles:
        """Numbers that must be marked in any case."""
        return np.empty(0)

    def curve(self, low: float, high: float, points: int) -> tuple[Doubles, Doubles]:
        """Points from `low` to `high`, and the density there, points x classes."""
        share = np.linspace(0.0, 1.0, points)
        x = low * (1 - share) + high * share
        return x, functions.exp(self.planned({self.columns[0]: x}, points).run(_core.JOINT))

    def linear(self, one: int, zero: int) -> Linear:  # noqa: ARG002
        """Its log-odds of two classes as a linear function of its values."""
        raise NotLinear(f"column `{self.columns[0]}` is a number or a text: its term is not linear")

    # -- many rows -------------------------------------------------------------------------------------------------

    def add_to(self, plan: Plan, columns: Columns) -> None:
        """Add the log-probabilities of these rows to the plan; an absent column is missing in every row."""
        if len(self.columns) > 1:
            plan.add_terms(self.log_prob(columns))
        elif self.columns[0] in columns:
            plan.add_terms(self.log_prob(columns[self.columns[0]]))

    def planned(self, columns: Columns, rows: int) -> Plan:
        """Its terms for these rows, in a new plan."""
        plan = Plan(rows, np.zeros(self.classes))
        self.add_to(plan, columns)
        return plan

    def compiled(self, weight: float) -> tuple[object, ...] | None:  # noqa: ARG002
        """Its factor to the power of a weight for `_core.RowScorer`, which scores rows one at a time.

        None if the core does not support the family: its terms are then computed in Python, row by row.
        """
        return None

    def terms(self, columns: Columns, rows: int) -> Doubles:
        """Its contribution to the joint log-probability of these rows, rows x classes; +inf if a point mass is hit."""
        plan = self.planned(columns, rows)
        found: Doubles = plan.run(_core.JOINT)
        if plan.point_mass_hits is not None:
            found = np.where((plan.point_mass_hits > 0) & ~np.isneginf(found), np.inf, found)
        return found

    # -- exported -------------------------------------------------------------------------------------------------

    def expression(self) -> Expression | None:
        """log P(x | class) as an expression tree for SQL and ONNX; None if it cannot be exported.

        Terms that are equal in every class may be omitted. Families import `dist.expression` inside this method, since
        training and prediction do not need it.
        """
        return None

    def pmml_density(self) -> PmmlDensity | None:
        """The density in PMML's terms; None if PMML does not have it. A lookup table does not need it."""
        return None


class Plan:
    """The terms of one batch, which the core sums in one pass over the rows.

    `point_mass_hits` counts, for each row and class, how often a value hit a point mass: an infinite density, which
    outranks every finite one. It exists only if a model has point masses.
    """

    def __init__(self, rows: int, log_prior: Doubles) -> None:
        self.rows = rows
        self.prior = np.array(log_prior, dtype=np.float64)
        self.gaussians: list[tuple[NumberArray, Doubles]] = []
        self.tables: list[tuple[NumberArray, Doubles]] = []
        self.integers: list[tuple[NumberArray, int, Doubles]] = []
        self.by_class: list[tuple[NumberArray, int, Doubles]] = []
        self.cells: list[tuple[NumberArray, CellDensity | _core.CellRuns, float]] = []  # the last is a weight
        self.target: NDArray[np.int32] | None = None  # the classes of the rows, for tables by class
        self.extra: Doubles | None = None
        self.point_mass_hits: NDArray[np.int64] | None = None
        self.impossible = False  # whether the last run found a row without a posterior (NaN)
        self.watch = False  # whether unseen levels give NaN in number lookups of the core
        self.watched = False  # whether there is such a table

    @property
    def classes(self) -> int:
        return len(self.prior)

    def add_constant(self, term: Doubles) -> None:
        """Add the same term to every row."""
        self.prior = self.prior + term

    def add_terms(self, terms: Doubles) -> None:
        """Add precomputed terms, rows x classes."""
        self.extra = terms if self.extra is None else self.extra + terms

    def add(self, other: Plan, weight: float) -> None:
        """Add the terms of another plan of the same rows, times a positive weight."""
        self.prior = self.prior + weight * other.prior
        for values, normals in other.gaussians:  # a power of a normal is a wider normal
            scaled = np.column_stack([normals[:, :2], normals[:, 2] / math.sqrt(weight), weight * normals[:, 3]])
            self.gaussians.append((values, scaled))
        self.tables += [(codes, weight * table) for codes, table in other.tables]
        self.integers += [(codes, lowest, weight * table) for codes, lowest, table in other.integers]
        self.by_class += [(codes, lowest, weight * table) for codes, lowest, table in other.by_class]
        self.cells += [(values, density, weight * own) for values, density, own in other.cells]
        if other.extra is not None:
            self.add_terms(weight * other.extra)
        if other.point_mass_hits is not None:
            self.add_point_masses(other.point_mass_hits > 0)

    def add_integers(self, values: NumberArray, lowest: int, rows: Doubles, unseen: NDArray[np.bool_]) -> None:
        """Add a table that the core looks up by number; `unseen` marks the rows of the table without a known level."""
        if self.watch and not rows[unseen].any():  # if such a level is ignored
            self.watched = True
            rows = np.where(unseen[:, None], np.nan, rows)
        self.integers.append((values, lowest, rows))

    def add_point_masses(self, hits: NDArray[np.bool_]) -> None:
        """Add point masses, rows x classes: where a value equals the only value of a class."""
        counts = hits.astype(np.int64)
        self.point_mass_hits = counts if self.point_mass_hits is None else self.point_mass_hits + counts

    def run(self, output: int) -> AnyArray:
        """The sums in one of the core's output forms; the caller handles point masses."""
        answer, self.impossible = _core.score(
            self.rows,
            self.prior,
            self.gaussians,
            self.tables,
            self.integers,
            self.extra,
            output,
            self.target,
            self.by_class,
            self.cells,
        )
        return answer


def require_share(probability: float) -> None:
    """Raise an error if the probability of an interval is not between 0 and 1.

    >>> require_share(90)
    Traceback (most recent call last):
    bayesbox.errors.BadOption: probability must be above 0 and below 1, got 90
    """
    if not 0 < probability < 1:
        raise BadOption("probability must be above 0 and below 1", found=probability)


def ignored_where_impossible(log_p: Doubles) -> Doubles:
    """The logs, levels x classes, with 0 for a level that is impossible in every class, so not informative."""
    if log_p.size == 0 or log_p.min() > -np.inf:
        return log_p
    nothing = np.isneginf(log_p)
    return np.where(nothing.all(axis=-1, keepdims=True), 0.0, log_p)
