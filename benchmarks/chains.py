"""Hidden Markov chains of 5 states and 20 symbols against hmmlearn: one long sequence, and many short ones."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from hmmlearn.hmm import CategoricalHMM

import bayesbox as bb
import harness

STATES, SYMBOLS, SHORT, ROUNDS = 5, 20, 100, 3
PLAIN = dict.fromkeys(["smoothing", "start_smoothing", "transition_smoothing"], "mle")


def tables() -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {
        "start": random.dirichlet(np.ones(STATES)),
        "transition": random.dirichlet(np.ones(STATES), size=STATES),
        "emission": random.dirichlet(np.ones(SYMBOLS), size=STATES),
    }


def peer_of(given: dict[str, Any], implementation: str, **options: Any) -> CategoricalHMM:
    peer = CategoricalHMM(STATES, implementation=implementation, **options)
    peer.startprob_, peer.transmat_, peer.emissionprob_ = given["start"], given["transition"], given["emission"]
    peer.n_features = SYMBOLS
    return peer


def run(session: harness.Session) -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # hmmlearn has one thread, so we take one
    warnings.simplefilter("ignore")  # hmmlearn tells of what it was asked not to do
    given = tables()
    ours, peer, peer_log = bb.HiddenMarkovModel.from_tables(**given), peer_of(given, "scaling"), peer_of(given, "log")
    symbols = np.array(ours.sample(session.rows, seed=1).sequence)
    column = symbols[:, None]
    for form, lengths, factor in (
        ("one long", [len(symbols)], 3),
        ("many short", [SHORT] * (len(symbols) // SHORT), 6),
    ):
        harness.require_equal(
            np.vstack(ours.predict_proba(symbols, lengths=lengths)), peer.predict_proba(column, lengths), what=form
        )
        session.compare(
            f"score, {form}",
            lambda lengths=lengths: ours.score(symbols, lengths=lengths),
            "hmmlearn scaling",
            lambda lengths=lengths: peer.score(column, lengths),
            factor,
            rounds=3,
        )
        session.compare(
            f"posteriors, {form}",
            lambda lengths=lengths: ours.predict_proba(symbols, lengths=lengths),
            "hmmlearn scaling",
            lambda lengths=lengths: peer.predict_proba(column, lengths),
            factor,
            rounds=3,
        )
        session.compare(
            f"Baum-Welch, {ROUNDS} rounds, {form}",
            lambda lengths=lengths: bb.HiddenMarkovModel(STATES, **PLAIN, iterations=ROUNDS, tolerance=0).fit(
                symbols, lengths=lengths, initial=ours
            ),
            "hmmlearn scaling",
            lambda lengths=lengths: peer_of(given, "scaling", n_iter=ROUNDS, tol=-np.inf, init_params="").fit(
                column, lengths
            ),
            factor,
            rounds=3,
        )
        session.compare(
            f"Viterbi, {form}",
            lambda lengths=lengths: ours.predict(symbols, lengths=lengths),
            "hmmlearn log",
            lambda lengths=lengths: peer_log.predict(column, lengths),
            3,
            rounds=3,
        )
    compare_texts(session, given, symbols)


def compare_texts(session: harness.Session, given: dict[str, Any], symbols: Any) -> None:
    """The same symbols as texts. hmmlearn takes codes: numpy's unique makes them, of all sequences end to end."""
    names = np.array([f"symbol{number:02}" for number in range(SYMBOLS)])
    ours = bb.HiddenMarkovModel.from_tables(**given, symbols=names.tolist())
    peer, peer_log = peer_of(given, "scaling"), peer_of(given, "log")
    texts = names[symbols]
    short = [texts[start : start + SHORT] for start in range(0, len(texts), SHORT)]
    for form, sequences, factor in (
        ("one array of texts", [texts], 6),
        ("many arrays of texts", short, 6),
        ("one list of texts", [texts.tolist()], 4),
        ("many lists of texts", [item.tolist() for item in short], 4),
    ):
        given_as = sequences if len(sequences) > 1 else sequences[0]

        def coded(sequences: list[Any] = sequences) -> tuple[Any, list[int]]:
            _, codes = np.unique(np.concatenate(sequences), return_inverse=True)
            return codes[:, None], [len(item) for item in sequences]

        answers = ours.predict_proba(given_as)
        harness.require_equal(
            np.vstack(answers) if len(sequences) > 1 else answers, peer.predict_proba(*coded()), what=form
        )
        for work, mine, name, theirs in (
            ("score", ours.score, "scaling", peer.score),
            ("posteriors", ours.predict_proba, "scaling", peer.predict_proba),
            ("Viterbi", ours.predict, "log", peer_log.predict),
        ):
            session.compare(
                f"{work}, {form}",
                lambda mine=mine, given_as=given_as: mine(given_as),
                f"unique + hmmlearn {name}",
                lambda theirs=theirs, coded=coded: theirs(*coded()),
                factor,
                rounds=3,
            )


if __name__ == "__main__":
    harness.main(run)
