"""The options of averaged naive Bayes."""

from __future__ import annotations

from bayesbox.rule.options import NaiveOptions
from bayesbox.schema.kinds import TakesDensity
from bayesbox.schema.options import GIVEN, fixed, option, options
from bayesbox.schema.takes import RealNumber

ALL_SELECTIONS = "averaged naive Bayes averages over all selections of columns, so it has no select"


@options
class AveragedOptions(NaiveOptions):
    """The options of naive Bayes, and how probable it is that a column depends on the class."""

    inclusion: float = option(
        RealNumber(0, 1, said="the prior probability of a column must be between 0 and 1"),
        default=0.5,
        colon=True,
        kw_only=False,
        help="The prior probability that a column depends on the class.",
    )
    numeric: str = option(
        TakesDensity(),
        default="gaussian",
        help="The density of numbers, or how they are binned; auto chooses for each column.",
    )
    missing: str = fixed("averaged naive Bayes ignores missing values", default="ignore")
    var_smoothing: float | None = fixed(
        "averaged naive Bayes has its own prior for variances", default=None, in_file=GIVEN
    )
    select: str | None = fixed(ALL_SELECTIONS, default=None, in_file=GIVEN)
    column_weights: str | None = fixed(ALL_SELECTIONS, default=None, in_file=GIVEN)

    def _check(self) -> None:
        from bayesbox.dist.cells import added_counts

        added_counts(self.smoothing, 2)  # a rule that is a Dirichlet prior
