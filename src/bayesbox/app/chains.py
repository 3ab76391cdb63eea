"""The data of the hidden Markov model view: a decoded sequence, and the trellis of its best path."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bayesbox.errors import BadData, BadOption, BayesboxError
from bayesbox.file.reader import Json
from bayesbox.schema.levels import level_text
from bayesbox.sequence.hmm import HiddenMarkovModel
from bayesbox.sequence.work.numbers import GIVEN, MOST_STEPS
from bayesbox.sequence.work.viterbi import Trellis

EXAMPLE = 8  # steps of the example

Texts = list[dict[str, str]]
"""Steps as texts by column; an absent column is unknown."""


def chain_spec(hmm: HiddenMarkovModel) -> Json:
    """The states, the columns with their levels (none for numbers), and an initial sequence."""
    levels = _levels(hmm)
    example = [
        {name: f"{float(text):.4g}" if levels[name] is None else text for name, text in step.items()}
        for step in steps_of_texts(hmm, hmm.sample(EXAMPLE)[0])
    ]
    return {
        "states": list(hmm.model_.states),
        "columns": [{"name": name, "levels": own} for name, own in levels.items()],
        "most": MOST_STEPS,
        "example": example,
        "digest": None if hmm.origin_ == GIVEN else hmm.book_.digest(),
    }


def _levels(hmm: HiddenMarkovModel) -> dict[str, list[str] | None]:
    """The levels of each column; None for a number."""
    found: dict[str, list[str] | None] = {}
    for conditional in hmm.model_.conditionals:
        table = conditional.level_table()
        found |= dict.fromkeys(conditional.columns, None if table is None else list(table.levels))
    return found


def steps_of_texts(hmm: HiddenMarkovModel, sequence: object) -> Texts:
    """The steps as texts, from a sequence of values or dicts, or a dict of columns."""
    names = hmm.model_.columns
    if isinstance(sequence, Mapping):
        columns = {str(name): list(values) for name, values in sequence.items()}
        sequence = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    steps = []
    for each in sequence:  # type: ignore[attr-defined]
        if not isinstance(each, Mapping) and len(names) != 1:
            raise BadOption(f"a step of this model has {len(names)} columns: pass a dict for each", found=each)
        step = each if isinstance(each, Mapping) else {names[0]: each}
        unknown = [name for name in step if name not in names]
        if unknown:
            raise BadOption(f"the model has no column {unknown[0]!r}", remedy=f"The columns are {', '.join(names)}")
        steps.append({name: _text(value) for name, value in step.items() if not _is_missing(value)})
    return steps


def _is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _text(value: object) -> str:
    return value if isinstance(value, str) else level_text(value)


def chain_answer(hmm: HiddenMarkovModel, steps: Sequence[Mapping[str, str]]) -> Json:
    """P(state) of each step, the best path, the likelihood, and the trellis; or an error in words."""
    if not steps:
        return {"posterior": [], "path": [], "trellis": None}
    try:
        if len(steps) > MOST_STEPS:
            raise BadData(f"at most {MOST_STEPS} steps of a sequence are shown", found=len(steps))
        sequence = _sequence(hmm, steps)
        score = hmm.score(sequence)
        if score == -math.inf:
            raise BadData("this sequence is impossible under the model")
        trellis = hmm.work(sequence, "viterbi")
        posterior = hmm.predict_proba(sequence)
    except BayesboxError as error:
        return {"error": str(error)}
    assert isinstance(trellis, Trellis)
    return {
        "posterior": posterior.tolist(),
        "path": list(trellis.path),
        "score": score,
        "trellis": {"names": list(trellis.names), "delta": trellis.delta, "back": trellis.back},
        "work": trellis.text(100),
    }


def _sequence(hmm: HiddenMarkovModel, steps: Sequence[Mapping[str, str]]) -> dict[str, list[Any]]:
    """The steps by column, numbers as numbers."""
    found: dict[str, list[Any]] = {}
    for name, levels in _levels(hmm).items():
        texts = [each.get(name) for each in steps]
        found[name] = texts if levels is not None else [_number(name, text) for text in texts]
    return found


def _number(name: str, text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise BadData(f"`{name}` must be a number", found=text) from None
