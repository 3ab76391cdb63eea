"""How often 95 % intervals of metrics hold the truth, by simulation: to be 93 to 97 % of the cases.

200 rows, and with --full 1,000 too. Two classes, whose probabilities are somewhat too sure: P = s(x), true with
P = s(x / 1.5 + 0.3), where s is the logistic function and x normal. The truth is the metric of a million rows. Each
simulation draws n rows, and asks for every interval in its closed form and by the bootstrap with 2,000 draws; and for
the paired difference in log loss to a second model. The interval of the calibration error is the same either way.
"""

from __future__ import annotations

import numpy as np

import harness
from bayesbox.stat.intervals import BOOTSTRAP, CLOSED, EXACT, IntervalOptions, difference, metric_of, metrics_of
from bayesbox.stat.row_scores import RowScores

LEAST, MOST = 0.93, 0.97
DRAWS = 2000
METRICS = ("accuracy", "log_loss", "brier", "auc", "calibration_error")


def scores(p: np.ndarray, true: np.ndarray) -> RowScores:
    names = ("no", "yes")
    return RowScores(names, names, np.arange(len(p)), np.log(np.column_stack([1 - p, p])), true, np.ones(len(p)))


def drawn(random: np.random.Generator, n: int) -> tuple[RowScores, RowScores]:
    """A model, and another that is less sure."""
    x = random.normal(0, 1.5, n)
    true = (random.random(n) < 1 / (1 + np.exp(-(x / 1.5 + 0.3)))).astype(np.int64)
    return scores(1 / (1 + np.exp(-x)), true), scores(1 / (1 + np.exp(-x / 2)), true)


def run(session: harness.Session) -> None:
    one, other = drawn(np.random.default_rng(1), 1_000_000)
    truth = {name: one.mean(name) for name in METRICS[:3]}
    truth |= {"auc": one.area(), "calibration_error": one.calibration_error(15)}
    apart = one.mean("log_loss") - other.mean("log_loss")
    simulations = 100 if session.quick else 2000
    for n in (200, 1000) if session.full else (200,):
        random = np.random.default_rng(n)
        hits: dict[tuple[str, str], int] = {}

        def count(way: str, name: str, holds: bool, hits: dict[tuple[str, str], int] = hits) -> None:
            hits[way, name] = hits.get((way, name), 0) + holds

        for number in range(simulations):
            one, other = drawn(random, n)
            for way in (CLOSED, BOOTSTRAP):
                options = IntervalOptions(way, DRAWS, number)
                asked = METRICS if way == BOOTSTRAP else METRICS[:-1]
                for name, found in metrics_of(one, asked, options).items():
                    count(way, name, found.low <= truth[name] <= found.high)
                found = difference(one, other, "log_loss", options)
                count(way, "difference in log loss", found.low <= apart <= found.high)
            found = metric_of(one, "accuracy", IntervalOptions(EXACT))
            count(EXACT, "accuracy", found.low <= truth["accuracy"] <= found.high)
        for (way, name), held in hits.items():
            share = held / simulations
            aimed = way != EXACT  # which is never below, and so often above
            session.add(
                harness.Result(
                    f"{name}, {way}, n = {n:,}",
                    f"{share:.1%}",
                    "93 to 97 %" if aimed else "",
                    LEAST <= share <= MOST if aimed else None,
                    "nominal",
                    "95.0%",
                    "",
                )
            )


if __name__ == "__main__":
    harness.main(run)
