"""The calculation for one sequence, by the name of the algorithm."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bayesbox.errors import BadOption
from bayesbox.explain.steps import Work
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.smoothing import as_smoothing
from bayesbox.sequence.viterbi import best_path
from bayesbox.sequence.work.forward import forward
from bayesbox.sequence.work.numbers import numbers_of
from bayesbox.sequence.work.one_round import one_round
from bayesbox.sequence.work.viterbi import viterbi

if TYPE_CHECKING:
    from bayesbox.sequence.hmm import HiddenMarkovModel
    from bayesbox.sequence.steps import Sequences

ALGORITHMS = ("forward", "viterbi", "baum-welch")


def sequence_work(hmm: HiddenMarkovModel, found: Sequences, algorithm: str, smoothing: object = None) -> Work:
    """The calculation by the forward algorithm, Viterbi, or one round of Baum-Welch."""
    if algorithm not in ALGORITHMS:
        raise BadOption("the algorithm must be forward, viterbi or baum-welch", found=algorithm)
    if smoothing is not None and algorithm != "baum-welch":
        raise BadOption("smoothing applies to baum-welch only", found=f"{algorithm}, smoothing={smoothing}")
    steps = hmm._steps(found)
    chain = numbers_of(hmm, found, steps)
    if algorithm == "forward":
        return forward(chain)
    if algorithm == "viterbi":
        return viterbi(chain, best_path(hmm.model_, steps)[1].tolist())
    rules = hmm._rules("learned")
    if smoothing is not None:
        rule = as_smoothing(smoothing)
        emission = NaiveOptions(smoothing=rule, unseen=rules.emission.unseen)
        rules = replace(rules, emission=emission, start=rule, transition=rule)
    return one_round(hmm, chain, steps, rules)
