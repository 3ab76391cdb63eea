"""The nomogram as text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bayesbox.explain.nomogram import Mark, Nomogram, Ruler, chance_text, signed
from bayesbox.explain.nomogram_layout import (
    LogOddsScale,
    PlacedLabel,
    Spot,
    cut,
    placed,
    points_scale,
    spots,
    tick_text,
    total_scale,
)

LEAST_WIDTH = 60
MOST_LINES = 4
LONGEST_LABEL = 16
MARGIN = 2
GUTTER = 24  # the maximum number of characters for the names of columns
EDGE = 2  # characters beyond the ruler for arrows
SPACES_A_TICK = 10


def nomogram_text(found: Nomogram, width: int) -> str:
    """The lines: a scale, one ruler per column with | at its values and # at that of the row, the total."""
    return "\n".join(line.rstrip() for line in _Page(found, max(width, LEAST_WIDTH)).lines())


class _Page:
    """A nomogram in lines of this width: names on the left, rulers on the right."""

    def __init__(self, found: Nomogram, width: int) -> None:
        self.found = found
        self.chance_name = f"P({found.label})"
        names = [ruler.column for ruler in found.rulers] + [self.chance_name, "total log-odds"]
        names += [_own_words(ruler.own) for ruler in found.rulers if ruler.own is not None]
        self.gutter = min(max(map(len, names)), GUTTER)
        self.left = MARGIN + self.gutter + 2 + EDGE
        self.length = width - self.left - EDGE - 1
        self.width = width

    def lines(self) -> Iterator[str]:
        found, scale = self.found, points_scale(self.found)
        yield f"{found.title}: what each value adds to the log-odds"
        yield ""
        yield self._row("log-odds", self._ticks(scale, scale.ticks(self.length // SPACES_A_TICK)))
        for ruler in found.rulers:
            if ruler.every:
                yield from self._ruler(ruler, scale)
        yield from self._rest(scale)
        yield from self._ruler(Ruler("prior", (Mark(signed(found.prior), found.prior),)), scale)
        yield ""
        yield from self._totals()
        yield from (" " * MARGIN + remark for remark in found.remarks)

    def _row(self, name: str, cells: str) -> str:
        return " " * MARGIN + cut(name, self.gutter).ljust(self.left - MARGIN) + cells

    def _place(self, share: float) -> int:
        return round(share * (self.length - 1))

    def _ruler(self, ruler: Ruler, scale: LogOddsScale, *, named: bool = True) -> Iterator[str]:
        found = spots(ruler, scale, LONGEST_LABEL)
        labels = placed(found, (self.left, self.length - 1), 1, MOST_LINES, (self.left - EDGE, self.width))
        above = max((each.line + 1 for each in labels if each.spot.above), default=0)
        below = max((each.line + 1 for each in labels if not each.spot.above), default=0)
        for line in reversed(range(above)):
            yield self._labels("", [each for each in labels if each.spot.above and each.line == line])
        yield self._line(ruler.column, found)
        names = [_own_words(ruler.own)] if ruler.own is not None and named else []
        hidden = sum(len(spot.names) for spot in found) - sum(len(each.spot.names) for each in labels)
        names += [f"{hidden} more"] if hidden else []
        for line in range(max(below, len(names))):
            name = names[line] if line < len(names) else ""
            yield self._labels(name, [each for each in labels if not each.spot.above and each.line == line])

    def _line(self, name: str, found: Sequence[Spot], *, whole: bool = False) -> str:
        """The ruler, from its smallest to its largest mark, with arrows for values beyond the edges."""
        shares = [0.0, 1.0] if whole else [found[0].share, found[-1].share]
        first, last = map(self._place, shares)
        cells = [" "] * EDGE + ["-" if first <= place <= last else " " for place in range(self.length)] + [" "] * EDGE
        for spot in sorted(found, key=lambda spot: spot.own):  # the mark of the row covers others
            place = EDGE + self._place(spot.share)
            if spot.beyond:
                cells[place + spot.beyond] = "<" if spot.beyond < 0 else ">"
            cells[place] = "#" if spot.own else "|"
        return self._row(name, "")[: self.left - EDGE] + "".join(cells)

    def _labels(self, name: str, labels: Sequence[PlacedLabel]) -> str:
        text = self._row(name, "")[: self.left - EDGE]
        for each in sorted(labels, key=lambda each: each.left):
            text = text.ljust(round(each.left)) + each.spot.label
        return text

    def _ticks(self, scale: LogOddsScale, ticks: Sequence[float]) -> str:
        return self._written([(scale.share(tick), tick_text(tick)) for tick in ticks])

    def _written(self, words: Sequence[tuple[float, str]]) -> str:
        """Labels centred at their positions; one that would overlap the previous one is omitted."""
        text = ""
        for share, word in words:
            left = max(self._place(share) - len(word) // 2, 0)
            if not text or left > len(text):
                text = text.ljust(left) + word
        return text

    def _rest(self, scale: LogOddsScale) -> Iterator[str]:
        rest = self.found.rest()
        if isinstance(rest, Ruler):
            yield from self._ruler(rest, scale, named=False)
        for words in (rest, self.found.unmarked()):
            if isinstance(words, str):
                yield " " * MARGIN + words

    def _totals(self) -> Iterator[str]:
        found, scale = self.found, total_scale(self.found)
        ticks, chances = scale.ticks(self.length // SPACES_A_TICK), scale.chances()
        own = None if found.total is None else Mark(signed(found.total), found.total)
        yield self._row("total log-odds", self._ticks(scale, ticks))
        yield self._scale(own.label if own else "", ticks, own, scale)
        yield self._scale(self.chance_name, [odds for _, odds in chances], own, scale)
        words = self._written([(scale.share(odds), text) for text, odds in chances])
        yield self._row(chance_text(own.log_odds) if own else "", words)

    def _scale(self, name: str, places: Sequence[float], own: Mark | None, scale: LogOddsScale) -> str:
        """A ruler from edge to edge."""
        marks = tuple(Mark("", odds) for odds in places)
        return self._line(name, spots(Ruler("", marks, own), scale, 1), whole=True)


def _own_words(own: Mark) -> str:
    return f"= {cut(own.label, LONGEST_LABEL - 2)} {signed(own.log_odds)}"
