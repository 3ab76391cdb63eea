"""Credible intervals for documents: word probabilities drawn from the Dirichlet posterior of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbox.classifier.report.interval import interval_of_draws
from bayesbox.described import Remedy
from bayesbox.dist.cells import Cells, ratio
from bayesbox.dist.dirichlet import SharePosterior, share_posteriors
from bayesbox.dist.words.factors import exact
from bayesbox.errors import BadOption
from bayesbox.explain.credible import (
    Doubles,
    IntervalTable,
    drawn_logs,
    normalised,
    prior_notes,
    require_draws,
    require_level,
)
from bayesbox.explain.work import prior_factor
from bayesbox.source.base import Batch
from bayesbox.text.work import WorkedDocument

if TYPE_CHECKING:
    from bayesbox.text.classifier import DocumentClassifier


def posterior_interval(
    classifier: DocumentClassifier, batch: Batch, *, level: float, draws: int, seed: int
) -> IntervalTable:
    """The credible interval of P(class | document), for the multinomial model."""
    level = require_level(level)
    require_draws(draws, seed)
    rules, model = classifier.rules, classifier.model
    if rules.occurrence != "count":
        raise BadOption(
            "credible intervals are available for documents with word counts only",
            found=rules.occurrence,
            remedy=Remedy('Train bayesbox.TextClassifier(occurrence="count")', "Train with --occurrence count"),
        )
    random = np.random.default_rng(seed)
    prior = prior_factor(model, classifier.book, rules)
    logs = drawn_logs([prior], len(model.classes), draws, random)
    asked = WorkedDocument.of(classifier, batch)
    sure = list(prior.posteriors)
    if asked.places:
        shares = _words(asked, classifier)
        powers = (np.ones(len(asked.places)) if rules.once else asked.times) * asked.strength
        for label in range(len(model.classes)):
            logs[:, label] += _log_shares(shares[label], draws, random) @ powers
        sure += [share for row in shares for share in row]
    return interval_of_draws(
        classifier, classifier, batch, normalised(logs), level=level, draws=draws, notes=prior_notes(sure)
    )


def _words(asked: WorkedDocument, classifier: DocumentClassifier) -> list[list[SharePosterior]]:
    """The posterior of the probability of each word of the document, classes x words."""
    rule = classifier.rules.smoothing
    cells = asked.cells[1] if classifier.rules.once else asked.cells[0]
    totals = exact(cells.sum_rows(asked.size), asked.size, 1)[:, 0]
    counted = Cells(
        asked.counts(cells, asked.places), totals, len(asked.words), [asked.words[at] for at in asked.places]
    )
    return share_posteriors(counted, ratio(rule, counted), rule)


def _log_shares(words: list[SharePosterior], draws: int, random: np.random.Generator) -> Doubles:
    """The log-probabilities of some words, draws x words, drawn jointly with all other words of the class."""
    alpha = np.array([each.alpha for each in words])
    others = max(words[0].alpha + words[0].beta - alpha.sum(), 0.0)
    gammas = random.gamma(alpha, size=(draws, len(alpha)))
    whole = gammas.sum(axis=1) + (random.gamma(others, size=draws) if others > 0 else 0.0)
    with np.errstate(divide="ignore"):
        found: Doubles = np.log(gammas) - np.log(whole)[:, None]
    return found
