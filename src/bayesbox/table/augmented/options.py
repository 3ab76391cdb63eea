"""The options of the models with dependent columns."""

from __future__ import annotations

from typing import Any

from bayesbox.errors import BadOption
from bayesbox.rule.options import CountOptions, TakesSmoothing, unseen_option
from bayesbox.schema.options import NEVER, fixed, option, options
from bayesbox.schema.takes import AnyText, OneOf, WholeNumber

AUTO = "auto"
MOST_PARENTS = 5
NO_LEVEL = "models in which columns depend on each other ignore missing values"
SCORES = ("mi", "aic", "bic")


class TakesBins(AnyText):
    """How numbers are cut into bins."""

    def __init__(self) -> None:
        super().__init__('"mdl", "modl", "frequency:10" or "width:10"', metavar="DENSITY")

    def parse(self, name: str, given: Any) -> Any:
        from bayesbox.dist.number.cuts import binning

        try:
            binning(given)
        except BadOption as error:
            raise BadOption(f"this model needs bins, so {name} must be {self.words}", found=error.found) from None
        return given


@options
class AugmentedOptions(CountOptions):
    """How counts become probabilities; a `smoothing` of None is back-off."""

    smoothing: Any = option(
        TakesSmoothing(backoff=True),
        default="backoff",
        help="How counts become probabilities: backoff, laplace, mle, lidstone:0.5 or m:2. backoff smooths towards "
        "the table with one parent fewer where a combination of levels is rare.",
    )
    numeric: str = option(TakesBins(), default="mdl", help="How numbers are binned.")
    unseen: str = unseen_option()
    missing: str = fixed(
        "models in which columns depend on each other ignore missing values", default="ignore", in_file=NEVER
    )

    def _check(self) -> None:
        from bayesbox.dist.cells import added_counts

        if self.smoothing is not None:
            added_counts(self.smoothing, 2)  # raises an error if the rule does not fit


@options
class OneDependenceOptions(AugmentedOptions):
    """The options of averaged one-dependence estimators."""

    least: int = option(
        WholeNumber(1), default=1, colon=True, help="A level is used as a parent if at least this many rows have it."
    )


@options
class TreeOptions(AugmentedOptions):
    """The options of tree-augmented naive Bayes."""

    score: str = option(
        OneOf(*SCORES),
        default="mi",
        colon=True,
        kw_only=False,
        help="The score of an arc: the conditional mutual information of the two columns given the class, with aic "
        "and bic minus a penalty for its parameters. Arcs without a positive score are dropped; of equally good arcs "
        "that of the first column is taken.",
    )
    root: str | None = option(
        AnyText("column name", none=True),
        default=None,
        command=False,
        kw_only=False,
        help="The root of the tree; by default the first column.",
    )


@options
class DependenceOptions(AugmentedOptions):
    """The options of k-dependence Bayes."""

    k: int | str = option(
        WholeNumber(0, MOST_PARENTS, others=(AUTO,)),
        default=2,
        colon=True,
        kw_only=False,
        help="The maximum number of parents of a column besides the class; auto chooses a number from 0 to 3 by the "
        "log loss of held-out rows.",
    )
