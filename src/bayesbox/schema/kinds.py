"""What a column is: Category, Flag, Real, Count, Words or Ignore, and the options that belong to each.

A kind says how a column is read and which family of distributions it gets; it never holds anything learned.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from bayesbox.errors import BadOption
from bayesbox.schema.levels import is_missing, level_text

if TYPE_CHECKING:
    from bayesbox.schema.tokens import Tokens

Missing = Literal["ignore", "level"]

DEFAULT_FLOOR = 1e-4  # of the column's variance over all rows: a deviation of 1 %
OF_MOMENTS = ("gaussian", "student")  # densities that need no more than mean and variance
SPACED = "gaussian:spacing"  # a gaussian whose floor is the spacing of the values
ROUNDED = "gaussian:rounded"  # the same, of values rounded to that spacing: the probability of a cell
_BINS = ("width:10", "frequency:10", "mdl", "modl")
REAL_DENSITIES = (*OF_MOMENTS, SPACED, ROUNDED, "kernel", "lognormal", *_BINS, "auto")
_BY_NUMBER = ("bins", "width", "frequency")  # of bins, which may follow a colon
MOST_BINS = 10_000
COUNT_DENSITIES = ("multinomial", "poisson")
WORDS_OCCURRENCES = ("count", "normalised")


@dataclass(frozen=True)
class Kind:
    """What all kinds share: `missing` overrides the estimator's treatment of missing values for this column."""

    missing: Missing | None = field(default=None, kw_only=True)

    tally: ClassVar[str | None] = None
    """The form of the tally that columns of this kind are counted in; None where it is not fixed."""

    def __post_init__(self) -> None:
        if self.missing not in (None, "ignore", "level"):
            raise BadOption("missing is 'ignore' or 'level'", found=self.missing)

    @property
    def name(self) -> str:
        """The kind's name as the command spells it."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Category(Kind):
    """One of several levels. Declared levels count towards the smoothing even if they never occur.

    With `group="modl"` naive Bayes puts levels together that tell the same of the class, by Boullé's criterion:
    P(level | class) is P(group | class) times the share of the level in its group.

    >>> Category(["sports", "vintage", "suv", "truck"]).levels
    ('sports', 'suv', 'truck', 'vintage')
    """

    tally = "counts"

    levels: tuple[str, ...] | None = None
    group: str | None = field(default=None, repr=False)

    def __init__(
        self, levels: Iterable[object] | None = None, *, missing: Missing | None = None, group: str | None = None
    ) -> None:
        if group not in (None, "modl"):
            raise BadOption("levels are grouped by modl, or not at all", found=group)
        object.__setattr__(self, "levels", None if levels is None else _level_texts(levels))
        object.__setattr__(self, "missing", missing)
        object.__setattr__(self, "group", group)
        self.__post_init__()


def _level_texts(levels: Iterable[object]) -> tuple[str, ...]:
    """Declared levels as sorted texts. A single text is no list of its letters, and a missing value no level."""
    if isinstance(levels, (str, bytes)) or not isinstance(levels, Iterable):
        raise BadOption("the levels of a category are a list", found=levels, remedy="Write Category(['yes', 'no'])")
    given = list(levels)
    if any(is_missing(level) for level in given):
        raise BadOption(
            "a missing value is no level of a category",
            found=given,
            remedy="Leave it out; missing='level' counts missing values as a level of their own",
        )
    return tuple(sorted({level_text(level) for level in given}))


@dataclass(frozen=True)
class Flag(Kind):
    """False or true, 0 or 1: always two levels, whichever occur."""

    tally = "counts"


@dataclass(frozen=True)
class Real(Kind):
    """A number with a density; None is the density that the model gives to numbers.

    `floor`: the least variance of a gaussian, as a share of the column's variance over all rows. With `floor=0` a
    class whose values are all equal is a point mass.
    """

    tally = "moments"

    density: str | None = None
    floor: float = field(default=DEFAULT_FLOOR, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.density is not None:
            check_density(self.density)
        if not isinstance(self.floor, numbers.Real) or not 0 <= self.floor < float("inf"):
            raise BadOption("a variance floor is a finite number, 0 or more", found=self.floor)
        if self.density in (SPACED, ROUNDED) and self.floor != DEFAULT_FLOOR:
            raise BadOption(f"the floor of {self.density} is the spacing of the values", found=self.floor)


def check_density(density: object) -> None:
    """Refuse a density of numbers that is not there.

    >>> check_density("width:5")
    """
    if isinstance(density, str):
        name, _, number = density.partition(":")
        if density in REAL_DENSITIES or density in _BY_NUMBER:
            return
        if name in _BY_NUMBER and number.isdecimal() and 1 <= int(number) <= MOST_BINS:
            return
    raise BadOption(f"a density of numbers is one of {', '.join(REAL_DENSITIES)}", found=density)


@dataclass(frozen=True)
class Number(Kind):
    """A number as it was found: a Flag if it holds only 0 and 1, else a Real. What inference gives; not declared."""

    tally = "moments"


@dataclass(frozen=True)
class Count(Kind):
    """How often something occurred: one of a group with a multinomial over its columns, or a Poisson by itself."""

    tally = "moments"

    density: str = "multinomial"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.density not in COUNT_DENSITIES:
            raise BadOption(f"a Count's density is one of {', '.join(COUNT_DENSITIES)}", found=self.density)


@dataclass(frozen=True)
class Words(Kind):
    """Free text: a multinomial over its words. A missing text is one without words.

    `occurrence`: with "count" every word speaks in full, with "normalised" n words speak like the root of n, so that a
    long text does not drown the other columns. `top` keeps the most common words; the rest says how text is cut.

    >>> Words(top=1000).tokens.count("Kiwi, kiwi & sheep")
    {'kiwi': 2, 'sheep': 1}
    """

    tally = "words"

    occurrence: str = "count"
    top: int | None = field(default=None, kw_only=True)
    phrases: tuple[int, int] = field(default=(1, 1), kw_only=True)
    stop_words: tuple[str, ...] = field(default=(), kw_only=True)
    shortest: int = field(default=2, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing == "level":
            raise BadOption("a missing text is one without words: it is no level of its own")
        if self.occurrence not in WORDS_OCCURRENCES:
            raise BadOption(f"the words speak by {' or '.join(WORDS_OCCURRENCES)}", found=self.occurrence)
        if self.top is not None and not (isinstance(self.top, int) and self.top >= 1):
            raise BadOption("top is a number of words, 1 or more, or None for all", found=self.top)
        object.__setattr__(self, "phrases", self.tokens.phrases)
        object.__setattr__(self, "stop_words", self.tokens.stop_words)

    @property
    def tokens(self) -> Tokens:
        """How the text is cut into words."""
        from bayesbox.schema.tokens import Tokens

        return Tokens(self.shortest, self.phrases, self.stop_words)


@dataclass(frozen=True)
class CountGroup(Kind):
    """A whole matrix of counts, such as a sparse document-term matrix. What inference gives; not declared."""

    tally = "words"

    width: int = 0


@dataclass(frozen=True)
class Unknown(Kind):
    """A column without a value so far: it takes the kind of its first one."""


@dataclass(frozen=True)
class Ignore(Kind):
    """A column to leave out."""


BY_NAME: dict[str, type[Kind]] = {
    "category": Category,
    "flag": Flag,
    "real": Real,
    "count": Count,
    "words": Words,
    "ignore": Ignore,
}


def kind_named(name: str) -> Kind:
    """The kind of that name, a density after a colon.

    >>> kind_named("count:poisson")
    Count(missing=None, density='poisson')
    """
    head, _, density = name.partition(":")
    kind = BY_NAME.get(head)
    if kind is None:
        raise BadOption(f"a kind is one of {', '.join(BY_NAME)}", found=name)
    if not density:
        return kind()
    if kind is Real or kind is Count or kind is Words:
        return kind(density)
    raise BadOption(f"a {head} has no density", found=name)


def as_kind(given: object) -> Kind:
    """A kind from what a user declares: a kind, its class, or its name."""
    if isinstance(given, Kind):
        return given
    if isinstance(given, type) and issubclass(given, Kind):
        return given()
    if isinstance(given, str):
        return kind_named(given)
    raise BadOption("a column is declared by a kind, such as Category(), Real() or 'flag'", found=given)


def kinds_by_key(declared: Mapping[Any, object] | None) -> dict[Any, Kind]:
    """What a user declares of columns, by their names or positions.

    >>> kinds_by_key({"age": "real"})
    {'age': Real(missing=None, density=None, floor=0.0001)}
    """
    if declared is not None and not isinstance(declared, Mapping):
        raise BadOption(
            "columns are declared by a dict of names and kinds", found=declared, remedy="Write {'zip': 'category'}"
        )
    return {key: as_kind(kind) for key, kind in (declared or {}).items()}
