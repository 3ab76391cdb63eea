"""What every kind of column answers about itself, with the defaults; the kinds are in `kinds.py`.

Nobody asks for the class of a kind: whoever needs to know more adds a question here.
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

DEFAULT_FLOOR = 1e-4  # of the column's variance over all rows: a deviation of 1 %


class CountedColumn(Protocol):
    """What a kind asks the tally of its column."""

    form: ClassVar[str]
    of_numbers: ClassVar[bool]

    @property
    def holds_only_flags(self) -> bool:
        """Whether there is nothing but 0 and 1."""
        ...


@frozen
class Kind:
    """What all kinds share: `missing` overrides the estimator's treatment of missing values for this column.

    The defaults are those of a kind that is neither text nor number, flag or matrix; a kind says where it differs.
    """

    missing: Missing | None = option(OneOf("ignore", "level", none=True), default=None, in_file=GIVEN)

    label: ClassVar[str] = ""
    """The name that it was registered by; empty where it is that of the class."""

    after_colon: ClassVar[str | None] = None
    """The option that may follow the name: count:poisson."""

    tally: ClassVar[str | None] = None
    """The form of the tally that columns of this kind are counted in; None if it is not fixed."""

    unseen: ClassVar[str | None] = None
    """How an unseen level is handled, if the kind decides; None if the model does."""

    def __post_init__(self) -> None:
        parse_options(self)

    floor = DEFAULT_FLOOR  # the least variance of a gaussian; a Real may declare another
    is_used = True  # whether a column is used
    is_known = True  # whether a value has shown what it is
    is_flag = False
    is_count = False  # whether a number says how often something occurred
    is_continuous = False  # whether a number has a density, however few values it has
    is_text = False  # whether a value is words
    is_matrix = False  # whether it is a whole matrix of counts
    may_be_flag = False  # whether numbers that are all 0 or 1 are a flag
    has_parts = False  # whether a column becomes several, such as the seconds and the month of a date
    lists_levels = False  # whether any text is a level: those that occur, and those that a smoothing rule names

    @property
    def name(self) -> str:
        """The kind's name as the command spells it."""
        return self.label or type(self).__name__.lower()

    @property
    def has_levels(self) -> bool:
        """Whether a value is one of several levels."""
        return self.tally == "counts"

    @property
    def reads_text(self) -> bool:
        """Whether a value is a text, taken as it is."""
        return self.is_text or (self.has_levels and not self.is_flag)

    @property
    def is_number(self) -> bool:
        """Whether a value is a number."""
        return self.tally == "moments"

    @property
    def levels(self) -> tuple[str, ...] | None:
        """The levels that were declared, None if none were."""
        return None

    @property
    def domain(self) -> tuple[str, ...]:
        """The levels that can occur, whether or not they do."""
        return ()

    @property
    def group(self) -> str | None:
        """How levels are grouped, if they are."""
        return None

    @property
    def smoothing(self) -> Any:
        """The smoothing rule of this column, None if it is that of the model."""
        return None

    @property
    def density(self) -> str | None:
        """The density that was declared, None if the model chooses it or there is none."""
        return None

    def density_under(self, numeric: str) -> str:
        """The density of a column of numbers, in a model that gives `numeric` to those that declare none."""
        return self.density or numeric

    @property
    def is_open(self) -> bool:
        """Whether values are still to show more of it, though it is declared."""
        return False

    @property
    def part_of(self) -> str | None:
        """The column that this is a part of, such as the month of a date; None of a column by itself."""
        return None

    @property
    def width(self) -> int | None:
        """The number of columns of a matrix, None of a single column."""
        return None

    @property
    def tokens(self) -> Tokens | None:
        """How a text is cut into words, None if a value is not words."""
        return None

    def accepts(self, other: Kind) -> bool:
        """Whether what was counted of a column of the kind `other` can be added to one of this kind.

        >>> from bayesbox.schema.kinds import Category, Flag, Number
        >>> Number().accepts(Flag()), Number().accepts(Category())
        (True, False)
        """
        return type(self) is type(other) or not other.is_known

    def joined(self, other: Kind) -> Kind:  # noqa: ARG002
        """This kind with what a kind that it accepts knows more of the column."""
        return self

    def reads(self, found: Kind) -> Kind:
        """The kind that later values count as, which look like `found` by their type, in a column of this kind."""
        return found

    def value_of(self, text: str) -> float | str:
        """What a text stands for: a number or a level, ValueError if it is neither.

        A kind that reads texts of its own gives this. Whatever is not text, and what is missing, stays as it is.
        """
        raise NotImplementedError

    @property
    def translates(self) -> bool:
        """Whether texts are read by `value_of`: files hand them over as they are."""
        return type(self).value_of is not Kind.value_of

    def read(self, column: Column, *, name: str, where: str | None = None, first_row: int = 0) -> Column:
        """The column as it is counted: here as it is, or its texts by `value_of`."""
        if not self.translates:
            return column
        from bayesbox.schema.translate import translated

        return translated(self, column, name=name, where=where, first_row=first_row)

    def parse(self, text: str, *, name: str) -> object:
        """The value of a text that somebody typed for the column `name`: by `value_of`, or a level, or a number."""
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
        """How its texts are written, if that was found or declared; None if there is nothing to say."""
        return None

    def number_text(self, value: float, spread: float = 0.0) -> str:  # noqa: ARG002
        """A number of such a column as text; `spread` is how far apart those are that stand beside it."""
        return f"{value:.6g}"

    def spread_text(self, value: float) -> str:
        """A distance of such numbers as text."""
        return f"{value:.6g}"

    def shown(self, tally: CountedColumn | None) -> str:  # noqa: ARG002
        """The name that a user would declare a column by that has this tally, None if it has none."""
        return self.name

    def known(self, tally: CountedColumn) -> Kind:  # noqa: ARG002
        """The kind of a column that has this tally."""
        return self

    def family(self, tally: CountedColumn, numeric: str) -> str:  # noqa: ARG002
        """The family of distributions of such a column: a table of levels, the density of a number.

        `numeric` is that of numbers that declare none.
        """
        if self.has_levels:
            return "table"
        if self.is_number:
            return self.density_under(numeric)
        raise BadOption(f"a column that is {self.name} has no distribution")
