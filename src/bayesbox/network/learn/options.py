"""The options for learning a network; parameters, their documentation and the command are generated from them.

The modules that implement them are imported when a value is parsed, so that the command can show its help without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbox.described import Remedy
from bayesbox.display.progress import Progress, require_progress
from bayesbox.errors import BadOption
from bayesbox.schema.options import Options, option, options
from bayesbox.schema.takes import AnyText, OneOf, RealNumber, Takes, TextList, WholeNumber

if TYPE_CHECKING:
    from bayesbox.network.learn.scores import Score
    from bayesbox.network.learn.tables import TableRules

METHODS = ("hill", "tabu", "order", "exact", "chow-liu", "tan", "pc")
CLIMBING = ("hill", "tabu")
USED_BY = {
    "max_parents": (*CLIMBING, "order", "exact"),
    "restarts": (*CLIMBING, "order"),
    "patience": CLIMBING,
    "alpha": ("pc",),
    "max_given": ("pc",),
}
"""The options that not every method uses, and the methods that do."""
DEFAULT_BINS = "frequency:3"
MOST_BYTES = 1 << 31  # of codes held in memory

Arc = tuple[str, str]
ArcLike = str | Sequence[object]
"""An arc: "rain->grass", or a pair."""


# -- the types of values ---------------------------------------------------------------------------------------------


class TakesScore(AnyText):
    """A score or its name."""

    def __init__(self) -> None:
        super().__init__('"bic", "aic", "loglik", "k2", "bdeu:1" or "dirichlet:0.5"', metavar="SCORE")

    def parse(self, name: str, given: str | Score) -> Score:  # noqa: ARG002
        from bayesbox.network.learn.scores import Score

        return Score.of(given)


class TakesArcs(Takes):
    """Arcs, one or several."""

    metavar = "A->B"
    several = True

    def __init__(self) -> None:
        super().__init__('list of "a->b" or (a, b)')

    def parse(self, name: str, given: Iterable[ArcLike]) -> tuple[Arc, ...]:  # noqa: ARG002
        from bayesbox.network.learn.arcs import arc_of

        return tuple(arc_of(arc) for arc in ([given] if isinstance(given, str) else given))


class TakesTiers(TextList):
    """Lists of columns in order, or None."""

    metavar = "COLUMN,..."
    several = True
    in_groups = True

    def __init__(self) -> None:
        super().__init__("list of lists of columns", none=True)

    def parse(
        self,
        name: str,  # noqa: ARG002
        given: Iterable[str | Iterable[object]] | None,
    ) -> tuple[tuple[str, ...], ...] | None:
        if given is None:
            return None
        return tuple((tier,) if isinstance(tier, str) else tuple(str(each) for each in tier) for tier in given)


class TakesNames(TextList):
    """Names of nodes, or a single name."""

    metavar = "NODE,..."
    several = True

    def parse(self, name: str, given: str | Iterable[str]) -> tuple[str, ...]:  # noqa: ARG002
        return (given,) if isinstance(given, str) else tuple(given)


class TakesLevel(RealNumber):
    """A level of significance between 0 and 1, or None."""

    metavar = "LEVEL"

    def __init__(self) -> None:
        super().__init__(0, 1, above=True, said="alpha must be a significance level between 0 and 1", none=True)

    def parse(self, name: str, given: object) -> object:
        found = super().parse(name, given)
        if found == 1:
            raise BadOption(self.said, found=given)
        return found


class TakesTableRules(Takes):
    """A smoothing rule, also `bdeu:10` and `k2`; a mapping of rules by node; None if that is allowed."""

    metavar = "RULE"

    def __init__(self, *, none: bool = False) -> None:
        super().__init__(f"rule of `bayesbox.rules`, its name, mapping of node to rule{', or None' if none else ''}")
        self.none = none

    def parse(self, name: str, given: object) -> TableRules | None:  # noqa: ARG002
        from bayesbox.network.learn.tables import TableRules

        return None if given is None and self.none else TableRules.of(given)


class TakesCuts(AnyText):
    """A binning rule, or a number of bins of equal width."""

    def __init__(self) -> None:
        super().__init__('"width:3", "frequency:3" or int', metavar="width:N|frequency:N")

    def parse(self, name: str, given: str | int) -> str | int:  # noqa: ARG002
        from bayesbox.network.learn.survey import cuts_by

        cuts_by(given)
        return given


# -- the options -----------------------------------------------------------------------------------------------------


def bins_option(*, command: bool) -> Any:
    """The option of how numbers are binned."""
    return option(
        TakesCuts(),
        default=DEFAULT_BINS,
        command=command,
        help="How numbers are binned; integers with up to 10 distinct values are kept as they are.",
    )


class TakesProgress(Takes):
    """A function of three arguments, or None."""

    def __init__(self) -> None:
        super().__init__("function of share, seconds left and text, or None")

    def parse(self, name: str, given: Any) -> object:  # noqa: ARG002
        """The function; BadOption if it cannot be called."""
        require_progress(given)
        return given


def progress_option() -> Any:
    """The option of a progress callback."""
    return option(
        TakesProgress(),
        default=None,
        command=False,
        help="Called with the share done (None if unknown), the seconds left and a description.",
    )


def seed_option() -> Any:
    """The option of a random seed; the command has it for other actions as well."""
    return option(WholeNumber(0), default=0, command=False, help="The random seed.")


@options
class RowOptions(Options):
    """How rows are read."""

    columns: Mapping[Any, object] | None = option(
        Takes("mapping of column name to kind, or None"),
        default=None,
        command=False,
        help="The types of columns, where they are not detected as wanted: Category([...]), 'flag'.",
    )
    na: Sequence[str] = option(
        Takes("list of str"), default=(), command=False, help="Values in files that mean missing."
    )
    most_bytes: int = option(
        WholeNumber(0),
        default=MOST_BYTES,
        command=False,
        help="If the coded rows exceed this many bytes, they are not held in memory: each step reads the source once.",
    )


@options
class NodeRowOptions(RowOptions):
    """How rows are read as states of the nodes of a network."""

    bins: str | int = bins_option(command=False)  # the states of a network that was read are known
    weight: str | None = option(
        AnyText("column", none=True),
        default=None,
        command=False,
        help="A column of weights: a row counts as this many rows.",
    )
    hidden: str | Sequence[str] = option(
        TakesNames("node, or list of nodes"), default=(), help="Nodes that are never observed."
    )


@options
class TableOptions(NodeRowOptions):
    """How the tables of a network are fitted."""

    smoothing: object = option(
        TakesTableRules(none=True),
        default=None,
        help="The smoothing rule of the tables: laplace by default, or mle with prior cases; also bdeu:10 and k2.",
    )
    prior_cases: float = option(
        RealNumber(0, said="prior_cases must be a non-negative number"),
        default=0.0,
        help="Treat the network's own tables as the experience of this many cases.",
    )
    missing: str = option(
        OneOf("em", "drop", "ignore"),
        default="em",
        help="Rows with missing values: complete them with the expectations of the network (em), drop them, or count "
        "only complete families (ignore).",
    )
    iterations: int = option(WholeNumber(1), default=100, command=False, help="The maximum number of EM iterations.")
    tolerance: float = option(
        RealNumber(0),
        default=1e-6,
        command=False,
        help="Stop at the first iteration that changes the objective by no more than this fraction.",
    )
    restarts: int = option(
        WholeNumber(1),
        default=1,
        command=False,
        help="The number of EM runs; all but the first start at random, and the best is kept.",
    )
    seed: int = seed_option()
    progress: Progress | None = progress_option()

    @property
    def rules(self) -> TableRules:
        """The smoothing rules of the tables; the default ones if none is given."""
        from bayesbox.network.learn.tables import TableRules

        return TableRules.of(self.smoothing if self.smoothing is not None else "mle" if self.prior_cases else "laplace")


@options
class ArcOptions(Options):
    """Prior knowledge of the structure."""

    required: Iterable[ArcLike] = option(
        TakesArcs(), default=(), command="require", help="A required arc, such as rain->grass."
    )
    forbidden: Iterable[ArcLike] = option(TakesArcs(), default=(), command="forbid", help="A forbidden arc.")
    tiers: Iterable[str | Iterable[object]] | None = option(
        TakesTiers(),
        default=None,
        command="tier",
        help="The columns of one tier; no column has a parent in a later tier. Repeat for all tiers, in order.",
    )
    max_parents: int | None = option(
        WholeNumber(0, none=True),
        default=None,
        help="The maximum number of parents of a node, with hill, tabu, order and exact.",
    )


@options
class SearchOptions(Options):
    """How a structure is found."""

    score: str | Score = option(TakesScore(), default="bic", help="bic, aic, loglik, k2, bdeu:10 or dirichlet:0.5.")
    method: str = option(
        OneOf(*METHODS),
        default="hill",
        help="hill climbing by single arcs (hill), with a tabu list (tabu); search over orders, with a bound on how "
        "much better any structure could be (order); the provably best network (exact, up to about 20 columns); the "
        "best tree (chow-liu), or the best tree given a class (tan); independence tests (pc).",
    )
    target: str | None = option(
        AnyText("column", none=True, metavar="COLUMN"), default=None, help="The class column of method tan."
    )
    root: str | None = option(
        AnyText("column", none=True, metavar="COLUMN"), default=None, help="The root of the tree of chow-liu or tan."
    )
    restarts: int | None = option(
        WholeNumber(0, none=True),
        default=None,
        help="The number of restarts of hill, tabu and order; at least 5 by default.",
    )
    patience: int | None = option(
        WholeNumber(0, none=True),
        default=None,
        help="The number of moves of hill and tabu without improvement; 0 by default, 15 with tabu.",
    )
    alpha: float | None = option(
        TakesLevel(), default=None, help="The significance level of the tests of pc; 0.05 by default."
    )
    max_given: int | None = option(
        WholeNumber(0, none=True),
        default=None,
        command=False,
        help="The maximum number of conditioning columns in a test of pc.",
    )
    bootstrap: int = option(
        WholeNumber(0), default=0, help="Report how often each arc is found in this many bootstrap samples."
    )
    average: float | None = option(
        RealNumber(0, 1, none=True),
        default=None,
        help="With bootstrap, take the arcs that at least this share of the samples have: the averaged network.",
    )
    seed: int = seed_option()
    threads: int = option(WholeNumber(1), default=1, command=False, help="Threads for reading the data.")
    progress: Progress | None = progress_option()

    @property
    def scored(self) -> Score:
        """The score as an object, however it was given."""
        from bayesbox.network.learn.scores import Score

        return Score.of(self.score)

    def _check(self) -> None:
        if self.average is not None and not self.bootstrap:
            raise BadOption(
                "average is of the samples of a bootstrap",
                remedy="Draw some: " + Remedy("bootstrap=100", "--bootstrap 100"),
            )
        if self.method == "tan" and self.target is None:
            raise BadOption(
                "method tan needs a class column",
                remedy="Name it: target='...', by command -t COLUMN",
            )
        if self.method != "tan" and self.target is not None:
            raise BadOption(
                f"only tan has a target; {self.method} finds the parents of all columns alike",
                remedy="Remove the target, or use method='tan'",
            )
        if self.root is not None and (self.method not in ("tan", "chow-liu") or self.root == self.target):
            raise BadOption("a root needs a tree method: chow-liu, or tan (not its target)")


@options
class LearnOptions(RowOptions, ArcOptions, SearchOptions):
    """How a network is learned: its structure, then its tables."""

    bins: str | int = bins_option(command=True)
    smoothing: object = option(
        TakesTableRules(),
        default="laplace",
        help="The smoothing rule of the tables: laplace by default; also bdeu:10 and k2.",
    )
    missing: str = option(
        OneOf("em", "drop", "level"),
        default="em",
        help="Rows with missing values: complete them with the expectations of the network, iteratively (em), drop "
        "them, or count missing as a state (level).",
    )

    def _check(self) -> None:
        for name, used in USED_BY.items():
            value = getattr(self, name)
            if value is not None and self.method not in used:
                methods = " or ".join(filter(None, (", ".join(used[:-1]), used[-1])))
                raise BadOption(
                    f"method {self.method} does not use {name}",
                    found=value,
                    remedy=f"Remove it, or use {methods} as the method",
                )
        super()._check()
