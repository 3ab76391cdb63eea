"""The classes used by a model that extensions may have registered; a model file names their packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bayesbox.rule.smoothing import RULES
from bayesbox.schema.families import family_named
from bayesbox.schema.schema import Schema
from bayesbox.tally.book import Book


def parts_of(options: Iterable[object], schema: Schema | None, book: Book) -> Iterator[type]:
    """The rules in these options, the types and densities of the columns, and the tallies."""
    rules = set(RULES.values())
    yield from (type(each) for each in options if type(each) in rules)
    if schema is not None:
        yield from map(type, schema.kinds.values())
        densities = {kind.density_under(schema.numeric) for kind in schema.kinds.values()}
        families = (family_named(density).family for density in densities)
        yield from (family for family in families if family is not None)
    yield from map(type, book.columns.values())
    if book.joint is not None:
        yield type(book.joint)
