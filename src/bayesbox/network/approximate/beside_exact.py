"""All approximations of one answer compared with the exact one, and the sampling error by number of samples.

The error of a method is the largest |estimate - exact| over the requested states. The error of a sampling method
differs by seed, so it is shown as the root mean square of several runs for each number of samples: ten times the
samples reduce it to about 1 / sqrt(10) = 0.32, if samples are independent.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesbox.display.blocks import Block, PictureBlock, TableBlock, TextBlock
from bayesbox.display.result import Result
from bayesbox.errors import BadOption, BayesboxError, DataWarning, ImpossibleEvidence, TooCostly
from bayesbox.network.approximate.algorithm import METHODS
from bayesbox.network.approximate.estimate import Estimate, EstimatedDistribution
from bayesbox.network.query.probability_table import Key, ProbabilityTable

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.network.query.notation import Query
    from bayesbox.network.questions import NetworkQuestions

FIRST = ("weighting", "gibbs", "blockgibbs", "bounds", "loopy", "meanfield")  # the order of the built-in methods
SIZES = (100, 1_000, 10_000)
RUNS = 10  # with different seeds, for each number of samples
MOST_SHOWN = 4  # states shown in the table
EVENT = ""  # the name of the only state if every target of a question has a value
SWEEPS_A_CHAIN = 10  # of Gibbs, at least: so that few samples do not mean one sweep per chain


class MethodAnswer(NamedTuple):
    """The answer of one method: the probability of each state, and its standard errors if the method has any.

    `error` is the largest difference from the exact answer, `stated` the largest standard error; None if there is
    none. `refused` says why there is no answer.
    """

    method: str
    probabilities: Mapping[Key, float]
    standard_errors: Mapping[Key, float]
    error: float | None
    about: Json
    notes: tuple[str, ...] = ()
    refused: str | None = None

    @property
    def stated(self) -> float | None:
        """The largest standard error."""
        return max(self.standard_errors.values(), default=None)


class SampledError(NamedTuple):
    """The error of a method at a number of samples: the actual one, and the standard error that the method reports."""

    method: str
    samples: int
    error: float | None
    stated: float


@dataclass(frozen=True, repr=False)
class ApproximateAnswers(Result):
    """The exact answer, None if it was refused, and the answers of all approximations."""

    question: str
    columns: tuple[str, ...]
    exact: Mapping[Key, float] | None
    refused: str | None
    answers: tuple[MethodAnswer, ...]
    by_samples: tuple[SampledError, ...]
    runs: int

    def __getitem__(self, method: str) -> MethodAnswer:
        for each in self.answers:
            if each.method == method:
                return each
        raise KeyError(method)

    def _headline(self) -> str:
        errors = [f"{each.method} {each.error:.2g}" for each in self.answers if each.error is not None]
        return f"ApproximateAnswers({self.question}: {'errors ' + ', '.join(errors) if errors else self.refused})"

    def _title(self) -> str:
        return self.question

    def _blocks(self) -> Sequence[Block]:
        blocks: list[Block] = [self._methods()]
        if len(self._states()) > MOST_SHOWN:
            blocks.append(self._by_state())
        notes = [f"exact: {self.refused}"] if self.refused else []
        notes += [f"{each.method}: {each.refused}" for each in self.answers if each.refused]
        for each in self.answers:
            remarks = [note for note in (_about(each.about), *each.notes) if note]
            notes += [f"{each.method}: {'; '.join(remarks)}"] if remarks else []
        if notes:
            blocks.append(TextBlock("\n".join(notes)))
        if self.by_samples:
            blocks.append(self._fall())
        if self.by_samples and self.exact is not None:
            blocks.append(PictureBlock(self.svg()))
        return blocks

    def _methods(self) -> TableBlock:
        """One row per method: the probabilities if they are few, and the errors."""
        states = self._states()
        shown = states if len(states) <= MOST_SHOWN else []
        against = [] if self.exact is None else ["error" if len(states) == 1 else "largest error"]
        rows: list[list[object]] = []
        if self.exact is not None:
            rows.append(["exact", *(f"{self.exact[state]:.7g}" for state in shown), "", ""])
        for each in self.answers:
            if each.refused is None:
                values = [f"{each.probabilities[state]:.7g}" for state in shown]
                error = [_figure(each.error)] if against else []
                rows.append([each.method, *values, *error, _figure(each.stated)])
        heads = ["method", *("P" if state == EVENT else _name(state) for state in shown), *against, "stated error"]
        return TableBlock(heads, rows, right=list(range(1, len(heads))))

    def _by_state(self) -> TableBlock:
        """One row per state, if there are many."""
        given = {} if self.exact is None else {"exact": self.exact}
        given |= {each.method: each.probabilities for each in self.answers if each.refused is None}
        rows = [[_name(state), *(f"{found[state]:.7g}" for found in given.values())] for state in self._states()]
        return TableBlock([", ".join(self.columns), *given], rows, right=list(range(1, len(given) + 1)))

    def _fall(self) -> TableBlock:
        methods = list(dict.fromkeys(each.method for each in self.by_samples))
        found = {(each.method, each.samples): each for each in self.by_samples}
        heads, rows = ["samples"], []
        for method in methods:
            heads += [*([f"error of {method}"] if self.exact is not None else []), f"stated by {method}"]
        for samples in sorted({each.samples for each in self.by_samples}):
            row = [f"{samples:,}"]
            for method in methods:
                each = found.get((method, samples))
                row += [
                    *([_figure(each and each.error)] if self.exact is not None else []),
                    _figure(each and each.stated),
                ]
            rows.append(row)
        mean = f"root mean square of {self.runs} runs, each with its seed" if self.runs > 1 else "one run each"
        caption = f"error by number of samples: {mean}"
        return TableBlock(heads, rows, caption=caption, right=list(range(len(heads))))

    def _states(self) -> list[Key]:
        for found in (self.exact, *(each.probabilities for each in self.answers)):
            if found:
                return list(found)
        return []

    def _frame(self) -> Mapping[str, Sequence[object]]:
        rows = []
        for each in self.answers:
            for state, p in each.probabilities.items():
                exact = None if self.exact is None else self.exact[state]
                off = None if exact is None else p - exact
                rows.append((each.method, _name(state), p, each.standard_errors.get(state), exact, off))
        names = ("method", "state", "probability", "standard_error", "exact", "difference")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def fall_frame(self) -> Any:
        """The error by the number of samples as a DataFrame: method, samples, error, stated."""
        from bayesbox.display.frame import frame_of

        return frame_of({name: [getattr(each, name) for each in self.by_samples] for name in SampledError._fields})

    def svg(self) -> str:
        """The error of each method against the number of samples, both on logarithmic scales."""
        from bayesbox.network.approximate.error_picture import error_picture

        return error_picture(self)

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {
            "question": self.question,
            "columns": list(self.columns),
            "exact": None if self.exact is None else _rows(self.exact, {}),
            "refused": self.refused,
            "methods": [
                {
                    "method": each.method,
                    "rows": _rows(each.probabilities, each.standard_errors),
                    "error": each.error,
                    "standard_error": each.stated,
                    "approximation": each.about,
                    "notes": list(each.notes),
                    "refused": each.refused,
                }
                for each in self.answers
            ],
            "by_samples": [each._asdict() for each in self.by_samples],
            "runs": self.runs,
        }


def compare_methods(
    network: NetworkQuestions,
    query: Query,
    *,
    samples: int | None = None,
    seed: int = 0,
    sizes: Sequence[int] = SIZES,
    runs: int = RUNS,
) -> ApproximateAnswers:
    """The exact answer to a question and that of every approximation, with `samples` for the sampling methods.

    The error by the number of samples is measured at these `sizes`, with `runs` different seeds each; `runs=0` omits
    it.
    """
    network = network.acted(query)
    for name, values in (("samples", [] if samples is None else [samples]), ("sizes", sizes)):
        if not all(isinstance(value, int) and value >= 1 for value in values):
            raise BadOption(f"{name} must be positive integers", found=values)
    exact, refused = None, None
    try:
        exact = _by_state(network.ask(query))
    except TooCostly as error:
        refused = error.without_remedy()
    answers = []
    for method in [*FIRST, *(name for name in METHODS if name not in FIRST)]:
        known = {field.name for field in dataclasses.fields(METHODS[method])}  # type: ignore[arg-type]
        given: dict[str, Any] = {"seed": seed} if "seed" in known else {}
        if samples is not None and "samples" in known:
            given |= _drawn(method, samples)
        answers.append(_answer(network, query, method, given, exact))
    if all(each.refused for each in answers) and exact is None:
        raise BadOption("no method can answer this question", found=str(query))
    fall = []
    for each in answers:
        if each.refused is None and each.standard_errors and "samples" in each.about and runs:
            fall += [_error_of(network, query, each.method, size, exact, range(seed, seed + runs)) for size in sizes]
    columns = tuple(target.name for target in query.targets if target.value is None)
    found = tuple(each for each in fall if each is not None)
    return ApproximateAnswers(str(query), columns, exact, refused, tuple(answers), found, runs)


def _answer(
    network: NetworkQuestions,
    query: Query,
    method: str,
    options: Mapping[str, Any],
    exact: Mapping[Key, float] | None,
) -> MethodAnswer:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            value = network.ask(query, approx=method, **options)
        except ImpossibleEvidence as error:
            if exact is None:
                raise
            return MethodAnswer(method, {}, {}, None, {}, refused=error.without_remedy())
        except BayesboxError as error:
            return MethodAnswer(method, {}, {}, None, {}, refused=error.without_remedy())
    found = _by_state(value)
    warned = tuple(dict.fromkeys(str(each.message) for each in caught if isinstance(each.message, DataWarning)))
    approximation = value.approximation
    about = approximation.facts()
    off = None if exact is None else max(abs(found[state] - p) for state, p in exact.items())
    return MethodAnswer(method, found, _errors_by_state(value), off, about, (*warned, *approximation.notes))


def _error_of(
    network: NetworkQuestions,
    query: Query,
    method: str,
    samples: int,
    exact: Mapping[Key, float] | None,
    seeds: range,
) -> SampledError | None:
    """The error at a number of samples, over runs with several seeds; None if none of them gives an answer."""
    found = [_answer(network, query, method, {"seed": seed, **_drawn(method, samples)}, exact) for seed in seeds]
    answered = [each for each in found if each.refused is None]
    if not answered:
        return None
    errors = [each.error for each in answered if each.error is not None]
    stated = [each.stated for each in answered if each.stated is not None]
    return SampledError(method, samples, _root_mean_square(errors) if errors else None, _root_mean_square(stated))


def _drawn(method: str, samples: int) -> dict[str, int]:
    chains = {field.name: field.default for field in dataclasses.fields(METHODS[method])}.get("chains")  # type: ignore[arg-type]
    if not isinstance(chains, int) or samples // SWEEPS_A_CHAIN >= chains:
        return {"samples": samples}
    return {"samples": samples, "chains": max(samples // SWEEPS_A_CHAIN, 2)}


def _root_mean_square(values: Sequence[float]) -> float:
    return math.sqrt(math.fsum(value * value for value in values) / len(values))


def _by_state(value: Any) -> dict[Key, float]:
    return dict(value) if isinstance(value, ProbabilityTable) else {EVENT: float(value)}


def _errors_by_state(value: Any) -> dict[Key, float]:
    if isinstance(value, EstimatedDistribution):
        return value.standard_errors
    assert isinstance(value, Estimate)
    return {} if value.standard_error is None else {EVENT: value.standard_error}


def _name(state: Key) -> str:
    return state if isinstance(state, str) else ", ".join(state)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"


def _about(facts: Json) -> str:
    if "samples" in facts:
        worth = facts.get("effective_samples")
        return f"{facts['samples']:,} samples" + ("" if worth is None else f", worth {worth:,.0f} independent ones")
    return f"residual {facts['residual']:.2g}" if "residual" in facts else ""


def _rows(probabilities: Mapping[Key, float], errors: Mapping[Key, float]) -> list[Json]:
    rows = []
    for state, p in probabilities.items():
        levels = [] if state == EVENT else [state] if isinstance(state, str) else list(state)
        stated = {"standard_error": errors[state]} if state in errors else {}
        rows.append({"levels": levels, "probability": p, **stated})
    return rows
