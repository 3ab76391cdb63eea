"""The base class of all kinds of columns, with defaults; the kinds are in `kinds.py`.

Code does not check the class of a kind: it calls a method or reads an attribute defined here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from bayesbox.errors import BadOption
from bayesbox.schema.options import GIVEN, frozen, option, parse_options
from bayesbox.schema.takes import OneOf

if TYPE_CHECKING:
    from bayesbox.schema.columns import Column
    from bayesbox.schema.tokens import Tokens

Missing = Literal["ignore", "level"]

DEFAULT_FLOOR = 1e-4  # as a share of the column's variance over all rows: a std of 1 %


class CountedColumn(Protocol):
    """What a kind needs to know about the tally of its column."""

    form: ClassVar[str]
    of_numbers: ClassVar[bool]

    @property
    def holds_only_flags(self) -> bool:
        """Whether all values are 0 or 1."""
        ...


@frozen
class Kind:
    """The base of all kinds: `missing` overrides the estimator's treatment of missing values for this column.

    The defaults are those of a kind that is neither text, number, flag nor matrix.
    """

    missing: Missing | None = option(OneOf("ignore", "level", none=True), default=None, in_file=GIVEN)

    label: ClassVar[str] = ""
    """The registered name; empty if it is that of the class."""

    after_colon: ClassVar[str | None] = None
    """The option that may follow the name after a colon: count:poisson."""

    tally: ClassVar[str | None] = None
    """The form of the tally of such columns; None if it is not fixed."""

    unseen: ClassVar[str | None] = None
    """How an unseen level is handled, if the kind decides; None if the model does."""

    def __post_init__(self) -> None:
        parse_options(self)

    floor = DEFAULT_FLOOR  # the variance floor of a gaussian; a Real may declare another
    is_used = True  # whether a column is used
    is_known = True  # whether the type is known from a value
    is_flag = False
    is_count = False  # whether a number is a count
    is_continuous = False  # whether a number always has a density, even with few values
    is_text = False  # whether a value is free text
    is_matrix = False  # whether it is a whole matrix of counts
    may_be_flag = False  # whether a column with only 0 and 1 is a flag
    has_parts = False  # whether a column is expanded to several, such as the seconds and the month of a date
    lists_levels = False  # whether any text can be a level: those that occur, and those named by a smoothing rule

    @property
    def name(self) -> str:
        """The name of the kind in the command."""
        return self.label or type(self).__name__.lower()

    @property
    def has_levels(self) -> bool:
        """Whether a value is one of several levels."""
        return self.tally == "counts"

    @property
    def reads_text(self) -> bool:
        """Whether a value is unparsed text."""
        return self.is_text or (self.has_levels and not self.is_flag)

    @property
    def is_number(self) -> bool:
        """Whether a value is a number."""
        return self.tally == "moments"

    @property
    def levels(self) -> tuple[str, ...] | None:
        """The declared levels; None if there are none."""
        return None

    @property
    def domain(self) -> tuple[str, ...]:
        """The possible levels, whether or not they occur."""
        return ()

    @property
    def group(self) -> str | None:
        """The method of grouping levels, if any."""
        return None

    @property
    def smoothing(self) -> Any:
        """The smoothing rule of this column; None for that of the model."""
        return None

    @property
    def density(self) -> str | None:
        """The declared density; None if the model chooses it or there is none."""
        return None

    def density_under(self, numeric: str) -> str:
        """The density of a numeric column, in a model whose default is `numeric`."""
        return self.density or numeric

    @property
    def is_open(self) -> bool:
        """Whether values may still refine a declared kind."""
        return False

    @property
    def part_of(self) -> str | None:
        """The column that this is a part of, such as the date of a month; None for other columns."""
        return None

    @property
    def width(self) -> int | None:
        """The number of columns of a matrix; None for a single column."""
        return None

    @property
    def tokens(self) -> Tokens | None:
        """The tokeniser options; None if a value is not free text."""
        return None

    def accepts(self, other: Kind) -> bool:
        """Whether the tally of a column of the kind `other` can be added to one of this kind.

        >>> from bayesbox.schema.kinds import Category, Flag, Number
        >>> Number().accepts(Flag()), Number().accepts(Category())
        (True, False)
        """
        return type(self) is type(other) or not other.is_known

    def joined(self, other: Kind) -> Kind:  # noqa: ARG002
        """This kind completed with the details of an accepted kind."""
        return self

    def reads(self, found: Kind) -> Kind:
        """The kind as which later values of the detected kind `found` are counted in a column of this kind."""
        return found

    def value_of(self, text: str) -> float | str:
        """The value of a text: a number or a level; ValueError if it is not valid.

        A kind with its own text format overrides this. Values that are not text, and missing values, are unchanged.
        """
        raise NotImplementedError

    @property
    def translates(self) -> bool:
        """Whether texts are parsed by `value_of`, so that files are read as text."""
        return type(self).value_of is not Kind.value_of

    def read(self, column: Column, *, name: str, where: str | None = None, first_row: int = 0) -> Column:
        """The column converted for counting: unchanged, or with texts parsed by `value_of`."""
        if not self.translates:
            return column
        from bayesbox.schema.translate import translated

        return translated(self, column, name=name, where=where, first_row=first_row)

    def parse(self, text: str, *, name: str) -> object:
        """The value of a text entered for the column `name`: by `value_of`, or a level, or a number."""
        if self.translates:
            try:
                return self.value_of(text)
            except ValueError:
                raise BadOption(f"`{name}` must be a {self.name}", found=text) from None
        if self.reads_text:
            return text
        try:
            value = float(text)
        except ValueError:
            raise BadOption(f"`{name}` must be a number", found=text) from None
        if not math.isfinite(value):
            raise BadOption(f"`{name}` must be a finite number", found=text)
        return value

    @property
    def written(self) -> str | None:
        """A description of the text format, if it was detected or declared; else None."""
        return None

    def number_text(self, value: float, spread: float = 0.0) -> str:  # noqa: ARG002
        """A number of such a column as text; `spread` is the range of the numbers shown with it."""
        return f"{value:.6g}"

    def spread_text(self, value: float) -> str:
        """A difference of such numbers as text."""
        return f"{value:.6g}"

    def shown(self, tally: CountedColumn | None) -> str:  # noqa: ARG002
        """The name to declare a column with this tally; None if it has none."""
        return self.name

    def known(self, tally: CountedColumn) -> Kind:  # noqa: ARG002
        """The kind of a column that has this tally."""
        return self

    def family(self, tally: CountedColumn, numeric: str) -> str:  # noqa: ARG002
        """The family of distributions of such a column: a table of levels, or a density.

        `numeric` is the default density of numbers.
        """
        if self.has_levels:
            return "table"
        if self.is_number:
            return self.density_under(numeric)
        raise BadOption(f"a column that is {self.name} has no distribution")
