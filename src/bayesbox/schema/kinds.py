"""The kinds of columns: Category, Flag, Real, Count, Words and Ignore, with the options of each.

A kind defines how a column is parsed and which family of distributions it has; it contains nothing learned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from bayesbox.errors import BadOption
from bayesbox.extensions import Registry
from bayesbox.schema.date import Date as Date
from bayesbox.schema.date import DatePart as DatePart
from bayesbox.schema.families import check_density, densities, family_named
from bayesbox.schema.kind import DEFAULT_FLOOR, CountedColumn, Missing
from bayesbox.schema.kind import Kind as Kind
from bayesbox.schema.options import GIVEN, frozen, option, options_of
from bayesbox.schema.takes import OneOf, RealNumber, Span, Takes, TakesRule, TextList, WholeNumber
from bayesbox.schema.token_options import TakesStopWords

if TYPE_CHECKING:
    from bayesbox.schema.tokens import Tokens

Declared: TypeAlias = Mapping[Any, object]
"""Declared columns: kinds, their classes or names, by the names or positions of columns."""

WORDS_OCCURRENCES = ("count", "normalised")


class TakesDensity(Takes):
    """The density of numbers, or their bins; None if allowed."""

    metavar = "DENSITY"

    def __init__(self, *, none: bool = False) -> None:
        self.types = (str, None) if none else (str,)

    @property
    def listed(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(densities())

    @property
    def words(self) -> str:
        return OneOf(*densities(), none=None in self.types).words

    def parse(self, name: str, given: object) -> object:  # noqa: ARG002
        if given is not None or None not in self.types:
            check_density(given)
        return given


@frozen
class Category(Kind):
    """A column with one of several levels. Declared levels count in the smoothing even if they never occur.

    With `group="modl"`, naive Bayes groups levels with similar class distributions by Boullé's criterion: P(level |
    class) is P(group | class) times the share of the level in its group. `smoothing` is the rule of this column,
    instead of that of the model.

    >>> Category(["sports", "vintage", "suv", "truck"]).levels
    ('sports', 'suv', 'truck', 'vintage')
    """

    tally = "counts"

    levels: tuple[str, ...] | None = option(TextList(none=True, ordered=True), default=None, kw_only=False)
    group: str | None = option(OneOf("modl", none=True), default=None, in_file=GIVEN, repr=False)
    smoothing: Any = option(TakesRule(), default=None, in_file=GIVEN, repr=False)
    lists_levels = True

    def __init__(
        self,
        levels: Iterable[object] | None = None,
        *,
        missing: Missing | None = None,
        group: str | None = None,
        smoothing: object = None,
    ) -> None:
        object.__setattr__(self, "levels", None if levels is None else _level_texts(levels))
        object.__setattr__(self, "missing", missing)
        object.__setattr__(self, "group", group)
        object.__setattr__(self, "smoothing", smoothing)
        self.__post_init__()

    @property
    def domain(self) -> tuple[str, ...]:
        return self.levels or ()

    def accepts(self, other: Kind) -> bool:
        """Whether another kind can be counted as this category; free text can, since the first rows decide."""
        return super().accepts(other) or other.reads_text or other.is_flag


def _level_texts(levels: Iterable[object]) -> tuple[str, ...]:
    """Declared levels as sorted texts; an error for a single text or a missing value."""
    if isinstance(levels, (str, bytes)) or not isinstance(levels, Iterable):
        raise BadOption("the levels of a category must be a list", found=levels, remedy="Write Category(['yes', 'no'])")
    from bayesbox.schema.levels import is_missing, level_text

    given = list(levels)
    if any(is_missing(level) for level in given):
        raise BadOption(
            "a missing value cannot be a level of a category",
            found=given,
            remedy="Remove it; missing='level' counts missing values as a level of their own",
        )
    return tuple(sorted({level_text(level) for level in given}))


@frozen
class Flag(Kind):
    """A column of false and true, or 0 and 1: always two levels, even if only one occurs. `smoothing` is its rule."""

    tally = "counts"

    smoothing: Any = option(TakesRule(), default=None, in_file=GIVEN, repr=False)
    is_flag = True

    @property
    def domain(self) -> tuple[str, ...]:
        from bayesbox.schema.flags import FLAG_LEVELS

        return FLAG_LEVELS

    def accepts(self, other: Kind) -> bool:
        """Whether another kind can be counted as this flag; values other than 0 and 1 are an error when parsed."""
        return super().accepts(other) or other.may_be_flag

    def reads(self, found: Kind) -> Kind:
        """The kind of later values; texts other than true and false are an error when counted."""
        return Flag() if found.lists_levels else found

    def parse(self, text: str, *, name: str) -> object:
        from bayesbox.schema.flags import FLAG_EXPECTED, flag_code

        flag = flag_code(text)
        if flag is None:
            raise BadOption(f"`{name}` is a flag and must be {FLAG_EXPECTED}", found=text)
        return bool(flag)

    def family(self, tally: CountedColumn, numeric: str) -> str:  # noqa: ARG002
        return "bernoulli"


@frozen
class Real(Kind):
    """A numeric column with a density; None is the default density of the model.

    `floor`: the lowest variance of a gaussian, as a share of the column's variance over all rows. With `floor=0`, a
    class whose values are all equal is a point mass. A floor without a density selects a gaussian if the model's
    default density has no floor.

    >>> Real(floor=0).density_under("robust"), Real(floor=0).density_under("student"), Real().density_under("robust")
    ('gaussian', 'student', 'robust')
    """

    tally = "moments"
    after_colon = "density"
    is_continuous = True

    density: str | None = option(TakesDensity(none=True), default=None, kw_only=False)
    floor: float = option(
        RealNumber(0, said="a variance floor must be a finite non-negative number"), default=DEFAULT_FLOOR
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        density = self.density
        if density is not None and self.floor != DEFAULT_FLOOR and not family_named(density).takes_floor:
            raise BadOption(f"the density {density} has no variance floor", found=self.floor)

    def density_under(self, numeric: str) -> str:
        """The density; a floor without a density selects a gaussian if the model's density has no floor."""
        if self.density is None and self.floor != DEFAULT_FLOOR:
            return family_named(numeric).with_floor or numeric
        return super().density_under(numeric)


@frozen
class Number(Kind):
    """A detected numeric column: a Flag if it has only 0 and 1, else a Real. Not declared."""

    tally = "moments"
    may_be_flag = True

    def accepts(self, other: Kind) -> bool:
        return super().accepts(other) or other.is_flag

    def shown(self, tally: CountedColumn | None) -> str:
        return "flag" if tally is not None and tally.of_numbers and tally.holds_only_flags else "real"

    def family(self, tally: CountedColumn, numeric: str) -> str:
        return "bernoulli" if tally.holds_only_flags else numeric


@frozen
class Count(Kind):
    """A column of counts: one of a group with a multinomial over its columns, or a separate Poisson."""

    tally = "moments"
    after_colon = "density"
    is_count = True

    density: str = option(OneOf(*densities("count")), default="multinomial", kw_only=False)


@frozen
class Words(Kind):
    """A column of free text, with a multinomial over its words. A missing text has no words.

    `occurrence`: with "count" every word has its full weight; with "normalised" n words have the weight of sqrt(n), so
    that a long text does not dominate the other columns. `top` keeps the most common words; the other options are those
    of the tokeniser.

    >>> Words(top=1000).tokens.count("Kiwi, kiwi & sheep")
    {'kiwi': 2, 'sheep': 1}
    """

    tally = "words"
    after_colon = "occurrence"
    is_text = True

    occurrence: str = option(OneOf(*WORDS_OCCURRENCES), default="count", kw_only=False)
    top: int | None = option(WholeNumber(1, none=True), default=None)
    phrases: tuple[int, int] = option(Span("words"), default=(1, 1))
    stop_words: tuple[str, ...] = option(TakesStopWords(), default=())
    shortest: int = option(WholeNumber(1), default=2)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing == "level":
            raise BadOption("missing='level' does not apply to words: a missing text has no words")

    def accepts(self, other: Kind) -> bool:
        return super().accepts(other) or other.reads_text

    def family(self, tally: CountedColumn, numeric: str) -> str:  # noqa: ARG002
        return "words"

    @property
    def tokens(self) -> Tokens:
        """The tokeniser options."""
        from bayesbox.schema.tokens import Tokens

        return Tokens(shortest=self.shortest, phrases=self.phrases, stop_words=self.stop_words)


@frozen
class CountGroup(Kind):
    """A detected matrix of counts, such as a sparse document-term matrix. Not declared."""

    tally = "words"
    is_matrix = True

    width: int = option(WholeNumber(0), default=0, kw_only=False)

    def accepts(self, other: Kind) -> bool:
        """Whether another matrix has the same number of columns."""
        return self == other

    def family(self, tally: CountedColumn, numeric: str) -> str:  # noqa: ARG002
        return "matrix"


@frozen
class Unknown(Kind):
    """A column without values so far; its first value determines its kind."""

    is_known = False

    def parse(self, text: str, *, name: str) -> object:  # noqa: ARG002
        return text

    def shown(self, tally: CountedColumn | None) -> str:
        return "unknown" if tally is None else "real" if tally.of_numbers else "category"

    def known(self, tally: CountedColumn) -> Kind:
        return Category() if tally.form == "counts" else Number()

    def family(self, tally: CountedColumn, numeric: str) -> str:
        return self.known(tally).family(tally, numeric)


@frozen
class Ignore(Kind):
    """A column that is ignored."""

    is_used = False


NOT_DECLARED: Kind = Unknown()
"""The kind of a column that is neither declared nor counted."""

BY_NAME: Registry[type[Kind]] = Registry(
    {"category": Category, "flag": Flag, "real": Real, "count": Count, "date": Date, "words": Words, "ignore": Ignore}
)
"""The kinds that can be declared, by name."""

K = TypeVar("K", bound=type[Kind])


def register_kind(name: str) -> Callable[[K], K]:
    """A decorator that registers a kind of column under a name, for declarations, the command and model files."""

    def enter(kind: K) -> K:
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
            raise BadOption("the name of a kind must be a lower-case word", found=name)
        BY_NAME.enter(name, kind, "kind of column")
        kind.label = name
        return kind

    return enter


def is_registered(name: str) -> bool:
    """Whether an extension has registered a kind of this name."""
    kind = BY_NAME.get(name)
    return kind is not None and bool(kind.label)


def kind_named(name: str) -> Kind:
    """The kind of a name, which may have an option after a colon.

    >>> kind_named("count:poisson")
    Count(missing=None, density='poisson')
    """
    head, _, rest = name.partition(":")
    kind = BY_NAME.get(head)
    if kind is None:
        raise BadOption(f"the type must be one of {', '.join(BY_NAME)}", found=name)
    if not rest:
        return kind()
    if kind.after_colon is None:
        raise BadOption(f"a {head} has no density", found=name)
    taken = options_of(kind)[kind.after_colon].takes.from_text(kind.after_colon, rest)
    return kind(**{kind.after_colon: taken})  # type: ignore[arg-type]


def as_kind(given: object) -> Kind:
    """The kind for a declaration: a kind, its class, or its name."""
    if isinstance(given, Kind):
        return given
    if isinstance(given, type) and issubclass(given, Kind):
        return given()
    if isinstance(given, str):
        return kind_named(given)
    raise BadOption("a column must be declared by a type, such as Category(), Real() or 'flag'", found=given)


def kinds_by_key(declared: Declared | None) -> dict[Any, Kind]:
    """The declared kinds by column name or position.

    >>> kinds_by_key({"age": "real"})
    {'age': Real(missing=None, density=None, floor=0.0001)}
    """
    if declared is not None and not isinstance(declared, Mapping):
        raise BadOption(
            "columns must be a dict from column names to types", found=declared, remedy="Write {'zip': 'category'}"
        )
    return {key: as_kind(kind) for key, kind in (declared or {}).items()}
