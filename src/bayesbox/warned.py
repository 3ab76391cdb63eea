"""All warnings of bayesbox; `bayesbox.errors` re-exports them.

DataWarning (UserWarning)                     suspicious data that can be used
  SuspiciousData                              columns that look wrong: `reason`, `columns`
  MissingColumns                              columns of the model that are absent: `missing`, `nearest`
  UnseenLevels                                unseen levels, by column: `counts`, `examples`, `known`
  ImpossibleRows                              rows or sequences impossible in every class: `count` of `rows`
  DroppedWords                                words dropped because of a limit: `count`, `limit`
  UnknownStates                               a column whose values are not states of its node: `column`
  ColumnsByPosition                           named columns where training had none, or the reverse
  LostCalibration                             a calibration that no longer fits the classes
  WorseThanBaseline                           a model worse than always predicting `answer`: `accuracy`, `log_loss`
  CalibrationNotExported                      a calibration that cannot be exported to `language`
  LostLedger                                  a ledger dropped by a merge with a model that has none: `without`
  RoundedRows                                 rows of a network file that sum to 1 only after rounding: `sums`
  SkippedLinks                                links in folders of documents that were not followed: `count`
  NotSettled                                  an approximation that has not converged
  AnswerByCases                               a slow exact answer, computed case by case: `seconds`
ExtensionFailed (UserWarning)                 an installed extension whose module cannot be imported: `name`
LocksUnsupported (UserWarning)                a file system on which files cannot be locked: `path`, `reason`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from bayesbox.described import Advice, Described, Remedy, pasted

MOST_LISTED = 8  # names, levels or examples shown in a message
MISSING_MARKS = frozenset(
    {"?", "na", "n/a", "nan", "null", "none", "nil", "-", "--", ".", "missing", "unknown", "#n/a"}
)
"""Texts in lower case that often mean missing."""


class DataWarning(Described, UserWarning):
    """Suspicious data that can still be used."""


class SuspiciousData(DataWarning):
    """Columns that look wrong; `reason` is a short code, such as "constant"."""

    def __init__(self, what: str, *, reason: str, columns: Sequence[str], remedy: Advice | None = None) -> None:
        super().__init__(what, remedy=remedy)
        self.reason = reason
        self.columns = tuple(columns)


class MissingColumns(DataWarning):
    """Columns of the model, `missing`, that the new rows do not have; they are treated as missing in every row.

    `nearest` maps some of them to the most similar name among the unknown columns of the rows.
    """

    def __init__(self, missing: Sequence[str], nearest: Mapping[str, str], *, where: str | None = None) -> None:
        self.missing = tuple(missing)
        self.nearest = dict(nearest)
        columns = (
            f"the data have no column {listed(self.missing)}"
            if where is None
            else (f"has no column {listed(self.missing)}")
        )
        guesses = [f"Is `{near}` the column `{name}`?" for name, near in list(self.nearest.items())[:MOST_LISTED]]
        super().__init__(f"{columns}: treated as missing in every row", where=where, remedy=" ".join(guesses) or None)

    def without_remedy(self) -> str:
        """The message without the remedy; it starts with the place."""
        return f"{self.where} {self.what}" if self.where else self.what


class UnseenLevels(DataWarning):
    """Levels that were neither seen in training nor declared: `counts` of rows by column, out of `rows`.

    `examples` are some of the levels, `known` those that the model knows, both by column; `ignored` says whether the
    column is ignored in such rows, or smoothed.
    """

    def __init__(
        self,
        counts: Mapping[str, int],
        examples: Mapping[str, Sequence[str]],
        known: Mapping[str, Sequence[str]],
        *,
        rows: int,
        ignored: bool = True,
    ) -> None:
        self.counts = dict(counts)
        self.examples = {name: tuple(each) for name, each in examples.items()}
        self.known = {name: tuple(each) for name, each in known.items()}
        self.rows = rows
        self.ignored = ignored
        each = [self._of_column(name) for name in list(self.counts)[:MOST_LISTED]]
        more = f"; {len(self.counts) - MOST_LISTED} more columns" if len(self.counts) > MOST_LISTED else ""
        fate = "ignored in these rows" if ignored else "given the probability of a zero count by the smoothing rule"
        what = f"levels not seen in training, {fate}: {'; '.join(each)}{more}"
        super().__init__(what, remedy=self._missing_mark())

    def _of_column(self, name: str) -> str:
        levels = self.known[name]
        there = ", ".join(levels[:MOST_LISTED]) + (", ..." if len(levels) > MOST_LISTED else "")
        found = ", ".join(map(repr, self.examples[name]))
        return f"`{name}` in {self.counts[name]:,} of {self.rows:,} ({found}; known: {there})"

    @property
    def missing_marks(self) -> tuple[str, ...]:
        """The examples that often mean missing."""
        found = (level for each in self.examples.values() for level in each if is_missing_mark(level))
        return tuple(dict.fromkeys(found))

    def _missing_mark(self) -> Remedy | None:
        marks = self.missing_marks
        if not marks:
            return None
        stands = "means missing" if len(marks) == 1 else "mean missing"
        python = f"replace it with None, or pass na={list(marks)} to bayesbox.predict"
        return f"If {' and '.join(map(repr, marks))} {stands}: " + Remedy(python, f"--na {pasted(','.join(marks))}")

    def of_rows(self, rows: int) -> UnseenLevels:
        """The same warning for this total number of rows."""
        return type(self)(self.counts, self.examples, self.known, rows=rows, ignored=self.ignored)

    def __add__(self, other: UnseenLevels) -> UnseenLevels:
        counts, examples, known = dict(self.counts), dict(self.examples), {**other.known, **self.known}
        for name, count in other.counts.items():
            counts[name] = counts.get(name, 0) + count
            examples[name] = most_informative((*examples.get(name, ()), *other.examples[name]))
        return type(self)(counts, examples, known, rows=self.rows + other.rows, ignored=self.ignored)


def level_of_caller() -> int:
    """The `stacklevel` for `warnings.warn` in the caller that points to the first line outside the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("bayesbox."):
        frame, level = frame.f_back, level + 1
    return level


def is_missing_mark(level: str) -> bool:
    """Whether a text often means missing.

    >>> is_missing_mark("?"), is_missing_mark("Monthly")
    (True, False)
    """
    return level.strip().lower() in MISSING_MARKS


def most_informative(levels: Sequence[str]) -> tuple[str, ...]:
    """A few of the levels, those first that often mean missing."""
    distinct = dict.fromkeys(levels)
    return tuple(sorted(distinct, key=lambda level: not is_missing_mark(level))[:EXAMPLES])


EXAMPLES = 3  # unseen levels of a column that a warning names


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, at most a few.

    >>> listed(["tenure", "contract"])
    '`tenure`, `contract`'
    """
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(f"`{name}`" for name in names[:MOST_LISTED]) + more


class ImpossibleRows(DataWarning):
    """`count` of `rows` rows or sequences that are impossible in every class; `answer` describes what is predicted."""

    def __init__(self, count: int, rows: int, answer: str) -> None:
        super().__init__(f"{count:,} of {rows:,} {answer}")
        self.count = count
        self.rows = rows
        self.answer = answer

    def __add__(self, other: ImpossibleRows) -> ImpossibleRows:
        return type(self)(self.count + other.count, self.rows + other.rows, self.answer)


class DroppedWords(DataWarning):
    """The `count` rarest words were dropped, since there are more than `limit`."""

    def __init__(self, count: int, limit: int) -> None:
        super().__init__(
            f"the limit of {limit:,} words was exceeded: the {count:,} rarest words were dropped, and the model "
            "can no longer forget"
        )
        self.count = count
        self.limit = limit


class UnknownStates(DataWarning):
    """A `column` whose values are not states of its node, so that all are treated as missing."""

    def __init__(self, column: str, levels: Sequence[str], *, states: Sequence[str]) -> None:
        super().__init__(
            f"no value of column `{column}` is a state of its node, so all are treated as missing: "
            f"{', '.join(levels[:3])}; the states are {', '.join(states[:8])}"
        )
        self.column = column
        self.levels = tuple(levels)
        self.states = tuple(states)


class ColumnsByPosition(DataWarning):
    """Columns that are matched by position, since only one of the training rows and the new rows has names.

    `fitted_with_names` is True if the training rows have names.
    """

    def __init__(self, estimator: str, *, fitted_with_names: bool) -> None:
        super().__init__(
            f"X does not have valid feature names, but {estimator} was fitted with feature names"
            if fitted_with_names
            else f"X has feature names, but {estimator} was fitted without feature names"
        )
        self.fitted_with_names = fitted_with_names


class LostCalibration(DataWarning):
    """A calibration that is dropped, since the classes have changed."""


class WorseThanBaseline(DataWarning):
    """A model that is worse on held-out rows than a constant prediction.

    `answer` is the most frequent class; `accuracy` and `log_loss` are those of the model, `baseline_accuracy` that of
    always predicting it, `baseline_log_loss` that of the class shares.
    """

    def __init__(
        self,
        answer: str,
        *,
        accuracy: float,
        log_loss: float,
        baseline_accuracy: float,
        baseline_log_loss: float,
        rows: int,
    ) -> None:
        parts = []
        if accuracy < baseline_accuracy:
            parts.append(
                f"accuracy {accuracy:.3f}, compared with {baseline_accuracy:.3f} for always predicting {answer}"
            )
        if log_loss > baseline_log_loss:
            parts.append(f"log loss {log_loss:.3f}, compared with {baseline_log_loss:.3f} for the class shares alone")
        super().__init__(
            f"the model is worse than always predicting {answer}, on {rows:,} held-out rows: {'; '.join(parts)}",
            remedy="Try another model, such as " + Remedy("AutoBayes", "--model auto") + ", or other columns",
        )
        self.answer = answer
        self.accuracy = accuracy
        self.log_loss = log_loss
        self.baseline_accuracy = baseline_accuracy
        self.baseline_log_loss = baseline_log_loss
        self.rows = rows


class CalibrationNotExported(DataWarning):
    """A model whose `calibration` cannot be exported to `language`: the exported model is not calibrated."""

    def __init__(self, language: str, calibration: str) -> None:
        super().__init__(
            f"{language} cannot express the calibration ({calibration}): the exported model gives the "
            "uncalibrated probabilities",
            remedy="Export to SQL or ONNX, which support column weights and temperature",
        )
        self.language = language
        self.calibration = calibration


class LostLedger(DataWarning):
    """A ledger that is dropped by a merge, since one of the models (`without`: first or second) has none."""

    def __init__(self, without: str) -> None:
        super().__init__(f"the {without} of the two models keeps no ledger, so the merged one has none")
        self.without = without


class RoundedRows(DataWarning):
    """Rows of tables in a file whose sum differs from 1 by rounding; `sums` has the worst sum of each node."""

    def __init__(self, sums: Mapping[str, float]) -> None:
        node, worst = max(sums.items(), key=lambda each: abs(each[1] - 1))
        nodes = f"{len(sums):,} nodes have rows" if len(sums) > 1 else "one node has a row"
        super().__init__(
            f"{nodes} whose sum differs from 1 by the rounding of the digits, rescaled to sum to 1: at worst "
            f"{worst:.8g}, for `{node}`"
        )
        self.sums = dict(sums)


class NotSettled(DataWarning):
    """An approximation that has not converged: chains that differ, messages that change, too few samples."""


class AnswerByCases(DataWarning):
    """An exact answer computed case by case to stay within the memory limit; it takes about `seconds`."""

    def __init__(self, what: str, *, seconds: float) -> None:
        super().__init__(f"exact, by {what}")
        self.seconds = seconds


class SkippedLinks(DataWarning):
    """`count` links in folders of documents that were not followed."""

    def __init__(self, count: int, where: str) -> None:
        links = "1 link in the folder was" if count == 1 else f"{count:,} links in the folder were"
        super().__init__(
            f"{links} skipped", where=where, remedy="Follow them: " + Remedy("follow_links=True", "--follow")
        )
        self.count = count


class LocksUnsupported(Described, UserWarning):
    """A file system that does not support locks, with the `reason`; changed files are still detected before a save."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"this file cannot be locked ({reason})",
            where=path,
            remedy="Make sure that only one process writes at a time",
        )
        self.path = path
        self.reason = reason


class ExtensionFailed(Described, UserWarning):
    """An installed extension whose module cannot be imported: its `name`, and the module."""

    def __init__(self, name: str, module: str, reason: BaseException) -> None:
        super().__init__(
            f"the extension `{name}` cannot be imported: {type(reason).__name__}: {reason}",
            where=module,
            remedy="Repair or uninstall the package that provides it",
        )
        self.name = name
