"""The same metrics by groups of rows, such as those of a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbox.display.blocks import Block, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.errors import BadOption
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import level_text
from bayesbox.stat.row_scores import METRICS

if TYPE_CHECKING:
    from bayesbox.classifier.evaluation import Evaluation
    from bayesbox.file.reader import Json

FEW = 20  # rows below which a group is marked
MOST_GROUPS = 1000
MISSING_GROUP = "(missing)"
NAMES = {"log_loss": "log loss", "brier": "Brier", "auc": "AUC", "calibration_error": "calibration error"}


@dataclass(frozen=True, repr=False)
class GroupTable(Result, Mapping[str, "Evaluation"]):
    """A mapping from group to the evaluation of its rows; `few` are the groups of fewer than 20 rows."""

    name: str
    groups: Mapping[str, Evaluation]

    def __getitem__(self, group: object) -> Evaluation:
        return self.groups[level_text(group)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def few(self) -> tuple[str, ...]:
        """The groups of fewer than 20 rows, whose metrics are unreliable."""
        return tuple(name for name, found in self.groups.items() if found.scored.rows < FEW)

    def _headline(self) -> str:
        return f"GroupTable({self.name!r}, {len(self):,} groups)"

    def _blocks(self) -> Sequence[Block]:
        few = set(self.few)
        rows = [
            [
                f"{name} *" if name in few else name,
                found.scored.rows,
                f"{found.accuracy:.4f}",
                found.accuracy.interval_text(),
                f"{found.log_loss:.4f}",
                found.log_loss.interval_text(),
                found.auc.value,
                found.calibration_error.value,
            ]
            for name, found in self.groups.items()
        ]
        columns = [self.name, "rows", "accuracy", "95 % interval", "log loss", "95 % interval", "AUC", "calib. error"]
        note = [TextBlock(f"* fewer than {FEW} rows: too few for a conclusion")] if few else []
        return [TableBlock(columns, rows, caption=f"by {self.name}", right=(2, 4)), *note]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        found: dict[str, list[Any]] = {self.name: list(self.groups)}
        found["rows"] = [each.scored.rows for each in self.groups.values()]
        for metric in METRICS:
            values = [getattr(each, metric) for each in self.groups.values()]
            found[metric] = [value.value for value in values]
            found[f"{metric}_low"], found[f"{metric}_high"] = ([v.low for v in values], [v.high for v in values])
        found["few"] = [name in self.few for name in self.groups]
        return found

    def as_dict(self) -> Json:
        """As a dict for JSON: the name of the column, and for each group its rows and metrics."""
        groups = [
            {
                "group": name,
                "rows": each.scored.rows,
                "few": each.scored.rows < FEW,
                **{metric: metric_json(getattr(each, metric)) for metric in METRICS},
            }
            for name, each in self.groups.items()
        ]
        return {"column": self.name, "groups": groups}


def metric_json(metric: Any) -> Json:
    """A metric for JSON."""
    return {"value": metric.value, "low": metric.low, "high": metric.high}


def group_codes(name: str, labels: Encoded) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The group of each row as a code, and the groups sorted by name; missing values are one group."""
    used = sorted({labels.levels[code] for code in np.unique(labels.codes) if code >= 0}, key=_order)
    if len(used) > MOST_GROUPS:
        raise BadOption(
            f"`{name}` has {len(used):,} values, more than the limit of {MOST_GROUPS:,} groups",
            remedy="Bin numbers first, for example with pandas.cut",
        )
    place = {text: code for code, text in enumerate(used)}
    codes = np.array([*(place.get(text, -1) for text in labels.levels), len(used)], np.int64)[labels.codes]
    names = (*used, MISSING_GROUP) if (labels.codes < 0).any() else tuple(used)
    return codes, names


def _order(text: str) -> tuple[float, str]:
    try:
        return (float(text), text)
    except ValueError:
        return (float("inf"), text)
