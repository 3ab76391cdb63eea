"""`CompiledScorer`: fast predictions of the current model, for one row or many."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from bayesbox.classifier.one_row.answers import RowAnswers
from bayesbox.dist.base import Doubles
from bayesbox.schema.levels import is_missing, level_text

if TYPE_CHECKING:
    from bayesbox.schema.levels import Labels
    from bayesbox.source.base import Batch


class RowAnswer(NamedTuple):
    """P(class | x) in the order of the classes, the number of absent columns, and the number of unseen levels."""

    proba: Doubles
    absent: int
    unseen: int


class CompiledScorer:
    """A compiled, immutable model: rows that the estimator learns later do not change it.

    Threads may share it. It cannot be pickled: pickle the estimator and call `scorer()` again.
    """

    def __init__(
        self, answers: RowAnswers, as_row: Callable[[Any], dict[str, Any]], as_batch: Callable[[Any], Batch]
    ) -> None:
        self._answers = answers
        self._as_row = as_row
        self._as_batch = as_batch

    @property
    def classes(self) -> Labels:
        """The labels, in the order of the probabilities."""
        labels: Labels = self._answers.classifier.model.labels
        return labels

    def proba(self, row: object) -> Doubles:
        """P(class | x) of one row, one value per class. An absent column is missing; there are no warnings."""
        return self._answers.proba(self._as_row(row))

    def log_proba(self, row: object) -> Doubles:
        """log P(class | x) of one row, one value per class."""
        return self._answers.log_proba(self._as_row(row))

    def predict(self, row: Any) -> Any:
        """The label of the most probable class of one row."""
        return self._answers.predict(self._as_row(row))

    def proba_many(self, rows: object) -> Doubles:
        """P(class | x) of many rows, rows x classes; `rows` is a list of dicts, a DataFrame or an array."""
        core = self._answers.core
        if core is not None and self._answers.is_plain and type(rows) is list:
            found = core.proba_many(rows, False)
            if found is not None:
                return found
        return self._answers.classifier.posterior(self._as_batch(rows))

    def terms(self, row: Any) -> dict[str, Doubles]:
        """log P(x | class) of each column, one value per class; zeros if it is missing or ignored."""
        answers = self._answers
        found: Any = answers.classifier.explain(answers.batch(self._as_row(row)))
        return {name: found.terms[0, :, place] for place, name in enumerate(found.columns)}

    def answer(self, row: Any) -> RowAnswer:
        """The probabilities, with the numbers of absent columns and of unseen levels."""
        row = self._as_row(row)
        classifier: Any = self._answers.classifier
        if not hasattr(classifier, "known_levels"):
            return RowAnswer(self.proba(row), 0, 0)
        silent = {*classifier.model.ignored, *classifier.ignored}
        absent = sum(name not in row and name not in silent for name in classifier.feature_names)
        known = classifier.known_levels()
        unseen = sum(
            name in row and not is_missing(row[name]) and level_text(row[name]) not in levels
            for name, levels in known.items()
        )
        return RowAnswer(self.proba(row), absent, int(unseen))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a scorer cannot be pickled or copied: pickle the estimator and call scorer() again")

    def __repr__(self) -> str:
        labels = np.array2string(self.classes, threshold=6, edgeitems=3)
        return f"CompiledScorer(classes={labels}, columns={len(self._answers.classifier.feature_names)})"
