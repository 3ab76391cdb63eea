"""Sources made of other sources: recorded, narrowed to some columns, looked into, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from bayesbox.errors import BadData
from bayesbox.source.base import EXAMPLES, Batch, Part, Skipped, Source


class WrappedSource(Source):
    """A source that hands on the batches of another one, changed or looked at on the way by `_pass_on`.

    What it is asked is what the other one answers. It counts here what passes by, even where the other one would count
    elsewhere.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def _pass_on(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The batches as this source gives them, of all rows or of one part."""
        return batches

    # These read attributes of the other source at the time of asking: a pass over a file finds out what they are.

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.source.name

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.source.names

    @property
    def untyped(self) -> bool:  # type: ignore[override]
        return self.source.untyped

    @property
    def rereadable(self) -> bool:  # type: ignore[override]
        return self.source.rereadable

    @property
    def progress(self) -> float | None:
        return self.source.progress

    @property
    def skipped(self) -> Skipped:
        return self.source.skipped

    def batches(self) -> Iterator[Batch]:
        return self._pass_on(self.source.batches())

    def parts(self, threads: int) -> Iterator[Part] | None:
        parts = self.source.parts(threads)
        return None if parts is None else (Part(part.name, partial(self._part, part)) for part in parts)

    def _part(self, part: Part) -> Iterator[Batch]:
        return self._pass_on(part.batches())


class Recorded(WrappedSource):
    """A source that remembers the batches it gave."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.given: list[Batch] = []

    def parts(self, threads: int) -> None:
        """None: the batches are needed in order."""

    def _pass_on(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        self.given = []
        for batch in batches:
            self.given.append(batch)
            yield batch


class Narrowed(WrappedSource):
    """Some columns of a source. `left` are the other columns, `found` all columns, known after the first batch."""

    def __init__(self, source: Source, wanted: Sequence[str]) -> None:
        super().__init__(source)
        self.wanted = frozenset(wanted)
        self.left: list[str] = []
        self.found: tuple[str, ...] = ()

    def _pass_on(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            self.found = batch.names
            self.left = [name for name in batch.names if name not in self.wanted]
            yield batch.select(tuple(name for name in batch.names if name in self.wanted))


class Chained(Source):
    """Several sources as one, one after another; all have the columns of the first, in any order."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = tuple(sources)
        self.name = f"{sources[0].name} and {len(sources) - 1} more"
        self.names = sources[0].names
        self.rereadable = all(source.rereadable for source in sources)

    @property
    def skipped(self) -> Skipped:
        found = [source.skipped for source in self.sources]
        return Skipped(sum(each.count for each in found), [text for each in found for text in each.first][:EXAMPLES])

    def batches(self) -> Iterator[Batch]:
        first_row = 0
        names: tuple[str, ...] | None = None
        for source in self.sources:
            for batch in source.batches():
                names = batch.names if names is None else names
                if set(batch.names) != set(names):
                    raise BadData(
                        f"the columns differ from those of {self.sources[0].name}",
                        where=source.name,
                        found=list(batch.names),
                        remedy="Pass rows with the same columns",
                    )
                yield replace(batch.select(names), first_row=first_row)
                first_row += batch.rows


class Peeked(WrappedSource):
    """A source whose first batch was read already; it still yields all batches, once."""

    rereadable = False

    def __init__(self, source: Source, first: Batch | None, rest: Iterator[Batch]) -> None:
        super().__init__(source)
        self._first = first
        self._rest = rest

    def parts(self, threads: int) -> None:
        """None: the rows are being read already."""

    def batches(self) -> Iterator[Batch]:
        """The first batch and all that follow."""
        if self._first is not None:
            first, self._first = self._first, None
            yield first
        yield from self._rest


def peek(source: Source) -> tuple[Batch | None, Peeked]:
    """The first batch (None if there is none), and a source that yields every batch, the first included.

    >>> from bayesbox.source.base import OneBatch
    >>> from bayesbox.source.frames import batch_of
    >>> first, source = peek(OneBatch(batch_of({"age": [25, 40]})))
    >>> first.rows, sum(batch.rows for batch in source.batches())
    (2, 2)
    """
    rest = source.batches()
    first = next(rest, None)
    return first, Peeked(source, first, rest)
