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
        help="A covariance per class, one for all classes (linear discriminant analysis), or none (naive Bayes' "
        "variances).",
    )
    shrink: str | float = option(
        RealNumber(0, others=SHRINKING),
        default="auto",
        colon=True,
        help="Correlations of a class become those of its rows and of so many more that have the correlations within "
        "all classes; auto does so only to a class whose covariance is singular, and says so. Those of any class are "
        "shrunk towards none by loo, as far as the log loss of left-out rows falls, and by ledoit-wolf, by a formula.",
    )
    enough: int | None = option(
        WholeNumber(1, none=True),
        default=None,
        colon=True,
        help="The rows that a tuple in a class needs for a normal of its own; None is 5 * (numbers + 1).",
    )
    missing: str = missing_option()
    unseen: str = unseen_option()
