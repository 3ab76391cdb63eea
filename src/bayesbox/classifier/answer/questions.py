"""The unknown columns, or nodes, ranked by their expected information."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bayesbox.display.blocks import Bar, Block, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.file.reader import Json


@dataclass(frozen=True)
class ColumnQuestion:
    """An unknown column: the expected information of its value about the target, in bits, and the cost of asking.

    `values` are the possible answers, if they can be listed.
    """

    column: str
    information: float
    cost: float = 1.0
    values: tuple[str, ...] | None = None

    @property
    def worth(self) -> float:
        """The sort key of questions: bits per cost."""
        return self.information / self.cost

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        values = None if self.values is None else list(self.values)
        return {
            "column": self.column,
            "information": self.information,
            "cost": self.cost,
            "worth": self.worth,
            "values": values,
        }


@dataclass(frozen=True, repr=False)
class ColumnQuestions(Result):
    """The unknown columns to ask, the best first; iterate over them, or index them.

    `posterior` is the current posterior of the target, and `entropy` its entropy in bits. `silent` lists what cannot be
    asked, with the reasons.
    """

    target: str
    posterior: Mapping[str, float]
    entropy: float
    questions: tuple[ColumnQuestion, ...]
    silent: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[ColumnQuestion]:
        return iter(self.questions)

    def __getitem__(self, place: int) -> ColumnQuestion:
        return self.questions[place]

    @property
    def best(self) -> ColumnQuestion | None:
        """The best question; None if nothing is unknown."""
        return self.questions[0] if self.questions else None

    @property
    def bits(self) -> dict[str, float]:
        """The information of each question by its name."""
        return {each.column: each.information for each in self.questions}

    def _headline(self) -> str:
        best = self.best
        asked = "nothing left to ask" if best is None else f"{best.column} {best.information:.4f} bits"
        return f"ColumnQuestions({asked}; {len(self)} questions, entropy {self.entropy:.4f} bits)"

    def _title(self) -> str:
        return f"what to ask next about {self.target}: remaining uncertainty {self.entropy:.4f} bits"

    def _blocks(self) -> Sequence[Block]:
        if not self.questions:
            return [TextBlock("nothing left to ask"), *self._remarks()]
        longest = max(each.worth for each in self.questions) or 1.0
        rows = [
            [
                each.column,
                f"{each.information:.4f}",
                *self._cost(each),
                _share(each.information, self.entropy),
                _bar(each, longest),
            ]
            for each in self.questions
        ]
        costs = ["cost", "bits per cost"] if self._has_costs else []
        right = range(1, 3 + len(costs))
        table = TableBlock(["ask", "expected bits", *costs, "share of the uncertainty", ""], rows, right=right)
        return [table, *self._remarks()]

    def _remarks(self) -> list[Block]:
        lines = [f"cannot be asked: {name}, since {why}" for name, why in self.silent.items()]
        text = "\n".join([*lines, *self.notes])
        return [TextBlock(text)] if text else []

    @property
    def _has_costs(self) -> bool:
        return any(each.cost != 1 for each in self.questions)

    def _cost(self, each: ColumnQuestion) -> list[str]:
        return [f"{each.cost:g}", f"{each.worth:.4f}"] if self._has_costs else []

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {
            "column": [each.column for each in self.questions],
            "information": [each.information for each in self.questions],
            "cost": [each.cost for each in self.questions],
            "worth": [each.worth for each in self.questions],
        }

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "target": self.target,
            "posterior": dict(self.posterior),
            "entropy": self.entropy,
            "questions": [each.to_dict() for each in self.questions],
            "silent": dict(self.silent),
            "notes": list(self.notes),
        }


def _share(bits: float, entropy: float) -> str:
    return f"{bits / entropy:.1%}" if entropy > 0 else ""


def _bar(each: ColumnQuestion, longest: float) -> Bar:
    return Bar(each.worth / longest)


def ordered(questions: Iterable[ColumnQuestion]) -> tuple[ColumnQuestion, ...]:
    """The questions by bits per cost, the best first."""
    return tuple(sorted(questions, key=lambda each: (-each.worth, each.column)))


def checked_costs(costs: Mapping[str, float] | None, names: Iterable[str]) -> dict[str, float]:
    """The costs by name, checked: positive numbers for existing names."""
    if costs is None:
        return {}
    known = tuple(names)
    if not isinstance(costs, Mapping):
        raise BadOption("costs must be a mapping of column to cost", found=costs, remedy="Write {'age': 2}")
    found = {}
    for name, cost in costs.items():
        if name not in known:
            raise UnknownColumn(str(name), available=known)
        try:
            number = float(cost)
        except (TypeError, ValueError):
            number = math.nan
        if not 0 < number < math.inf:
            raise BadOption(f"the cost of `{name}` must be a positive number", found=cost)
        found[str(name)] = number
    return found
