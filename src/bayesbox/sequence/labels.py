"""The training data of a hidden Markov model: steps, the names of the states, and the known states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesbox.described import Remedy
from bayesbox.errors import BadData, BadOption
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.levels import label_order, label_type_of, level_text
from bayesbox.sequence.states import candidates
from bayesbox.sequence.steps import Sequences, sequences_of
from bayesbox.source.labels import labels_of


def named_states(states: object) -> tuple[tuple[str, ...], str]:
    """The names of the states, and the type of these names."""
    if isinstance(states, (int, np.integer)) and not isinstance(states, bool):
        if states < 1:
            raise BadOption("a hidden Markov model needs at least one state", found=states)
        return tuple(str(index) for index in range(int(states))), "integer"
    names = list(states) if isinstance(states, Iterable) and not isinstance(states, str) else []
    texts = [level_text(name) for name in names]
    if not texts or len(set(texts)) < len(texts):
        raise BadOption("states must be a number, or a list of distinct names", found=states)
    kind = label_type_of(names)
    return tuple(label_order(texts, kind)), kind


def require_number(wanted: object, count: int) -> None:
    """Raise an error for a number of states, or a range, that contradicts labels of `count` states."""
    if isinstance(wanted, str):
        numbers, open_ = candidates(wanted)
        fits = open_ or count in numbers
    else:
        fits = not isinstance(wanted, (int, np.integer)) or wanted == count
    if not fits:
        raise BadOption(
            f"the labels name {count} states",
            found=f"states={wanted}",
            remedy=Remedy("Omit states=", "Omit --states")
            + ": the labels determine the number. To add a state without labels, name all states"
            + Remedy(": states=[...]", ""),
        )


def state_names(wanted: object, known: Encoded | None) -> tuple[tuple[str, ...], str]:
    """The states: the named ones; if only a number is given, the known ones and then new names."""
    states, kind = named_states(wanted)
    if known is None or not known.levels or set(known.levels) <= set(states):
        return states, kind
    if not isinstance(wanted, (int, np.integer)):
        raise BadOption("a label is not one of the states", found=sorted(set(known.levels) - set(states)))
    if len(known.levels) > len(states):
        require_number(wanted, len(known.levels))
    fresh = (f"state {index}" for index in range(len(states)))
    names = [*known.levels, *(name for name in fresh if name not in known.levels)][: len(states)]
    return tuple(sorted(names)), "text"


def state_positions(known: Encoded, states: tuple[str, ...]) -> NDArray[np.int32]:
    """The position of each step's state; -1 if unknown."""
    place = np.array([*(states.index(level) for level in known.levels), -1], dtype=np.int32)
    return place[known.codes]


def read_steps(
    data: object, labels: object, sequence: str | None, order: str | None, lengths: Sequence[int] | None
) -> tuple[Sequences, Encoded | None]:
    """The steps, and their states as far as they are known; None without labels."""
    if isinstance(labels, str):
        return _read_named(data, labels, sequence, order, lengths)
    found = sequences_of(data, sequence=sequence, order=order, lengths=lengths)
    if labels is None:
        return found, None
    given = sequences_of(labels) if lengths is None else sequences_of(labels, lengths=lengths)
    if given.size != found.size:
        raise BadData(f"{found.size} steps, but {given.size} labels: there must be one label per step")
    if found.place is None and given.offsets.tolist() != found.offsets.tolist():
        raise BadData(
            "each sequence must have as many labels as steps",
            found=f"steps {_lengths(found)}, labels {_lengths(given)}",
            remedy="Pass the labels as lists, like the sequences, or lengths=[...] for both",
        )
    known = _occurring(encode(next(iter(given.columns.values()))))
    return found, known if found.place is None else known._replace(codes=known.codes[found.place])


def _lengths(found: Sequences) -> list[int]:
    lengths: list[int] = np.diff(found.offsets[:9]).tolist()
    return lengths


def _occurring(labels: Encoded) -> Encoded:
    """The labels that some step has."""
    kept = labels.occurring()
    if len(kept) == len(labels.levels):
        return labels
    place = np.full(len(labels.levels) + 1, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    return Encoded(place[labels.codes], [labels.levels[at] for at in kept], [labels.values[at] for at in kept])


def _read_named(
    data: object, labels: str, sequence: str | None, order: str | None, lengths: Sequence[int] | None
) -> tuple[Sequences, Encoded]:
    found = sequences_of(data, sequence=sequence, order=order, lengths=lengths)
    if labels not in found.columns:
        raise BadData(f"no column `{labels}` with the states", found=list(found.columns), column=labels)
    known = _occurring(encode(labels_of(found.columns[labels])))
    rest = {name: column for name, column in found.columns.items() if name != labels}
    return Sequences(rest, found.offsets, found.single, found.bare, found.place), known
