"""The options of full Bayes."""

from __future__ import annotations

from bayesbox.rule.options import CountOptions, missing_option, unseen_option
from bayesbox.schema.options import option, options
from bayesbox.schema.takes import OneOf, RealNumber, WholeNumber

COVARIANCES = ("full", "pooled", "diagonal")
SHRINKING = ("auto", "loo", "ledoit-wolf")


@options
class FullOptions(CountOptions):
    """How the tally becomes probabilities."""

    covariance: str = option(
        OneOf(*COVARIANCES),
        default="full",
        colon=True,
        help="One covariance per class, one for all classes (linear discriminant analysis), or none (the variances of "
        "naive Bayes).",
    )
    shrink: str | float = option(
        RealNumber(0, others=SHRINKING),
        default="auto",
        colon=True,
        help="How correlations are shrunk: a number of additional rows with the correlations within all classes; auto "
        "does so only for a class whose covariance is singular, with a note; loo shrinks towards zero as far as "
        "the leave-one-out log loss decreases, ledoit-wolf by the formula.",
    )
    enough: int | None = option(
        WholeNumber(1, none=True),
        default=None,
        colon=True,
        help="The number of rows of a class that a combination of levels needs for a normal distribution of its own; "
        "None is 5 * (numbers + 1).",
    )
    missing: str = missing_option()
    unseen: str = unseen_option()
