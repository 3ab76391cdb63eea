"""The kind of date, time and duration columns, and the kind of their parts.

A date becomes several columns: its seconds are a number, and its month, weekday and hour are categories (`DatePart`),
missing in the same rows. The schema places the parts next to their column; explanations add them up again.
`date_columns.py` parses the values.
"""

from __future__ import annotations

from dataclasses import replace

from bayesbox.errors import BadData, BadOption
from bayesbox.schema.kind import CountedColumn, Kind, Missing
from bayesbox.schema.options import GIVEN, frozen, option
from bayesbox.schema.takes import AnyText, OneOf

ISO, ISO_TIME, DAYS = "iso", "iso-time", "days"
"""The formats without directives: ISO 8601, HH:MM:SS, and pandas durations."""
WRITTEN = {ISO: "ISO 8601", ISO_TIME: "HH:MM:SS", DAYS: "N days HH:MM:SS"}

MOMENT, TIME, DURATION = "moment", "time", "duration"
PARTS_OF: dict[str | None, tuple[str, ...]] = {MOMENT: ("month", "weekday", "hour"), TIME: ("hour",)}
"""The parts of a column, by the kind of its values."""

AS_WRITTEN = "as written"
"""The zone of texts with individual UTC offsets: month, weekday and hour are those of the text."""


class TakesFormat(AnyText):
    """A date format, or None to detect it from the values."""

    def parse(self, name: str, given: object) -> object:  # noqa: ARG002
        if given is not None:
            from bayesbox.schema.date_formats import check_format

            if not isinstance(given, str):
                raise BadOption("a date format must be a str such as '%d/%m/%Y'", found=given)
            check_format(given)
        return given


@frozen
class Date(Kind):
    """A date, timestamp, time of day or duration: its seconds as a number, with the density of the model.

    A timestamp also has its month, weekday and hour as categories, a time of day its hour; each is used if it varies.
    `format` is the format of text, such as "%d/%m/%Y"; None detects it from the values, for example ISO 8601. `zone` is
    the time zone of month, weekday and hour; None is that of the column, or the local time as written.

    >>> Date("%d/%m/%Y").format
    '%d/%m/%Y'
    """

    tally = "moments"
    after_colon = "format"
    is_continuous = True
    has_parts = True

    format: str | None = option(TakesFormat("str", none=True), default=None, kw_only=False)
    zone: str | None = option(AnyText("str", none=True), default=None, in_file=GIVEN)
    holds: str | None = option(OneOf(MOMENT, TIME, DURATION, none=True), default=None, in_file=GIVEN, repr=False)

    @property
    def translates(self) -> bool:
        return True

    @property
    def is_open(self) -> bool:
        return self.holds is None

    @property
    def part_names(self) -> tuple[str, ...]:
        """The names of the parts of such a column."""
        return PARTS_OF.get(self.holds, ())

    @property
    def wall_zone(self) -> str | None:
        """The zone of the parts; None for that of the column or of the text."""
        return None if self.zone == AS_WRITTEN else self.zone

    def accepts(self, other: Kind) -> bool:
        """Whether another date kind is parsed and counted in the same way."""
        if not isinstance(other, Date):
            return not other.is_known
        same_format = self.format == other.format or None in (self.format, other.format)
        return other.is_open or (same_format and (self.zone, self.holds) == (other.zone, other.holds))

    def joined(self, other: Kind) -> Kind:
        return replace(self, format=other.format) if isinstance(other, Date) and self.format is None else self

    @property
    def written(self) -> str | None:
        """A description of the text format; None if the values are typed.

        >>> Date("iso").written, Date("%d/%m/%Y").written
        ('ISO 8601', '%d/%m/%Y')
        """
        return WRITTEN.get(self.format or "", self.format)

    @property
    def noun(self) -> str:
        """The word for a value in messages."""
        return {TIME: "time of day", DURATION: "duration"}.get(self.holds or "", "date")

    def number_text(self, value: float, spread: float = 0.0) -> str:
        from bayesbox.schema.date_values import DAY, moment_text

        return moment_text(value, held=self.holds or MOMENT, with_time=spread <= DAY)

    def spread_text(self, value: float) -> str:
        from bayesbox.schema.date_values import duration_text

        return duration_text(value)

    def parse(self, text: str, *, name: str) -> object:
        """The text itself, if it is a valid date."""
        from bayesbox.schema.arrays import text_array
        from bayesbox.schema.date_columns import times

        try:
            times(self, text_array([text]), name=name)
        except BadData as error:
            raise BadOption(f"`{name}` must be a {self.noun}", found=text, remedy=error.advice) from None
        return text


@frozen
class DatePart(Kind):
    """The month, weekday or hour of the column `column`; made by a schema for a Date, not declared."""

    tally = "counts"
    lists_levels = True
    unseen = "ignore"  # an unseen month is ignored: the calendar goes on

    column: str = option(AnyText(), default="", kw_only=False)
    part: str = option(OneOf("month", "weekday", "hour"), default="month", kw_only=False)
    missing: Missing | None = option(OneOf("ignore", "level", none=True), default="ignore", in_file=GIVEN)

    @property
    def part_of(self) -> str | None:
        return self.column

    def reads(self, found: Kind) -> Kind:  # noqa: ARG002  the schema makes its values
        return self

    def accepts(self, other: Kind) -> bool:
        return self == other or other.reads_text

    def shown(self, tally: CountedColumn | None) -> str:  # noqa: ARG002
        return self.part
