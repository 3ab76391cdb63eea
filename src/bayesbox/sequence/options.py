"""The options of a hidden Markov model; its parameters, file and command are generated from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayesbox.rule.options import UNSEEN, NaiveOptions, TakesSmoothing
from bayesbox.schema.options import NEVER, SINCE, Options, option, options
from bayesbox.schema.takes import OneOf, RealNumber, Takes, WholeNumber

EMISSIONS = ("auto", "category", "gaussian", "mixed")
CRITERIA = ("bic", "cv")

States = int | str | Sequence[object]
"""How many states there are, a range of numbers to choose from, or their names."""


class TakesStates(Takes):
    """A number of states, a range of numbers to choose from, the names of the states, or None."""

    metavar = "NUMBER|auto|2..6"

    @property
    def words(self) -> str:
        return 'int, "auto", "2..6", list of names, or None'

    def parse(self, name: str, given: States | None) -> States | None:  # noqa: ARG002
        from bayesbox.sequence.labels import named_states
        from bayesbox.sequence.states import candidates

        if isinstance(given, str):
            candidates(given)
        elif given is not None:
            named_states(given)
        return given

    def from_text(self, name: str, text: str) -> States | None:
        """A number, or the range to choose it from.

        >>> TakesStates().from_text("states", "3"), TakesStates().from_text("states", "2..6")
        (3, '2..6')
        """
        return self.parse(name, int(text) if text.isdecimal() and int(text) > 0 else text)


@options
class ChainOptions(Options):
    """How a chain is learned, and how its tallies become probabilities."""

    states: States | None = option(
        TakesStates(),
        default=None,
        kw_only=False,
        in_file=NEVER,  # the states found are
        help="The number of states, or a range to choose from; by default the number of labels, else 2.",
    )
    emissions: str = option(
        OneOf(*EMISSIONS),
        default="auto",
        command=False,  # the columns of a file have names, and --types says what they are
        help="category or gaussian for all columns; mixed for the detected type of each column; auto is the same, "
        "except that integers without a column name are symbols.",
    )
    smoothing: Any = option(
        TakesSmoothing(),
        default="laplace",
        in_file=NEVER,  # stored under `rules`, as for naive Bayes
        command=False,  # one rule for all three
        help="How the counts of levels become probabilities: laplace, mle, lidstone:0.5, m:2, ...",
    )
    start_smoothing: Any = option(
        TakesSmoothing(), default="laplace", command=False, help="The smoothing rule of the initial state."
    )
    transition_smoothing: Any = option(
        TakesSmoothing(), default="laplace", command=False, help="The smoothing rule of the transitions."
    )
    number_prior: float | None = option(
        RealNumber(0, said="number_prior must be a non-negative number of rows", none=True),
        default=None,
        in_file=SINCE,
        command=False,
        help="The weight, in rows, of the prior of a normal density, which has the mean and variance of the whole "
        "column; by default one row for Baum-Welch, so that no state shrinks to a few equal values, and none for "
        "counting.",
    )
    columns: Mapping[Any, object] | None = option(
        Takes("mapping of column name or position to kind, or None"),
        default=None,
        in_file=NEVER,  # as `declared`
        command=False,
        help="The types of columns, where they are not detected as wanted: Category([...]), Real(floor=0), 'flag'.",
    )
    unseen: str = option(
        OneOf(*UNSEEN),
        default="smooth",
        in_file=NEVER,  # stored under `rules` too
        command=False,
        help="What an unseen level gets: the probability of a zero count, nothing, or an error.",
    )
    choose: str = option(
        OneOf(*CRITERIA),
        default="bic",
        in_file=NEVER,
        help="How to choose the number of states: by BIC, or by the likelihood of held-out sequences.",
    )
    folds: int = option(WholeNumber(2), default=5, in_file=NEVER, command=False, help="The number of folds, for cv.")
    iterations: int = option(
        WholeNumber(1),
        default=100,
        in_file=NEVER,
        command="rounds",
        help="The maximum number of Baum-Welch iterations.",
    )
    tolerance: float = option(
        RealNumber(0),
        default=1e-6,
        in_file=NEVER,
        command=False,
        help="Stop at the first iteration that changes the log-likelihood by no more than this fraction.",
    )
    restarts: int = option(
        WholeNumber(1), default=3, in_file=NEVER, help="The number of random starts; the best is kept."
    )
    seed: int = option(WholeNumber(0), default=0, in_file=NEVER, help="The random seed.")

    @property
    def emission(self) -> NaiveOptions:
        """How the tallies of a step become probabilities, as in naive Bayes."""
        return NaiveOptions(smoothing=self.smoothing, unseen=self.unseen, numeric="gaussian")
