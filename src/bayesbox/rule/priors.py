"""The class prior: the shares of the classes, smoothed by a rule, or given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.dist import functions
from bayesbox.dist.base import Doubles
from bayesbox.dist.cells import LevelCounts, Ratio, Smoothing
from bayesbox.dist.factor import divided
from bayesbox.dist.functions import log
from bayesbox.errors import BadOption
from bayesbox.rule.options import BALANCED
from bayesbox.rule.options import Prior as Prior
from bayesbox.rule.smoothing import MaximumLikelihood
from bayesbox.schema.levels import level_text

SUM_TOLERANCE = 1e-9


def as_prior(given: Any) -> Any:
    """A prior in the form that rules store: a mapping, a tuple of floats for a sequence, or "balanced".

    >>> as_prior([1, 0]), as_prior("balanced")
    ((1.0, 0.0), 'balanced')
    """
    if isinstance(given, Mapping) or (isinstance(given, str) and given == BALANCED):
        return given
    try:
        if isinstance(given, str):
            raise TypeError
        return tuple(float(p) for p in given)
    except (TypeError, ValueError):
        raise BadOption(
            'prior must be a dict from classes to probabilities, a list of probabilities in class order, or "balanced"',
            found=given,
        ) from None


def prior_ratio(class_counts: ExactArray, classes: tuple[str, ...], rule: Smoothing | None, *, exact: bool) -> Ratio:
    """The numerator and denominator of each class's share."""
    counts = LevelCounts(classes, class_counts, 1)
    over, under = counts.ratio(rule or MaximumLikelihood(), exact=exact)
    return Ratio(over[0, : len(classes)], under[0, : len(classes)])


def log_prior(class_counts: ExactArray, classes: tuple[str, ...], rule: Smoothing | None) -> Doubles:
    """The log of each class's share."""
    over, under = prior_ratio(class_counts, classes, rule, exact=False)
    return log(over) - log(under)


def prior_shares(classifier: Any) -> dict[str, float]:
    """The prior of each class of a classifier as probabilities, each rounded once: 6 of 12 rows are 0.5."""
    model, rules = classifier.model, classifier.rules
    if getattr(rules, "prior", None) is not None:
        shares = given_prior(rules.prior, model.classes)
    elif classifier.fixed or not hasattr(rules, "prior_smoothing") or not classifier.book.classes:
        shares = functions.exp(model.log_prior)
    else:
        counts = classifier.book.with_classes(model.classes).class_counts
        over, under = prior_ratio(counts, model.classes, rules.prior_smoothing, exact=True)
        shares = np.array([float(divided(each, of)) for each, of in zip(over, under, strict=True)])
        logs = log(shares)
        if not np.allclose(logs, model.log_prior, rtol=0, atol=1e-9):  # a prior that is not estimated from counts
            shares = functions.exp(model.log_prior)
    return dict(zip(model.classes, shares.tolist(), strict=True))


def given_prior(given: Prior, classes: tuple[str, ...]) -> Doubles:
    """A prior as probabilities in the order of the classes, checked: non-negative, summing to 1.

    "balanced" gives every class the same; a sequence has one per class in order. A mapping may omit one class, which
    gets the remaining probability.

    >>> given_prior("balanced", ("no", "yes")), given_prior([0.9, 0.1], ("no", "yes"))
    (array([0.5, 0.5]), array([0.9, 0.1]))

    >>> given_prior({"yes": 0.1, "no": 0.9}, ("no", "yes"))
    array([0.9, 0.1])
    >>> given_prior({"yes": 0.1}, ("no", "yes"))
    array([0.9, 0.1])
    """
    if isinstance(given, str) and given == BALANCED:
        return np.full(len(classes), 1 / len(classes))
    if not isinstance(given, Mapping):
        return _in_order(as_prior(given), classes)
    try:
        by_text = {level_text(label): float(p) for label, p in given.items()}
    except (TypeError, ValueError):
        raise BadOption("a prior probability must be between 0 and 1", found=dict(given)) from None
    missing = [name for name in classes if name not in by_text]
    unknown = [name for name in by_text if name not in classes]
    if len(missing) == 1 and not unknown and 0 < math.fsum(by_text.values()) < 1:
        by_text[missing.pop()] = 1 - math.fsum(by_text.values())
    if missing or unknown:
        raise BadOption(
            f"a prior must name every class: {', '.join(classes)}",
            found=", ".join(unknown or by_text) or "nothing",
            remedy="One class may be omitted: it gets the remaining probability",
        )
    return _checked(np.array([by_text[name] for name in classes]))


def _in_order(given: Any, classes: tuple[str, ...]) -> Doubles:
    if len(given) != len(classes):
        raise BadOption(
            f"a prior must have one probability per class, in the order {', '.join(classes)}", found=list(given)
        )
    return _checked(np.array(given, dtype=np.float64))


def _checked(values: Doubles) -> Doubles:
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise BadOption("a prior probability must be between 0 and 1", found=values.tolist())
    if abs(math.fsum(values) - 1) > SUM_TOLERANCE:
        raise BadOption("a prior must sum to 1", found=math.fsum(values))
    return values
