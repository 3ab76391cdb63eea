"""Counterfactual results: changes of a row that flip its prediction, the smallest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bayesbox.display.blocks import Bar, Block, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.file.reader import Json


@dataclass(frozen=True)
class ColumnChange:
    """The change of one column; `size` is 1 for a level, and the distance in standard deviations for a number."""

    column: str
    before: str
    after: str
    size: float

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {"column": self.column, "before": self.before, "after": self.after, "size": self.size}


@dataclass(frozen=True)
class Flip:
    """Changes that together flip the prediction: the new class, and its probability."""

    changes: tuple[ColumnChange, ...]
    prediction: str
    probability: float

    @property
    def change(self) -> float:
        """The total size of the changes."""
        return sum(each.size for each in self.changes)

    @property
    def values(self) -> dict[str, str]:
        """The new values by column."""
        return {each.column: each.after for each in self.changes}

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "changes": [each.to_dict() for each in self.changes],
            "change": self.change,
            "prediction": self.prediction,
            "probability": self.probability,
        }


@dataclass(frozen=True, repr=False)
class Flips(Result):
    """The smallest changes that flip the prediction, the best first: one per column, or one per pair of columns if no
    single column is enough. Empty if no change of one or two columns is enough."""

    target: str
    prediction: str
    posterior: Mapping[str, float]
    to: str | None
    options: tuple[Flip, ...]
    fixed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.options)

    def __iter__(self) -> Iterator[Flip]:
        return iter(self.options)

    def __getitem__(self, place: int) -> Flip:
        return self.options[place]

    @property
    def best(self) -> Flip | None:
        """The smallest change; None if there is none."""
        return self.options[0] if self.options else None

    def _headline(self) -> str:
        best = self.best
        if best is None:
            return f"Flips({self.prediction}: no change of one or two columns is enough)"
        changes = ", ".join(f"{each.column}={each.after}" for each in best.changes)
        return f"Flips({self.prediction} -> {best.prediction} by {changes}; {len(self)} way{'s' * (len(self) != 1)})"

    def _title(self) -> str:
        other = f"`{self.to}`" if self.to is not None else "another class"
        now = f"{self.target} = {self.prediction} with probability {self.posterior[self.prediction]:.4g}"
        return f"{now}; smallest changes for {other}"

    def _blocks(self) -> Sequence[Block]:
        kept = [TextBlock(f"fixed: {', '.join(self.fixed)}")] if self.fixed else []
        if not self.options:
            return [TextBlock("no change of one or two columns is enough"), *kept]
        longest = max(option.change for option in self.options) or 1.0
        rows: list[list[object]] = []
        for option in self.options:
            first, *others = [f"{each.column} = {each.after} (is {each.before})" for each in option.changes]
            bar = Bar(option.change / longest)
            rows.append([first, option.prediction, option.probability, f"{option.change:.3g}", bar])
            rows += [[f"and {each}", "", None, "", ""] for each in others]
        return [TableBlock(["change", self.target, "probability", "size", ""], rows, right=[3]), *kept]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        pairs = [(place, option, each) for place, option in enumerate(self.options) for each in option.changes]
        return {
            "option": [place for place, _, _ in pairs],
            "column": [each.column for _, _, each in pairs],
            "before": [each.before for _, _, each in pairs],
            "after": [each.after for _, _, each in pairs],
            "size": [each.size for _, _, each in pairs],
            "prediction": [option.prediction for _, option, _ in pairs],
            "probability": [option.probability for _, option, _ in pairs],
        }

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "target": self.target,
            "prediction": self.prediction,
            "posterior": dict(self.posterior),
            "to": self.to,
            "fixed": list(self.fixed),
            "options": [option.to_dict() for option in self.options],
        }
