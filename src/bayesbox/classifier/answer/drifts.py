"""Drift results: a test for each column, and for the predicted classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bayesbox.display.blocks import Bar, Block, TableBlock, TextBlock, count_text
from bayesbox.display.result import Result
from bayesbox.file.reader import Json
from bayesbox.stat.drift import ShiftTest

ENOUGH, SURE = 0.1, 0.01  # the minimum PSI and the maximum p-value of a drifted column
LARGE = 0.25
MOMENTS = "moments"  # how numbers are compared if cells were not counted


@dataclass(frozen=True)
class ColumnDrift:
    """The drift of one column: tests of its values and of its missing values, and its unseen levels.

    `by` is what was compared: levels, cells (numbers in about ten groups of cells), bins, words, or moments. `unseen`
    counts unseen levels, or numbers outside the training range. `change` describes the largest change.
    """

    column: str
    by: str
    test: ShiftTest
    missing_before: float
    missing_after: float
    missing_test: ShiftTest
    unseen: int
    examples: tuple[str, ...]
    change: str

    @property
    def psi(self) -> float:
        """The population stability index."""
        return self.test.psi

    @property
    def p_value(self) -> float:
        """The p-value of the difference."""
        return self.test.p_value

    @property
    def drifted(self) -> bool:
        """Whether the values, or the share missing, have drifted: PSI of at least 0.1 and p-value of at most 0.01."""
        return any(_is_drift(test) for test in (self.test, self.missing_test))

    @property
    def word(self) -> str:
        """The size of the drift as a word."""
        parts = [_size(self.test)] if _is_drift(self.test) else []
        return ", ".join([*parts, "missing"] if _is_drift(self.missing_test) else parts)

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "column": self.column,
            "by": self.by,
            **self.test._asdict(),
            "drifted": self.drifted,
            "missing_before": self.missing_before,
            "missing_after": self.missing_after,
            "missing_p_value": self.missing_test.p_value,
            "missing_psi": self.missing_test.psi,
            "unseen": self.unseen,
            "examples": list(self.examples),
            "change": self.change,
        }


def _is_drift(test: ShiftTest) -> bool:
    return test.psi >= ENOUGH and test.p_value <= SURE


def _size(test: ShiftTest) -> str:
    return "large" if test.psi >= LARGE else "some"


@dataclass(frozen=True)
class ClassDrift:
    """The drift of one class: its share in training, the mean of P(class) now, and its share of the predictions.

    Comparing two models, `expected` and `predicted` are both its share among the rows of the second.
    """

    name: str
    learned: float
    expected: float
    predicted: float

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {"class": self.name, "learned": self.learned, "expected": self.expected, "predicted": self.predicted}


@dataclass(frozen=True, repr=False)
class Drift(Result):
    """The drift since training: the columns with the largest PSI first, and the classes.

    `rows` new rows are compared with `rows_before` training rows. `class_psi` is the PSI between the class shares in
    training and those expected now. Only a comparison of two models has a `class_test`: an uncalibrated model expects
    shares that differ from training even without drift.
    """

    target: str
    rows_before: float
    rows: float
    columns: tuple[ColumnDrift, ...]
    classes: tuple[ClassDrift, ...]
    class_psi: float
    class_test: ShiftTest | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[ColumnDrift]:
        return iter(self.columns)

    def __getitem__(self, name: str | int) -> ColumnDrift:
        if isinstance(name, int):
            return self.columns[name]
        found = next((each for each in self.columns if each.column == name), None)
        if found is None:
            raise KeyError(name)
        return found

    @property
    def drifted(self) -> list[str]:
        """The columns that have drifted."""
        return [each.column for each in self.columns if each.drifted]

    def _headline(self) -> str:
        summary = f"drifted: {', '.join(self.drifted)}" if self.drifted else "no drift"
        return f"Drift({count_text(self.rows)} rows against {count_text(self.rows_before)}; {summary})"

    def _title(self) -> str:
        number = len(self.drifted)
        columns = f"{len(self)} column{'' if len(self) == 1 else 's'}"
        summary = f"{number or 'none'} of {columns} drifted"
        return f"{count_text(self.rows)} rows compared with {count_text(self.rows_before)} training rows: {summary}"

    def _blocks(self) -> Sequence[Block]:
        unseen = any(each.unseen for each in self.columns)
        missing = any(each.missing_before or each.missing_after for each in self.columns)
        rows = [
            [
                each.column,
                f"{each.psi:.4f}",
                p_text(each.p_value),
                each.word,
                *([f"{each.missing_before:.1%}", f"{each.missing_after:.1%}"] if missing else []),
                *([f"{each.unseen:,}"] if unseen else []),
                each.change,
            ]
            for each in self.columns
        ]
        names = ["column", "PSI", "p", "drift", *(["missing before", "now"] if missing else [])]
        names += ["unseen", "largest change"] if unseen else ["largest change"]
        right = [1, 2, *range(4, len(names) - 1)]
        return [TableBlock(names, rows, right=right), self._class_block(), *self._remarks()]

    def _class_block(self) -> TableBlock:
        rows = [
            [each.name, f"{each.learned:.4f}", f"{each.expected:.4f}", f"{each.predicted:.4f}", Bar(each.expected)]
            for each in sorted(self.classes, key=lambda each: -each.learned)
        ]
        tested = "" if self.class_test is None else f", p {p_text(self.class_test.p_value)}"
        caption = f"classes: PSI {self.class_psi:.4f}{tested}"
        return TableBlock([self.target, "learned", "expected", "predicted", ""], rows, caption, [1, 2, 3], most=12)

    def _remarks(self) -> list[Block]:
        lines = [
            (
                f"{'unseen levels' if each.by in ('levels', 'words') else 'values outside the training range'} in "
                f"{each.column}: {', '.join(each.examples)}"
            )
            for each in self.columns
            if each.examples
        ]
        by_moments = [each.column for each in self.columns if each.by == MOMENTS]
        if by_moments:
            lines.append(
                "compared by mean and standard deviation only, since their cells were not counted: "
                f"{', '.join(by_moments)}"
            )
        text = "\n".join([*lines, *self.notes])
        return [TextBlock(text)] if text else []

    def _frame(self) -> Mapping[str, Sequence[object]]:
        facts = [each.to_dict() for each in self.columns]
        names = ["column", "by", "statistic", "df", "p_value", "psi", "drifted", "missing_before", "missing_after"]
        return {name: [each[name] for each in facts] for name in [*names, "missing_p_value", "unseen", "change"]}

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "target": self.target,
            "rows_before": self.rows_before,
            "rows": self.rows,
            "drifted": self.drifted,
            "columns": [each.to_dict() for each in self.columns],
            "classes": [each.to_dict() for each in self.classes],
            "class_psi": self.class_psi,
            "class_test": None if self.class_test is None else self.class_test._asdict(),
            "notes": list(self.notes),
        }


def p_text(p: float) -> str:
    """A p-value as text.

    >>> p_text(0.04512), p_text(3e-9), p_text(0.0)
    ('0.045', '3e-09', '<1e-99')
    """
    return f"{p:.3f}" if p >= 0.001 else "<1e-99" if p < 1e-99 else f"{p:.0e}"
