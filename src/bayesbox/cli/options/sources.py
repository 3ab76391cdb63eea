"""Sources of rows from the options of a verb: declared types, ignored columns, progress."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options.shared import split
from bayesbox.cli.print.output import note, plural
from bayesbox.described import pasted
from bayesbox.errors import BadOption, KindContradiction, UnknownColumn

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.opened import ReadingOptions
    from bayesbox.schema.kinds import Kind
    from bayesbox.source.base import Source
    from bayesbox.source.wrapped import Narrowed

PATIENCE = 1.0  # seconds before progress is shown
PAUSE = 0.2  # seconds between two updates
AUTO = "auto"
SHORT = 10  # the longest text that may mean missing


def declared_kinds(types: Sequence[str], ignore: Sequence[str] = ()) -> dict[str, Kind]:
    """The types given by `--types` and `--ignore`, by column.

    >>> declared_kinds(["age=real:floor=0,car=category:suv:truck"], ["id"])
    ... # doctest: +NORMALIZE_WHITESPACE
    {'age': Real(missing=None, density=None, floor=0.0),
     'car': Category(missing=None, levels=('suv', 'truck')), 'id': Ignore(missing=None)}
    """
    from bayesbox.schema.kinds import Ignore

    kinds: dict[str, Kind] = {}
    for item in (item for text in types for item in split(text)):
        name, kind = _declaration(item)
        if name in kinds:
            raise BadOption(f"`{name}` is declared twice", found=item)
        kinds[name] = kind
    for name in ignore:
        if name in kinds and kinds[name].is_used:
            raise BadOption(f"`{name}` is both declared and ignored", remedy="Remove it from --types or from --ignore")
        kinds[name] = Ignore()
    return kinds


def ignored_columns(given: Sequence[Sequence[str]]) -> tuple[list[str], str | None]:
    """The columns in `--ignore`, and "auto" if identifiers are to be ignored.

    >>> ignored_columns([["auto", "zip"]])
    (['zip'], 'auto')
    """
    names = [name for each in given for name in each]
    return [name for name in names if name != AUTO], AUTO if AUTO in names else None


def _declaration(item: str) -> tuple[str, Kind]:
    """Parse column=kind:part:part; a column name may contain an equals sign."""
    from bayesbox.schema.kinds import BY_NAME

    places = [place for place, char in enumerate(item) if char == "="]
    for place in places:
        if item[place + 1 :].partition(":")[0].strip() in BY_NAME and item[:place].strip():
            return item[:place].strip(), _kind(item[place + 1 :].strip())
    quoted = "" if "=" in item else "; quote a column name that contains spaces: --types 'COLUMN NAME=real'"
    remedy = f"Write column=type, where the type is one of {', '.join(BY_NAME)}{quoted}"
    raise BadOption("this is not a valid column declaration", where="--types", found=item, remedy=remedy)


def _kind(text: str) -> Kind:
    from bayesbox.schema.kinds import Category, Date, Real, is_registered, kind_named

    head, *parts = text.split(":")
    options = {name: value for name, _, value in (part.partition("=") for part in parts if _is_option(part))}
    rest = [part for part in parts if not _is_option(part)]
    missing: Any = options.pop("missing", None)
    if head == "category":
        group = options.pop("group", None)
        if options:
            raise BadOption("the options of a category are missing and group", where="--types", found=text)
        return Category(rest or None, missing=missing, group=group)
    if "group" in options:
        raise BadOption("group applies to categories only", where="--types", found=text)
    if head == "real" and "floor" in options:
        try:
            return Real(":".join(rest) or None, floor=float(options["floor"]), missing=missing)
        except (TypeError, ValueError) as error:
            raise BadOption(f"a floor must be written real:floor=0.01 ({error})", where="--types", found=text) from None
    if head == "date":
        return Date(":".join(rest) or None, zone=options.get("zone"), missing=missing)
    if is_registered(head):
        return _registered_kind(head, parts)
    kind = kind_named(":".join([head, *rest]))
    return type(kind)(**{**kind.__dict__, "missing": missing})


def _registered_kind(head: str, parts: Sequence[str]) -> Kind:
    """A kind of an extension: name:part:option=value, with the options that it declares."""
    from bayesbox.schema.kinds import BY_NAME, kind_named
    from bayesbox.schema.options import options_of

    known = options_of(BY_NAME[head])
    given = {name: value for name, equals, value in (part.partition("=") for part in parts) if equals and name in known}
    rest = [part for part in parts if part.partition("=")[0] not in given]
    kind = kind_named(":".join([head, *rest]))
    parsed: dict[str, Any] = {name: known[name].takes.from_text(name, value) for name, value in given.items()}
    return replace(kind, **parsed)


def _is_option(part: str) -> bool:
    return part.startswith(("floor=", "missing=", "group=", "zone="))


def without_target(kinds: Mapping[str, Kind], target: str | None, weight: str | None) -> dict[str, Kind]:
    """The declarations without the target, which is always a category, and the weight, always a number."""
    if target is not None and target in kinds and not kinds[target].lists_levels:
        raise BadOption(f"`{target}` is the target column", remedy="Remove it from --types and --ignore")
    if weight is not None and weight == target:
        raise BadOption(f"`{weight}` cannot be both the target and the weight")
    return {name: kind for name, kind in kinds.items() if name not in (target, weight)}


def reading_of(given: Mapping[str, Any], threads: int = 1) -> ReadingOptions:
    """The reading options of a verb."""
    from bayesbox.classifier.opened import ReadingOptions
    from bayesbox.cli.options.shared import several
    from bayesbox.source.files.dialect import TextDialect

    return ReadingOptions(
        several(given["na"]),
        given.get("bad_rows", "error"),
        given["input_format"],
        threads,
        target_bins=given.get("target_bins"),
        follow_links=given.get("follow", False),
        dialect=TextDialect.of(given),
    )


def model_source(
    classifier: AnyClassifier, data: Sequence[str], given: Mapping[str, Any], *, threads: int = 1
) -> tuple[Narrowed, str]:
    """The rows of files as a trained model reads them to update or forget, and their target column."""
    from bayesbox.source.wrapped import Narrowed

    weight = given["weight"]
    opened = classifier.open_rows(
        list(data),
        target=given.get("target"),
        weight=weight,
        label=given.get("label"),
        reading=reading_of(given, threads),
    )
    wanted = [*classifier.feature_names, opened.target, *([weight] if weight else [])]
    return Narrowed(opened.source, wanted), opened.target


def lacking_column(error: UnknownColumn, source: Narrowed, target: str) -> UnknownColumn:
    """The error for data without a required column, with all existing columns."""
    lacking = UnknownColumn(error.column, available=source.found or source.names, where=error.where)
    if error.column == target:
        named = f" {lacking.remedy}" if lacking.remedy else ""
        lacking.remedy = f"The data must have the target of the model; under another name: -t COLUMN.{named}"
    return lacking


@contextlib.contextmanager
def as_learned(model: str) -> Iterator[None]:
    """A context that adds the remedy for a value that contradicts the type of its column in the model."""
    try:
        yield
    except KindContradiction as error:
        if error.column is not None:
            missing = isinstance(error.found, str) and 0 < len(error.found) <= SHORT
            error.remedy = (
                f"{model} was trained on another type of this column. Correct the value"
                + (f", pass --na {pasted(error.found)} if it means missing" if missing else "")
                + f", or train again with --types {pasted(f'{error.column}=category')}"
            )
        raise


def skipped_rows(source: Source) -> int:
    """The number of skipped malformed rows; the first of them are printed."""
    skipped = source.skipped
    if not skipped.count:
        return 0
    note(f"{plural(skipped.count, 'malformed row')} skipped, for example:")
    for message in skipped.first[:2]:
        note(f"  {message}")
    return skipped.count


class Progress:
    """Progress on a terminal, after a second: rows so far, rows per second and the time left.

    The time left is shown if the source reports its progress.
    """

    def __init__(self, source: Source | None = None) -> None:
        self.rows = 0
        self._source = source
        self._shown = False
        self._begin = self._next = time.monotonic()
        self._next += PATIENCE
        self._alive = sys.stderr.isatty()

    def __call__(self, rows: int) -> None:
        self.rows += rows
        now = time.monotonic()
        if self._alive and now >= self._next:
            self._next, self._shown = now + PAUSE, True
            click.echo(f"\r{self._text(now - self._begin)}\x1b[K", err=True, nl=False)

    def learning(self, share: float, left: float | None, what: str) -> None:
        """Show the progress of training after the rows are read: the step, the share done and the time left."""
        now = time.monotonic()
        if self._alive and now >= self._next:
            self._next, self._shown = now + PAUSE, True
            time_left = "" if left is None else f", {left:.0f} s left"
            click.echo(f"\rlearning {what}: {share:.0%}{time_left}\x1b[K", err=True, nl=False)

    def _text(self, seconds: float) -> str:
        share = None if self._source is None else self._source.progress
        left = f", {seconds * (1 - share) / share:.0f} s left" if share else ""
        return f"{self.rows:,} rows, {self.rows / seconds:,.0f} rows/s{left}"

    def close(self) -> None:
        """Clear the progress line."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)


def default_model_name(data: Sequence[str]) -> str:
    """The default name of a model: that of the first data file.

    >>> default_model_name(["data/people.csv.gz"]), default_model_name(["-"])
    ('people.bayes', 'model.bayes')
    """
    first = data[0] if data else "-"
    if first == "-" or any(mark in first for mark in "*?["):
        return "model.bayes"
    from bayesbox.source.files.open import EXTENSIONS
    from bayesbox.source.files.streams import CODECS

    name = Path(first).name or Path(first).resolve().name
    while (suffix := Path(name).suffix.lower()) in {".txt", ".data", *EXTENSIONS, *CODECS}:
        name = name[: -len(suffix)]
    return f"{name or 'model'}.bayes"
