"""The options that kinds of models share, and those of naive Bayes: how counts become probabilities.

The modules that implement them are imported when a value is parsed, so that the command can print its help without
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayesbox.errors import BadOption
from bayesbox.schema.kinds import TakesDensity
from bayesbox.schema.options import GIVEN, Options, option, options
from bayesbox.schema.takes import AnyText, OneOf, RealNumber, Takes, Types

LEARNED = "learned"
BACK_OFF = "backoff"
BALANCED = "balanced"
Prior = Mapping[Any, float] | Sequence[float] | str
"""Probabilities by class, in the order of the classes, or "balanced"."""
MISSING = ("ignore", "level")
UNSEEN = ("ignore", "smooth", "error")

SELECTIONS = {
    "mi": "columns that are significantly informative about the class, or the ten most informative: mi:10",
    "cfs": "columns that are informative about the class and not about each other (Hall 1999)",
    "forward": "one column after another, as long as the leave-one-out log loss decreases",
    "backward": "all columns minus those whose removal lowers the leave-one-out log loss",
}
"""The ways to select columns."""


# -- types of options ------------------------------------------------------------------------------------------------


class TakesSmoothing(Takes):
    """A smoothing rule or its name; None if allowed, which may mean `backoff`."""

    metavar = "RULE"

    def __init__(self, *, none: bool = False, backoff: bool = False) -> None:
        self.none, self.backoff = none, backoff
        self.types = (dict, None) if none or backoff else (dict,)

    @property
    def words(self) -> str:
        if self.backoff:
            return '"backoff", rule of `bayesbox.rules`, or its name'
        return "rule of `bayesbox.rules`, its name, or None" if self.none else "rule of `bayesbox.rules`, or its name"

    def parse(self, name: str, given: object) -> object:  # noqa: ARG002
        """The rule; None for back-off.

        >>> TakesSmoothing(backoff=True).parse("smoothing", "backoff"), TakesSmoothing().parse("smoothing", "m:2")
        (None, MEstimate(m=2.0, prior=None))
        """
        from bayesbox.rule.smoothing import as_smoothing

        if (given is None and None in self.types) or (self.backoff and given == BACK_OFF):
            return None
        return as_smoothing(given)

    def parameter(self, value: object) -> object:
        return BACK_OFF if self.backoff and value is None else value

    def to_json(self, name: str, value: Any) -> object:  # noqa: ARG002
        from bayesbox.rule.rules_json import smoothing_to_json

        return None if value is None else smoothing_to_json(value)

    def from_json(self, name: str, written: object) -> object:  # noqa: ARG002
        from bayesbox.rule.rules_json import smoothing_from_json

        return None if written is None else smoothing_from_json(written)


class TakesRulesByColumn(Takes):
    """Smoothing rules by the names of columns, or None."""

    types: Types = (dict, None)

    @property
    def words(self) -> str:
        return "mapping of column name to rule, or None"

    def parse(self, name: str, given: object) -> object:
        """The rules; an error unless it is a mapping.

        >>> TakesRulesByColumn().parse("column_smoothing", {"outlook": "m:2"})
        {'outlook': MEstimate(m=2.0, prior=None)}
        """
        if given is None:
            return None
        if not isinstance(given, Mapping):
            raise BadOption(f"{name} must be a dict from column names to rules", found=given)
        rule = TakesSmoothing()
        return {str(column): rule.parse(name, each) for column, each in given.items()} or None

    def to_json(self, name: str, value: Any) -> object:
        rule = TakesSmoothing()
        return None if value is None else {column: rule.to_json(name, value[column]) for column in sorted(value)}

    def from_json(self, name: str, written: Any) -> object:
        rule = TakesSmoothing()
        return None if written is None else {column: rule.from_json(name, each) for column, each in written.items()}


class TakesPrior(Takes):
    """Probabilities by class or in class order, "balanced", or None; checked against the classes later."""

    types: Types = (list, str, None)
    metavar = "CLASS=P,...|balanced"

    @property
    def words(self) -> str:
        return 'mapping of label to probability, list of probabilities in class order, "balanced", or None'

    def parse(self, name: str, given: object) -> object:  # noqa: ARG002
        from bayesbox.rule.priors import as_prior

        return None if given is None else as_prior(given)

    def to_json(self, name: str, value: Any) -> object:  # noqa: ARG002
        from bayesbox.rule.rules_json import prior_to_json

        return None if value is None else prior_to_json(value)

    def from_json(self, name: str, written: Any) -> object:  # noqa: ARG002
        from bayesbox.rule.rules_json import prior_from_json

        return None if written is None else prior_from_json(written)


class TakesSelection(AnyText):
    """A method of column selection, with a number if it has one; or None."""

    def __init__(self) -> None:
        super().__init__('"mi", "mi:10", "cfs", "forward", "backward"', none=True, metavar="METHOD")

    def parse(self, name: str, given: Any) -> object:  # noqa: ARG002
        if given is not None:
            selection(given)
        return given


def selection(text: str) -> tuple[str, int | None]:
    """The method of a selection and its number of columns, if given: `mi:10`.

    >>> selection("mi:10"), selection("forward")
    (('mi', 10), ('forward', None))
    """
    method, _, number = text.partition(":") if isinstance(text, str) else ("", "", "")
    if method not in SELECTIONS or (number and (method != "mi" or not number.isdecimal() or not int(number))):
        raise BadOption(
            f"select must be one of {', '.join(SELECTIONS)}",
            found=text,
            remedy="mi:10 selects the ten most informative columns",
        )
    return method, int(number) if number else None


# -- the options -----------------------------------------------------------------------------------------------------


def missing_option() -> Any:
    """The option for missing values."""
    return option(
        OneOf(*MISSING),
        default="ignore",
        help="Ignore missing values, or count them as a level of their own.",
    )


def unseen_option() -> Any:
    """The option for unseen levels."""
    return option(
        OneOf(*UNSEEN),
        default="ignore",
        help="How to predict with a level that was neither seen in training nor declared: ignore the column in that "
        "row, smooth (give it the probability of a zero count), or raise an error.",
    )


@options
class CountOptions(Options):
    """How the counts of levels and classes become probabilities."""

    smoothing: Any = option(
        TakesSmoothing(),
        default="laplace",
        help="How counts become probabilities: laplace, mle, lidstone:0.5, m:2, ...; by command also for one column, "
        "as in outlook=m:2, and repeatedly.",
    )
    prior_smoothing: Any = option(
        TakesSmoothing(none=True), default=None, help="The smoothing rule of the class prior; none by default."
    )
    prior: Prior | None = option(
        TakesPrior(),
        default=None,
        help="A given class prior: another base rate with the same likelihoods; balanced gives all classes the same.",
    )


@options
class NaiveOptions(CountOptions):
    """The options of naive Bayes.

    `select` is the method of column selection, `column_weights` whether weights are learned; the selection and the
    weights themselves are derived from the rows.
    """

    column_smoothing: Mapping[str, Any] | None = option(
        TakesRulesByColumn(),
        default=None,
        in_file=GIVEN,
        command=False,
        help="The smoothing rules of individual columns, by name, instead of `smoothing`; the same as "
        "`Category(smoothing=...)` in `columns`.",
    )
    numeric: str = option(
        TakesDensity(),
        default="robust",
        help="The density of numeric columns, or how they are binned; auto chooses for each column.",
    )
    missing: str = missing_option()
    unseen: str = unseen_option()
    var_smoothing: float | None = option(
        RealNumber(0, none=True),
        default=None,
        in_file=GIVEN,
        help="Add this fraction of the largest variance of the gaussian columns to each of their variances, instead "
        "of a floor, as scikit-learn does.",
    )
    select: str | None = option(
        TakesSelection(),
        default=None,
        in_file=GIVEN,
        help="Take only some columns: those that are informative about the class by more than chance (mi), or the ten "
        "most informative (mi:10); those that are informative about the class and not about each other (cfs); or those "
        "that lower the log loss of held-out rows, added (forward) or dropped (backward) one at a time.",
    )
    column_weights: str | None = option(
        OneOf(LEARNED, none=True),
        default=None,
        in_file=GIVEN,
        help="Learn a weight for each column (the exponent of its factor) on the log loss of held-out rows, so that "
        "redundant columns share their weight.",
    )
