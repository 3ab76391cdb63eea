"""Contributions of columns for models without additive terms: the answers with and without each column."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesbox.dist.base import Columns, Doubles


def terms_of_absence(
    answer: Callable[[Columns], Doubles], columns: Columns, names: tuple[str, ...], log_prior: Doubles
) -> Doubles:
    """Terms, rows x classes x columns, that sum with the log prior to log P(class | x), as given by `answer`.

    The contribution of a column is the mean of two changes of log P(class | x): the fall when it is missing, and the
    rise when it is the only one present. The remainder is distributed in proportion to their sizes.
    """
    whole, nothing = answer(columns), answer({})
    terms = np.zeros((*whole.shape, len(names)))
    for place, name in enumerate(names):
        if name in columns:
            last = _less(whole, answer({other: values for other, values in columns.items() if other != name}))
            first = _less(answer({name: columns[name]}), nothing)
            terms[:, :, place] = (last + first) / 2
    left = _less(whole, nothing) - terms.sum(axis=2)
    sizes = np.abs(terms).sum(axis=1, keepdims=True)
    sizes = np.where(sizes.sum(axis=2, keepdims=True) > 0, sizes, 1.0)
    terms += left[:, :, None] * sizes / sizes.sum(axis=2, keepdims=True)
    terms += _less(nothing, log_prior)[:, :, None] / max(len(names), 1)
    return terms


def _less(one: Doubles, other: Doubles) -> Doubles:
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, one - other)
