"""The calculation of AutoBayes: the predictions of the models, their weighted product, and the class shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Cell, Row, Step, line
from bayesbox.table.auto.weighting import pooled

if TYPE_CHECKING:
    from bayesbox.table.auto.pool import Pool


def pool_work(
    title: str, pool: Pool, answers: Sequence[Doubles], classes: tuple[str, ...], log_posterior: Doubles
) -> ClassWork:
    """The calculation for one row: `answers` are log P(class | x) of each model, `log_posterior` that of the pool."""
    rows = []
    for place, (log_p, power) in enumerate(zip(answers, pool.powers, strict=False)):
        cells = tuple(Cell(value=p) for p in functions.exp(log_p[0]).tolist())
        rows.append(Row(_name(pool, place), (Cell(value=power), *cells)))
    shares = np.array(pool.shares)
    rows.append(Row("class shares", (Cell(value=pool.powers[-1]), *(Cell(value=p) for p in shares.tolist()))))
    together = functions.exp(pooled([*answers, functions.log(shares)[None, :]], np.array(pool.powers)))[0]
    product = Row("product of powers, normalised", tuple(Cell(value=p) for p in together.tolist()))
    mixed = Row(
        "mixed with the class shares",
        tuple(
            Cell(f"({pool.rows} x {p:.6g} + {share:.6g})/({pool.rows} + 1)", (pool.rows * p + share) / (pool.rows + 1))
            for p, share in zip(together.tolist(), shares.tolist(), strict=True)
        ),
    )
    posterior = tuple(functions.exp(log_posterior).tolist())
    best = max(range(len(classes)), key=lambda k: (posterior[k], -k))
    steps = (
        Step("models", tuple(rows), ("weight", *pool.classes)),
        Step("pool", (product, mixed), pool.classes),
        Step("posterior", (Row("posterior: P(class | x)", tuple(Cell(value=p) for p in posterior)),), classes),
        Step("decision", (line(f"so the class is {classes[best]}"),)),
    )
    return ClassWork(title, steps, classes, posterior)


def _name(pool: Pool, place: int) -> str:
    """The name of the model at this position."""
    found = [each.name for each in pool.judged if each.power == pool.powers[place]]
    model = pool.models[place]
    return found[0] if found else str(getattr(model, "title", type(model).__name__))
