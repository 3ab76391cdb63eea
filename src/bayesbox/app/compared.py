"""Evaluating several kinds of model on the same folds in the background, with progress and cancellation."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from bayesbox.app.audited import NamedTable
from bayesbox.classifier.evaluate import cross_validate
from bayesbox.classifier.evaluation import Evaluation
from bayesbox.classifier.registry import compared_models, new_classifier
from bayesbox.classifier.results.comparison import ModelComparison
from bayesbox.errors import BadOption, BayesboxError
from bayesbox.file.reader import Json
from bayesbox.schema.kinds import kind_named
from bayesbox.table.batch_learners import BatchLearner

FOLDS = 10
SLOW = ("auto",)  # evaluated only on request
NAMES = {"column_weights": "column weights"}


class _Cancelled(Exception):
    """The work was cancelled."""


def kinds_compared() -> dict[str, tuple[str, dict[str, str]]]:
    """The kinds by display name: the value of `--model`, and their other options.

    >>> list(kinds_compared())[:3]
    ['naive', 'naive, auto', 'naive, column weights']
    """
    return {
        model + "".join(f", {NAMES.get(key, value)}" for key, value in options.items()): (model, options)
        for model, options in compared_models()
    }


class Comparing:
    """The comparison of models on a table, one at a time, each on the same ten folds."""

    def __init__(self, table: NamedTable, types: Mapping[str, str] | None = None) -> None:
        self.table, self.types = table, dict(types or {})
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._cancel = threading.Event()
        self._now = ""  # the model being evaluated
        self._share = 0.0
        self._asked: Sequence[str] = ()
        self._cancelled = False
        self._evaluations: dict[str, Evaluation] = {}
        self._seconds: dict[str, float] = {}
        self._refused: dict[str, str] = {}
        self._forgets: dict[str, str] = {}
        self._rows: list[Json] = []

    def answer(self, action: str | None, models: Sequence[str]) -> Json:
        """Start, cancel, or report the progress."""
        if action == "start":
            self.start(models)
        elif action == "cancel":
            self._cancel.set()
        return self.state()

    def start(self, models: Sequence[str]) -> None:
        """Evaluate these models, unless an evaluation is running."""
        known = kinds_compared()
        chosen = [name for name in known if name in models]
        if not chosen:
            raise BadOption("choose a model to evaluate")
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._cancel.clear()
            self._asked, self._cancelled, self._share, self._now = chosen, False, 0.0, chosen[0]
            for each in (self._evaluations, self._seconds, self._refused, self._forgets):
                each.clear()
            self._rows = []
            self._thread = threading.Thread(target=self._work, args=(chosen,), daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait until no evaluation is running."""
        if self._thread is not None:
            self._thread.join()

    def state(self) -> Json:
        """The progress, and the results so far."""
        running = self._thread is not None and self._thread.is_alive()
        done = len(self._seconds) + len(self._refused)
        return {
            "kinds": list(kinds_compared()),
            "slow": list(SLOW),
            "folds": FOLDS,
            "running": self._now if running else None,
            "share": (done + self._share) / max(len(self._asked), 1) if running else float(bool(self._asked)),
            "cancelled": self._cancelled,
            "rows": self._rows,
            "refused": [{"name": name, "why": why} for name, why in list(self._refused.items())],
        }

    def _work(self, names: Sequence[str]) -> None:
        try:
            for name in names:
                self._now, self._share = name, 0.0
                start = time.perf_counter()
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # the data view reports problems of the rows
                        evaluation = self._judged(name)
                except BayesboxError as error:
                    self._refused[name] = error.without_remedy()
                    continue
                self._evaluations[name] = evaluation
                self._seconds[name] = time.perf_counter() - start
                self._rows = self._table()
        except _Cancelled:
            self._cancelled = True

    def _judged(self, name: str) -> Evaluation:
        model, options = kinds_compared()[name]
        table, done = self.table, 0
        declared = {column: kind_named(kind) for column, kind in self.types.items()}
        blank = new_classifier(model, options, declared)
        opened = blank.open_rows(table.path, target=table.target, weight=table.weight, reading=table.reading)
        classifier: Any = opened.classifier

        def progress(rows: int) -> None:
            nonlocal done
            done += rows
            total = float(classifier.book.class_counts.to_doubles().sum()) if table.weight is None else 0.0
            self._share = min(done / total, 1.0) if total else 0.0
            if self._cancel.is_set():
                raise _Cancelled

        if self._cancel.is_set():
            raise _Cancelled
        judged = cross_validate(
            classifier, opened.source, opened.target, folds=FOLDS, weight=table.weight, progress=progress
        )
        parts = classifier.irreversible_parts()
        once = isinstance(classifier, BatchLearner)
        self._forgets[name] = "no: it is trained once" if once else f"except {'; '.join(parts)}" if parts else "exactly"
        return judged

    def _table(self) -> list[Json]:
        """Every model so far, the best log loss first, with the paired difference to the best."""
        found = ModelComparison.of("", self._evaluations, self._seconds, {})
        rows = []
        for name, each in found.items():
            difference = None if name == found.best else found.difference(name)
            low, high = each.log_loss.interval
            rows.append(
                {
                    "name": name,
                    "logLoss": float(each.log_loss),
                    "low": float(low),
                    "high": float(high),
                    "accuracy": float(each.accuracy),
                    "auc": float(each.auc),
                    "calibration": float(each.calibration_error),
                    "seconds": self._seconds[name],
                    "forgets": self._forgets[name],
                    "difference": None
                    if difference is None
                    else [float(difference), *(float(end) for end in difference.interval)],
                }
            )
        return rows
