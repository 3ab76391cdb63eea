"""The kind of a column of dates, times or durations, and the kind of its parts.

One column in: its seconds are a number, its month, weekday and hour are categories beside it (`DatePart`), which share
what is missing. The schema puts the parts next to their column; whoever explains adds them up again. How a column is
read is in `date_columns.py`.
"""

from __future__ import annotations

from dataclasses import replace

from bayesbox.errors import BadData, BadOption
from bayesbox.schema.kind import CountedColumn, Kind, Missing
from bayesbox.schema.options import GIVEN, frozen, option
from bayesbox.schema.takes import AnyText, OneOf

ISO, ISO_TIME, DAYS = "iso", "iso-time", "days"
"""The formats that are not written in directives: ISO 8601, HH:MM:SS, and what pandas writes for durations."""
WRITTEN = {ISO: "ISO 8601", ISO_TIME: "HH:MM:SS", DAYS: "N days HH:MM:SS"}

MOMENT, TIME, DURATION = "moment", "time", "duration"
PARTS_OF: dict[str | None, tuple[str, ...]] = {MOMENT: ("month", "weekday", "hour"), TIME: ("hour",)}
"""The parts that a column has, by what it holds."""

AS_WRITTEN = "as written"
"""The zone of texts that have an offset from UTC each: month, weekday and hour are those of the text."""


class TakesFormat(AnyText):
    """A format of dates, or None if the values prove it."""

    def parse(self, name: str, given: object) -> object:  # noqa: ARG002
        if given is not None:
            from bayesbox.schema.date_formats import check_format

            if not isinstance(given, str):
                raise BadOption("a date format must be a str such as '%d/%m/%Y'", found=given)
            check_format(given)
        return given


@frozen
class Date(Kind):
    """A date, a point in time, a time of day or a duration: its seconds as a number, with the density of the model.

    A point in time has its month, weekday and hour as categories too, a time of day its hour; each is used where it
    varies. `format` says how text is written, such as "%d/%m/%Y"; None is what the values prove, ISO 8601 among others.
    `zone` is the time zone of month, weekday and hour; None is that of the column, or times as they are written.

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
        """The parts that a column of this kind has."""
        return PARTS_OF.get(self.holds, ())

    @property
    def wall_zone(self) -> str | None:
        """The zone of the parts; None if they are those of the column or of the text."""
        return None if self.zone == AS_WRITTEN else self.zone

    def accepts(self, other: Kind) -> bool:
        """Dates that are read and counted the same way."""
        if not isinstance(other, Date):
            return not other.is_known
        same_format = self.format == other.format or None in (self.format, other.format)
        return other.is_open or (same_format and (self.zone, self.holds) == (other.zone, other.holds))

    def joined(self, other: Kind) -> Kind:
        return replace(self, format=other.format) if isinstance(other, Date) and self.format is None else self

    @property
    def written(self) -> str | None:
        """How its texts are written, in words; None if they came with their type.

        >>> Date("iso").written, Date("%d/%m/%Y").written
        ('ISO 8601', '%d/%m/%Y')
        """
        return WRITTEN.get(self.format or "", self.format)

    @property
    def noun(self) -> str:
        """What a value is called."""
        return {TIME: "time of day", DURATION: "duration"}.get(self.holds or "", "date")

    def number_text(self, value: float, spread: float = 0.0) -> str:
        from bayesbox.schema.date_values import DAY, moment_text

        return moment_text(value, held=self.holds or MOMENT, with_time=spread <= DAY)

    def spread_text(self, value: float) -> str:
        from bayesbox.schema.date_values import duration_text

        return duration_text(value)

    def parse(self, text: str, *, name: str) -> object:
        """The text itself, once it is seen to be one."""
        from bayesbox.schema.arrays import text_array
        from bayesbox.schema.date_columns import times

        try:
            times(self, text_array([text]), name=name)
        except BadData as error:
            raise BadOption(f"`{name}` must be a {self.noun}", found=text, remedy=error.advice) from None
        return text


@frozen
class DatePart(Kind):
    """The month, weekday or hour of the column `column`: what a schema puts beside a Date; not declared."""

    tally = "counts"
    lists_levels = True
    unseen = "ignore"  # the calendar goes on: a month that was never seen says nothing

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
