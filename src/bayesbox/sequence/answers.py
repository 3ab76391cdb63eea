"""The predictions of a hidden Markov model: paths, posteriors, likelihoods, forecasts, samples."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np

from bayesbox.dist.base import Doubles
from bayesbox.dist.functions import log
from bayesbox.errors import BadData, ImpossibleRows, require_whole
from bayesbox.schema.levels import Labels
from bayesbox.schema.parameters import describe_methods
from bayesbox.schema.schema import Schema
from bayesbox.sequence import forward_backward
from bayesbox.sequence.forecast import Filter, Forecast, Sample, sample
from bayesbox.sequence.method_docs import METHODS
from bayesbox.sequence.model import ChainModel, Steps
from bayesbox.sequence.steps import Sequences, sequences_of, steps_of
from bayesbox.sequence.viterbi import best_path


@describe_methods(METHODS["ChainAnswers"])
class ChainAnswers:
    """The prediction methods of a hidden Markov model."""

    _schema: Schema | None

    @property
    def model_(self) -> ChainModel:
        """The model: the rules applied to the tallies."""
        raise NotImplementedError

    @property
    def states_(self) -> Labels:
        """The states, in the order of every table."""
        return self.model_.labels

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return self.model_.n_parameters

    def bic(self, sequences: object, **how: Any) -> float:
        """-2 log-likelihood + parameters * log(steps); lower is better."""
        found = sequences_of(sequences, raw=True, **how)
        total = float(forward_backward.log_likelihood(self.model_, self._steps(found)).sum())
        return -2 * total + self.n_parameters * float(np.log(max(found.size, 1)))

    def _steps(self, found: Sequences) -> Steps:
        if self._schema is None:
            raise BadData("this model is not fitted yet", remedy="Call fit first")
        return steps_of(found, self._schema)

    def predict(self, sequences: object, **how: Any) -> Any:
        """The most probable path of states (Viterbi): an array; a list of arrays for several sequences."""
        found = sequences_of(sequences, raw=True, **how)
        return found.split(self.predict_steps(found))

    def predict_steps(self, found: Sequences) -> Labels:
        """The most probable state of each step, sequence after sequence."""
        steps = self._steps(found)
        log_p, path = best_path(self.model_, steps)
        if np.isneginf(log_p).any():
            free = best_path(self.model_, _unseen(steps, self._impossible(log_p)))[1]
            path = np.where(np.repeat(np.isneginf(log_p), np.diff(steps.offsets)), free, path)
        states: Labels = self.states_[path]
        return states

    def predict_proba(self, sequences: object, **how: Any) -> Any:
        """P(state | sequence), steps x states; a list of these for several sequences."""
        found = sequences_of(sequences, raw=True, **how)
        return found.split(self.posterior_steps(found))

    def posterior_steps(self, found: Sequences) -> Doubles:
        """P(state | sequence) of each step, sequence after sequence."""
        steps = self._steps(found)
        log_p, rows = forward_backward.posterior(self.model_, steps)
        if np.isneginf(log_p).any():
            free = forward_backward.posterior(self.model_, _unseen(steps, self._impossible(log_p)))[1]
            rows = np.where(np.repeat(np.isneginf(log_p), np.diff(steps.offsets))[:, None], free, rows)
        return rows

    @staticmethod
    def _impossible(log_p: Doubles) -> int:
        many = int(np.isneginf(log_p).sum())
        warnings.warn(
            ImpossibleRows(
                many, len(log_p), "sequences are impossible; they are answered as if nothing had been observed"
            ),
            stacklevel=5,
        )
        return many

    def score(self, sequences: object, **how: Any) -> Any:
        """log P(sequence): a float, or a list of floats for several sequences; -inf if impossible."""
        found = sequences_of(sequences, raw=True, **how)
        return found.each(forward_backward.log_likelihood(self.model_, self._steps(found)).tolist())

    def filter(self) -> Filter:
        """A filter for streaming: P(state | steps so far) after each step."""
        return Filter(self.model_)

    def forecast(self, sequences: object = None, steps: int = 1, **how: Any) -> Any:
        """P(state) and the distribution of every column for the next steps; a list for several sequences. Without a
        sequence it starts at the first step."""
        require_whole("steps", steps, least=1)
        if sequences is None:
            return Forecast.of(self.model_, None, steps)
        found = sequences_of(sequences, raw=True, **how)
        given = self._steps(found)
        log_p, rows = forward_backward.filtered(self.model_, given)
        if np.isneginf(log_p).any():
            rows = np.where(
                np.repeat(np.isneginf(log_p), np.diff(given.offsets))[:, None],
                forward_backward.filtered(self.model_, _unseen(given, self._impossible(log_p)))[1],
                rows,
            )
        last = [rows[stop - 1] if stop > start else None for start, stop in pairwise(given.offsets)]
        return found.each([Forecast.of(self.model_, log(row) if row is not None else None, steps) for row in last])

    def sample(self, n: int = 1, *, seed: int | None = 0) -> Sample:
        """A sequence of n steps and its states: (sequence, states). Several columns give a dict of lists."""
        return sample(self.model_, n, seed)


def _unseen(steps: Steps, impossible: int) -> Steps:
    """The same steps with nothing observed."""
    assert impossible
    return Steps({}, 1, np.zeros(steps.size, dtype=np.int32), steps.offsets)
