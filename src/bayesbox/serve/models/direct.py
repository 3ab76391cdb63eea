"""The fast path of predict in the core: it reads the JSON of plain rows and writes that of the answers.

Unusual requests (an unknown column or level, a text with escapes, an error) take the normal path, which has the notes
and the errors; both give the same answers.
"""

from __future__ import annotations

import msgspec

from bayesbox import _core
from bayesbox.classifier.one_row.answers import RowAnswers
from bayesbox.schema.levels import level_text
from bayesbox.serve.models.base import ModelAnswer
from bayesbox.serve.store.base import ModelState


class DirectAnswers:
    """The fast path for one state of a model."""

    def __init__(self, state: ModelState) -> None:
        self.state = state
        answers = state.classifier.row_answers()
        self.labels = answers.labels
        self._before = b'{"digest":"%s","answers":[' % state.digest.encode()
        self._scorer: _core.JsonScorer | None = None
        if answers.is_plain and isinstance(answers.core, _core.RowScorer):
            skipped, numbers = _unused(answers)
            self._scorer = _core.JsonScorer(
                answers.core,
                [name.encode() for name in skipped],
                [name.encode() for name in numbers],
                [msgspec.json.encode(label) for label in answers.labels],
                [msgspec.json.encode(level_text(label)) + b":" for label in answers.labels],
            )

    def answer(self, body: bytes, most: int) -> ModelAnswer | None:
        """The answer to a body of at most this many rows; None if it needs the normal path."""
        if self._scorer is None:
            return None
        found = self._scorer.answer(body, self._before, b"]}", most)
        if found is None:
            return None
        text, rows, counts = found
        classes = {label: count for label, count in zip(self.labels, counts, strict=True) if count}
        return ModelAnswer(text, self.state.digest, rows, classes)


def _unused(answers: RowAnswers) -> tuple[set[str], set[str]]:
    """The columns that may be present without a note: the target and ignored columns with any values, and uninformative
    numbers."""
    classifier = answers.classifier
    kinds = {} if classifier.schema is None else classifier.schema.kinds
    ignored = {name for name, kind in kinds.items() if not kind.is_used}
    if classifier.target is not None:
        ignored.add(classifier.target)
    numbers = {name for name, kind in kinds.items() if kind.is_used and kind.is_number and not kind.translates}
    return ignored - {*answers.inputs}, numbers - ignored - {*answers.inputs}
