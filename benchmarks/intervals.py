"""Credible intervals: the quantiles against scipy, and how often intervals hold the truth.

Worlds are drawn from the prior that a smoothing rule implies, and rows from each world. A 95 % interval then holds the
truth in 95 % of the worlds: of shares exactly, of answers but for the error of the draws.
"""

from __future__ import annotations

import math
import time

import numpy as np
from scipy.special import betaincinv

import bayesbox as bb
import harness
from bayesbox.dist.cells import Cells, ratio
from bayesbox.dist.dirichlet import share_posteriors
from bayesbox.explain.credible import share_interval
from bayesbox.rule.smoothing import as_smoothing
from bayesbox.stat.beta import quantile

LEVEL = 0.95
ADDED = {"laplace": 1.0, "lidstone:0.5": 0.5, "lidstone:3": 3.0, "mle": 0.5}  # to each level; mle: Jeffreys' prior


def run(session: harness.Session) -> None:
    against_scipy(session, 500 if session.quick else 10_000)
    for rule, added in ADDED.items():
        shares(session, rule, added, 1_000 if session.quick else 20_000)
    answers(session, 100 if session.quick else 2_000)
    networks(session, 100 if session.quick else 2_000)


def against_scipy(session: harness.Session, number: int) -> None:
    random = np.random.default_rng(1)
    worst = taken = 0.0
    for _ in range(number):
        a, b, p = float(10 ** random.uniform(-1, 5)), float(10 ** random.uniform(-1, 5)), float(random.random())
        start = time.process_time()
        found = quantile(p, a, b)
        taken += time.process_time() - start
        worst = max(worst, abs(found - float(betaincinv(a, b, p))))
    session.add(
        harness.Result(f"{number:,} beta quantiles: farthest from scipy", f"{worst:.1e}", "<= 1e-9", worst <= 1e-9)
    )
    session.say(f"{harness.seconds(taken / number)} a quantile")


def shares(session: harness.Session, rule: str, added: float, worlds: int) -> None:
    random = np.random.default_rng(2)
    smoothing = as_smoothing(rule)
    held = 0
    for _ in range(worlds):
        levels, rows = int(random.integers(2, 6)), int(random.integers(1, 40))
        truth = random.dirichlet(np.full(levels, added))
        counts = random.multinomial(rows, truth).astype(np.float64)[None]
        cells = Cells(counts, counts.sum(axis=1), levels, [str(level) for level in range(levels)])
        place = int(random.integers(levels))
        found = share_posteriors(cells, ratio(smoothing, cells), smoothing)[0][place]
        low, high = share_interval(found, 0.5, LEVEL)
        held += low <= truth[place] <= high
    # by the reference prior an interval begins at 0 where there is no row, so that it holds a little more
    add(session, f"shares by {rule}", held, worlds, more=rule == "mle")


def answers(session: harness.Session, worlds: int) -> None:
    """Naive Bayes: two classes by Jeffreys' prior, as they are not smoothed, three columns of three levels."""
    random = np.random.default_rng(3)
    held, number, taken = 0, 0, 0.0
    while number < worlds:
        prior, tables = random.dirichlet([0.5, 0.5]), random.dirichlet(np.ones(3), size=(2, 3))
        y = random.choice(2, size=40, p=prior)
        X = np.array([[random.choice(3, p=tables[label, column]) for column in range(3)] for label in y])
        if len(set(y.tolist())) < 2 or any(len(set(X[:, column].tolist())) < 3 for column in range(3)):
            continue  # the model does not know a class or level that no row has
        columns = {f"c{column}": X[:, column].astype(str).tolist() for column in range(3)}
        row = [int(random.integers(3)) for _ in range(3)]
        joint = [
            prior[label] * math.prod(tables[label, column, row[column]] for column in range(3)) for label in range(2)
        ]
        model = bb.NaiveBayes().fit(columns, y)
        start = time.process_time()
        found = model.posterior_interval({f"c{at}": str(level) for at, level in enumerate(row)}, LEVEL, seed=number)
        taken += time.process_time() - start
        held += found[0].low <= joint[0] / sum(joint) <= found[0].high
        number += 1
    add(session, "answers of naive Bayes, 40 rows", held, worlds)
    session.say(f"{harness.seconds(taken / worlds)} an answer, by 10,000 draws")


def networks(session: harness.Session, worlds: int) -> None:
    random = np.random.default_rng(4)
    states = {name: ["x", "y"] for name in "ABCD"}
    structure = {"B": ["A"], "C": ["A"], "D": ["B", "C"]}
    held, taken = 0, 0.0
    for number in range(worlds):
        cpts = {name: random.dirichlet([1, 1], size=[2] * len(structure.get(name, []))) for name in "ABCD"}
        world = bb.BayesianNetwork(structure, cpts, states=states)
        fitted = bb.BayesianNetwork(structure, states=states).fit(world.sample(40, seed=number))
        start = time.process_time()
        low, high = fitted.interval("P(A=x | D=y)", LEVEL, seed=number)
        taken += time.process_time() - start
        held += low <= world.query("P(A=x | D=y)") <= high
    add(session, "answers of a network, 40 rows", held, worlds)
    session.say(f"{harness.seconds(taken / worlds)} an answer, by 2,000 draws")


def add(session: harness.Session, what: str, held: int, worlds: int, *, more: bool = False) -> None:
    share, error = held / worlds, math.sqrt(LEVEL * (1 - LEVEL) / worlds)
    holds = share >= LEVEL - 4 * error and (more or share <= LEVEL + 4 * error)
    target = f"{'>= ' if more else ''}{LEVEL:.0%} +- {4 * error:.1%}"
    session.add(harness.Result(f"{what}: 95 % intervals right in", f"{share:.2%}", target, holds))


if __name__ == "__main__":
    harness.main(run)
