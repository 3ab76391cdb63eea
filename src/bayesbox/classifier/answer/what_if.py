"""What-if: the effect of other values of some columns on the prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbox.classifier.answer.explanation import CALIBRATION, PRIOR, odds_text
from bayesbox.classifier.answer.rows import changed_row, require_one_row, require_table
from bayesbox.classifier.case import RowCase, value_text
from bayesbox.classifier.report.strongest import cut
from bayesbox.display.blocks import Bar, Block, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.errors import BadOption
from bayesbox.file.reader import Json

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.source.base import Batch


@dataclass(frozen=True)
class TermChange:
    """One column before and after: its values, and its log-odds between the two classes."""

    column: str
    before: str | None
    after: str | None
    log_odds_before: float
    log_odds_after: float

    @property
    def changed(self) -> bool:
        """Whether the value changed."""
        return self.before != self.after

    @property
    def difference(self) -> float:
        """The change in the log-odds of the class."""
        return self.log_odds_after - self.log_odds_before if self.log_odds_after != self.log_odds_before else 0.0

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "name": self.column,
            "before": self.before,
            "after": self.after,
            "log_odds_before": self.log_odds_before,
            "log_odds_after": self.log_odds_after,
        }


@dataclass(frozen=True, repr=False)
class WhatIf(Result):
    """A row before and after a change. Log-odds are those of `prediction`, the class before, against `against`: the
    class after or, if that is the same, the runner-up."""

    target: str
    prediction: str
    prediction_after: str
    against: str | None
    before: Mapping[str, float]
    after: Mapping[str, float]
    log_odds_before: float
    log_odds_after: float
    columns: tuple[TermChange, ...]
    notes: tuple[str, ...] = ()

    @property
    def flips(self) -> bool:
        """Whether the change flips the prediction."""
        return self.prediction != self.prediction_after

    def changes(self) -> list[TermChange]:
        """The columns whose value or term changed."""
        return [each for each in self.columns if each.changed or each.difference]

    def _headline(self) -> str:
        changed = ", ".join(f"{each.column}={each.after}" for each in self.columns if each.changed)
        before, after = self.before[self.prediction], self.after[self.prediction]
        return f"WhatIf({changed or 'no change'}: P({self.prediction}) {before:.4f} -> {after:.4f})"

    def _title(self) -> str:
        if self.flips:
            return f"{self.target} = {self.prediction} becomes {self.prediction_after}"
        return f"{self.target} stays {self.prediction}"

    def _blocks(self) -> Sequence[Block]:
        ranked = sorted(self.before, key=lambda name: -max(self.before[name], self.after[name]))
        rows = [[name, self.before[name], self.after[name], Bar(self.after[name])] for name in ranked]
        blocks: list[Block] = [TableBlock([self.target, "before", "after", ""], rows, most=12)]
        if self.against is not None:
            moved = [
                [
                    each.column,
                    _shown(each.before),
                    _shown(each.after),
                    f"{each.log_odds_before:+.4f}",
                    f"{each.log_odds_after:+.4f}",
                ]
                for each in self.changes()
            ]
            total = ["total", odds_text(self.log_odds_before), odds_text(self.log_odds_after)]
            moved.append([*total, f"{self.log_odds_before:+.4f}", f"{self.log_odds_after:+.4f}"])
            names = [f"log-odds of {self.prediction} against {self.against}", "before", "after", "", ""]
            blocks.append(TableBlock(names, moved, right=[3, 4]))
        return [*blocks, *([TextBlock("\n".join(f"note: {note}" for note in self.notes))] if self.notes else [])]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        return {
            "column": [each.column for each in self.columns],
            "before": [each.before for each in self.columns],
            "after": [each.after for each in self.columns],
            "log_odds_before": [each.log_odds_before for each in self.columns],
            "log_odds_after": [each.log_odds_after for each in self.columns],
        }

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "target": self.target,
            "prediction": self.prediction,
            "prediction_after": self.prediction_after,
            "against": self.against,
            "before": dict(self.before),
            "after": dict(self.after),
            "log_odds_before": self.log_odds_before,
            "log_odds_after": self.log_odds_after,
            "columns": [each.to_dict() for each in self.columns],
            "notes": list(self.notes),
        }


def _shown(value: str | None) -> str:
    return "(missing)" if value is None else cut(value)


def what_if(classifier: AnyClassifier, batch: Batch, changes: Mapping[str, Any]) -> WhatIf:
    """Compare a batch of one row with other values of some columns; None makes a column missing."""
    table = require_table(classifier, "what_if")
    require_one_row(batch, "what_if")
    if not isinstance(changes, Mapping) or not changes:
        raise BadOption(
            "changes must be a mapping of column to value", found=changes, remedy='Write {"contract": "Two year"}'
        )
    return compared(table, batch, changed_row(table, batch, changes))


def compared(classifier: AnyTableClassifier, batch: Batch, other: Batch) -> WhatIf:
    """The comparison of two rows."""
    first, second = RowCase.of(classifier, batch), RowCase.of(classifier, other)
    becomes = second.prediction
    if becomes != first.prediction:
        first = RowCase.of(classifier, batch, against=becomes)
    if first.against is not None:
        second = RowCase.between(classifier, other, first.prediction, first.against)
    values = {name: value_text(column) for name, column in classifier.shown_columns(other).items()}
    after = {name: odds for name, _, odds in second.columns}
    columns = [TermChange(PRIOR, "", "", first.prior_log_odds, second.prior_log_odds)]
    columns += [
        TermChange(name, value, values.get(name), odds, after.get(name, 0.0)) for name, value, odds in first.columns
    ]
    if first.calibration_log_odds is not None:
        columns.append(TermChange(CALIBRATION, "", "", first.calibration_log_odds, second.calibration_log_odds or 0.0))
    notes = dict.fromkeys(second.notes(classifier))
    return WhatIf(
        classifier.target or "class",
        first.prediction,
        becomes,
        first.against,
        first.posterior,
        second.posterior,
        first.log_odds,
        second.log_odds,
        tuple(columns),
        tuple(notes),
    )
