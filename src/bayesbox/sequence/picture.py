"""The drawing of a sequence decoded by a hidden Markov model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.errors import BadData, UnknownColumn
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.encode import encode
from bayesbox.sequence.drawing import Decoded, Seen, seen_levels, sequence_svg
from bayesbox.sequence.steps import Sequences

if TYPE_CHECKING:
    from bayesbox.sequence.hmm import HiddenMarkovModel

MOST_STEPS = 5000  # points that a drawing can show


def picture(
    hmm: HiddenMarkovModel,
    found: Sequences,
    *,
    column: str | None = None,
    names: Sequence[Any] | None = None,
    title: str = "Most probable path and P(state)",
) -> str:
    """The drawing of one sequence; `names` are those of its steps, by default 1, 2, ..."""
    if found.offsets.size != 2:
        raise BadData("a drawing shows one sequence", found=found.offsets.size - 1)
    if found.size > MOST_STEPS:
        raise BadData(f"a drawing shows at most {MOST_STEPS:,} steps", found=found.size, remedy="Draw a part of it")
    model = hmm.model_
    shown = column if column is not None else model.columns[0] if model.columns else None
    if column is not None and column not in model.columns:
        raise UnknownColumn(column, available=model.columns)
    texts = tuple(_step_text(name) for name in (names if names is not None else range(1, found.size + 1)))
    if len(texts) != found.size:
        raise BadData(f"{found.size} steps, but {len(texts)} names")
    place = {state: index for index, state in enumerate(hmm.states_.tolist())}
    path = np.array([place[state] for state in hmm.predict_steps(found).tolist()], dtype=np.int64)
    decoded = Decoded(model.states, hmm.posterior_steps(found), path, texts)
    return sequence_svg(title, decoded, None if shown is None else _seen(hmm, found, shown))


def _step_text(name: object) -> str:
    """The name of a step; an integral number without a decimal point, since a file does not tell the two apart.

    >>> _step_text(3.0), _step_text(2.5), _step_text("May")
    ('3', '2.5', 'May')
    """
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _seen(hmm: HiddenMarkovModel, found: Sequences, name: str) -> Seen | None:
    values = found.columns.get(name)
    if values is None and len(found.columns) == 1:
        values = next(iter(found.columns.values()))  # values without a column name
    if values is None:
        return None
    title = "seen" if name.isdecimal() else name
    conditional = next(each for each in hmm.model_.conditionals if name in each.columns)
    table = conditional.level_table()
    if table is not None:
        codes, levels, _ = encode(values)
        texts = [None if code < 0 else levels[code] for code in codes.tolist()]
        return seen_levels(title, texts, table.levels)
    return Seen(title, np.asarray(as_numbers(values, name=name), dtype=np.float64))
