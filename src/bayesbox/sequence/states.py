"""Choosing the number of states of a chain by BIC, or by the likelihood of held-out steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayesbox.errors import BadOption
from bayesbox.sequence.baum_welch import SHORT, LearnedChain, Task
from bayesbox.sequence.forward_backward import log_likelihood
from bayesbox.sequence.model import Steps
from bayesbox.stat.folds import shuffle_keys

MOST = 8  # states that `auto` tries
PATIENCE = 2  # worse scores in a row before it stops


@dataclass(frozen=True)
class StateChoice:
    """The score of each number of states tried, and the best number.

    By "bic": -2 log-likelihood + parameters * log(steps), lower is better. By "cv": the mean log-likelihood of a
    held-out step, higher is better.
    """

    by: str
    scores: dict[int, float]

    @property
    def best(self) -> int:
        """The number of states with the best score; in case of a tie, the smaller."""
        sign = 1 if self.by == "bic" else -1
        return min(self.scores, key=lambda states: (sign * self.scores[states], states))


def candidates(states: str) -> tuple[range, bool]:
    """The numbers of states of "auto" or "2..6", and whether to stop once scores get worse.

    >>> candidates("2..6"), candidates("auto")
    ((range(2, 7), False), (range(1, 9), True))
    """
    if states == "auto":
        return range(1, MOST + 1), True
    low, dots, high = states.partition("..")
    if not (dots and low.isdecimal() and high.isdecimal() and 1 <= int(low) <= int(high)):
        raise BadOption("the number of states must be `auto` or a range such as 2..6", found=states)
    return range(int(low), int(high) + 1), False


def choose_states(
    task_of: Callable[[int], Task],
    learn: Callable[[Task], LearnedChain],
    numbers: Iterable[int],
    *,
    by: str = "bic",
    folds: int = 5,
    seed: int = 0,
    impatient: bool = False,
) -> StateChoice:
    """Fit a chain with each number of states and score it; `impatient` stops after two scores worse than the best."""
    choice = StateChoice(by, {})
    worse = 0
    for states in numbers:
        task = task_of(states)
        choice.scores[states] = bic(task, learn) if by == "bic" else held_out(task, learn, folds, seed)
        worse = 0 if choice.best == states else worse + 1
        if impatient and worse == PATIENCE:
            break
    return choice


def most_rounds(states: object, by: str, folds: int, iterations: int, restarts: int) -> int:
    """The maximum number of iterations, including the choice of the number of states."""
    rounds = iterations + (restarts * SHORT if restarts > 1 else 0)
    if not isinstance(states, str):
        return rounds
    return rounds * (1 + len(candidates(states)[0]) * (1 if by == "bic" else folds))


def bic(task: Task, learn: Callable[[Task], LearnedChain]) -> float:
    """The BIC of the fitted chain."""
    model = learn(task).model
    total = float(log_likelihood(model, task.steps).sum())
    return -2 * total + model.n_parameters * float(np.log(max(task.steps.size, 1)))


def held_out(task: Task, learn: Callable[[Task], LearnedChain], folds: int, seed: int) -> float:
    """The mean log-likelihood of a held-out step, by cross-validation."""
    steps = task.steps if task.steps.sequences >= folds else _cut(task.steps, folds)
    if steps.sequences < 2:
        raise BadOption("there are too few steps to hold some out", found=steps.size, remedy="Choose states by bic")
    order = np.argsort(shuffle_keys(steps.sequences, seed=seed, repeat=0))
    fold = np.empty(steps.sequences, dtype=np.int64)
    fold[order] = np.arange(steps.sequences) % folds
    total = 0.0
    for part in range(min(folds, steps.sequences)):
        learned = learn(replace(task, steps=_taken(steps, np.flatnonzero(fold != part))))
        total += float(log_likelihood(learned.model, _taken(steps, np.flatnonzero(fold == part))).sum())
    return total / steps.size


def _cut(steps: Steps, pieces: int) -> Steps:
    """Each sequence cut into this many consecutive pieces, if it is long enough."""
    offsets = [0]
    for start, stop in zip(steps.offsets[:-1].tolist(), steps.offsets[1:].tolist(), strict=True):
        cuts = (start + (stop - start) * piece // pieces for piece in range(1, pieces + 1))
        offsets.extend(dict.fromkeys(cut for cut in cuts if cut > offsets[-1]))
    return replace(steps, offsets=np.array(offsets, dtype=np.int64))


def _taken(steps: Steps, sequences: NDArray[np.int64]) -> Steps:
    """The steps of some of the sequences."""
    lengths = np.diff(steps.offsets)[sequences]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    place = np.repeat(steps.offsets[sequences] - offsets[:-1], lengths) + np.arange(offsets[-1])
    if steps.codes is not None:
        return replace(steps, codes=steps.codes[place], offsets=offsets)
    columns = {
        name: column[place] if isinstance(column, np.ndarray) else column.take(pa.array(place))
        for name, column in steps.columns.items()
    }
    known = None if steps.known is None else steps.known[place]
    return Steps(columns, len(place), None, offsets, known)
