"""Queries of Bayesian networks and factor graphs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption, UnknownNode, UnknownStates
from bayesbox.network.approximate.algorithm import InferenceAlgorithm
from bayesbox.network.approximate.estimate import Estimate, EstimatedDistribution, EstimatedPosteriors
from bayesbox.network.approximate.methods import joint_posterior, method_of
from bayesbox.network.exact.compiled import CompiledModel
from bayesbox.network.exact.conditioning import AnswerPlan
from bayesbox.network.exact.eliminate import Marginal, ObservedStates, eliminate
from bayesbox.network.exact.implied import with_implied
from bayesbox.network.exact.junction import Propagation
from bayesbox.network.exact.mpe import most_probable
from bayesbox.network.exact.mpe_compact import most_probable_compact
from bayesbox.network.exact.parts import PropagationInParts, findings_of_rows
from bayesbox.network.exact.possible import propagation_of
from bayesbox.network.exact.posterior_table import PosteriorTable
from bayesbox.network.factor_graph import FactorModel
from bayesbox.network.joint.query import POSITIVE
from bayesbox.network.method_docs import METHODS
from bayesbox.network.query.evidence import (
    Evidence,
    case_of,
    has_columns,
    impossible,
    impossible_evidence,
    is_likelihood,
    mapping_of,
)
from bayesbox.network.query.jeffrey import jeffrey_likelihoods
from bayesbox.network.query.notation import Believed, Query, Term, Virtual, parse_query, quoted_name
from bayesbox.network.query.probability_table import ProbabilityTable
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.encode import Encoded, encode
from bayesbox.schema.intervals import interval_of
from bayesbox.schema.levels import is_missing, level_text
from bayesbox.schema.parameters import describe_methods
from bayesbox.source.frames import batch_of

if TYPE_CHECKING:
    from bayesbox.explain.steps import Work
    from bayesbox.network.approximate.beside_exact import ApproximateAnswers

COMPILED = ("_compiled", "_propagation")  # rebuilt rather than copied


@describe_methods(METHODS["NetworkQuestions"])
class NetworkQuestions:
    """The queries of a `FactorModel`; a network adds which of its tables are relevant to a query."""

    max_bytes: int | None = None
    max_seconds: float | None = None

    @property
    def model(self) -> FactorModel:
        """The variables and the factors."""
        raise NotImplementedError

    def _relevant(self, wanted: Sequence[str], known: Sequence[str]) -> list[int] | None:  # noqa: ARG002
        """The factors relevant to these variables; None for all."""
        return None

    def _parents_first(self) -> list[int] | None:
        """The variables of a Bayesian network, parents before children."""
        return None

    @property
    def nodes(self) -> list[str]:
        """The names of the variables."""
        return list(self.model.names)

    def states(self, node: object) -> list[str]:
        """The states of a variable."""
        return list(self.model.states[self._place(node)])

    # -- probabilities -------------------------------------------------------------------------------------------

    def query(
        self, text: str, *, approx: str | InferenceAlgorithm | None = None, **options: Any
    ) -> float | ProbabilityTable | bool:
        """The answer to P(...): a float if every target has a value, else a table of probabilities.

        `approx` names an approximate method for large networks, with its options as for `posteriors`; the answer
        then has its standard error, or a table of them, in `standard_error(s)`.
        """
        answer: float | ProbabilityTable = self.ask(parse_query(text), approx=approx, **options)
        return answer

    def ask(
        self, query: Query, *, exact: bool = False, approx: str | InferenceAlgorithm | None = None, **options: Any
    ) -> Any:
        """The answer to a parsed query; with `exact`, in fractions."""
        acted = self.acted(query)
        if acted is not self:
            return acted.ask(query, exact=exact, approx=approx, **options)
        method = None if approx is None else method_of(approx, options)
        _refuse_options(approx, options)
        evidence = self.evidence_of(query, exact=exact)
        findings = self.findings(evidence)
        places = [self._place(target.name) for target in query.targets if target.value is None]
        valued: dict[int, set[int]] = {}
        for target in query.targets:
            if target.value is not None:
                place = self._place(target.name)
                valued.setdefault(place, set()).add(self._code(place, target.value))
        names = list(dict.fromkeys([*places, *valued]))
        errors = None
        if method is None:
            joint = self._marginal(findings, names, exact=exact)
            total = joint.table.sum()
            if not total > 0:
                raise impossible(str(term) for term in query.evidence)
            table = np.asarray(joint.table / total, dtype=joint.table.dtype)
        else:
            table, errors, found = joint_posterior(
                method, self._compiled.case(with_implied(self.model, findings)), names
            )
        for axis, place in enumerate(names):
            if place in valued and (
                place in places or len(valued[place]) > 1
            ):  # repeated targets, or contradicting ones
                shape = [-1 if each == axis else 1 for each in range(len(names))]
                keep = np.array([{state} == valued[place] for state in range(self.model.cards[place])])
                table = table * keep.reshape(shape).astype(table.dtype)
        index = tuple(slice(None) if place in places else min(valued[place]) for place in names)
        table = np.asarray(table[index], dtype=table.dtype)
        errors = None if errors is None else np.asarray(errors[index])
        if not places:
            if exact:
                return table[()]
            value = min(float(table[()]), 1.0)
            if method is None:
                return value
            bounds = found.bounds_of(self.model, names, index)
            stated = None if errors is None else float(errors[()])
            return Estimate(
                value, stated, found, bounds=None if bounds is None else (float(bounds[0]), float(bounds[1]))
            )
        levels = [self.model.states[place] for place in places]
        free = [target.name for target in query.targets if target.value is None]
        numbers = _by_levels(table, levels, plain=not exact)
        if method is None:
            return ProbabilityTable(str(query), free, numbers, levels=levels)
        by_state = {} if errors is None else _by_levels(errors, levels)
        return EstimatedDistribution(
            str(query),
            free,
            numbers,
            errors=by_state,
            levels=levels,
            approximation=found,
            bounds=found.bounds_of(self.model, names, index),
        )

    def acted(self, query: Query) -> Self:
        """The network of a query: after the intervention if the query has do(...)."""
        if query.actions:
            raise BadOption("do(...) is for Bayesian networks, and this is a factor graph", found=str(query))
        return self

    def fraction(self, text: str) -> Fraction:
        """The probability of an event as a fraction; each number of the tables counts as its shortest decimal."""
        query = parse_query(text)
        if not query.is_event:
            raise BadOption("a fraction needs an event: every target must have a value", found=text)
        return Fraction(self.ask(query, exact=True))

    def work(self, text: str, *, method: str = "auto", approx: str | None = None, **options: Any) -> Work:
        """The calculation of P(...): prints as text, shows as HTML in a notebook; `.latex()`, `.to_dict()`.

        One product if every node has a state, else the sum term by term ("enumeration"), or variable "elimination"
        factor by factor if that is shorter; `method` selects one. `approx` is "weighting" or "gibbs": the first samples
        of the textbook algorithm, and the estimate with the `options` of the method.
        """
        from bayesbox.network.work.question import work_of

        return work_of(self, parse_query(text), method=method, approx=approx, **options)

    def approximations(
        self,
        text: str,
        *,
        samples: int | None = None,
        seed: int = 0,
        sizes: Sequence[int] = (100, 1_000, 10_000),
        runs: int = 10,
    ) -> ApproximateAnswers:
        """P(...) by every approximate method and exactly, with the errors: prints, HTML, `.to_frame()`.

        Sampling methods draw `samples` samples. Their error is also measured at each of `sizes`, over `runs` runs with
        different seeds; `.svg()` plots it. If an exact answer would be too costly, `.exact` is None.
        """
        from bayesbox.network.approximate.beside_exact import compare_methods

        return compare_methods(self, parse_query(text), samples=samples, seed=seed, sizes=sizes, runs=runs)

    def posteriors(
        self,
        evidence: Any = None,
        *,
        approx: str | InferenceAlgorithm | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> PosteriorTable:
        """P(state | evidence) of every variable: node -> state -> probability.

        Evidence is a dict from node to state (or a row of a pandas DataFrame), or to a dict of likelihoods if it is
        uncertain; None means unknown. A DataFrame of evidence, one column per node and one row per case, gives an array
        in place of each number; empty cells and unknown states are treated as unobserved, and impossible rows give NaN.

        `approx` selects an approximation instead of the exact answer: "weighting" (samples=, seed=, table_cells=),
        "gibbs" (samples=, chains=, seed=), "blockgibbs" (samples=, chains=, seed=, table_cells=), "bounds"
        (cases=, table_cells=), "loopy" (sweeps=, tolerance=) or "meanfield" (sweeps=, tolerance=, seed=); their errors
        are in `standard_errors`, `lower`, `upper` and `approximation`. `threads` applies to DataFrames: one per core by
        default.
        """
        _refuse_options(approx, options)
        if type(evidence) is not dict:  # the common case is fast
            evidence = case_of(evidence)
        one = evidence is None or (isinstance(evidence, Mapping) and not has_columns(evidence))
        if approx is not None:
            method = method_of(approx, options)
            cases = [self.findings(evidence)] if one else findings_of_rows(self._coded(evidence))
            found = [method.run(self._compiled.case(with_implied(self.model, case))) for case in cases]
            return EstimatedPosteriors(self.model, found, rows=not one)
        if one:
            cells, log_evidence = self._propagation.posteriors(
                self.findings(evidence), max_bytes=self.max_bytes, max_seconds=self.max_seconds
            )
            if math.isinf(log_evidence):
                raise impossible_evidence(evidence)
            return PosteriorTable(self.model, cells)
        return PosteriorTable(self.model, list(self.posteriors_of_states(self._coded(evidence), threads=threads).T))

    def posteriors_of_states(self, states: NDArray[np.int32], *, threads: int | None = None) -> NDArray[np.float64]:
        """The posteriors for rows x variables of state codes, -1 if unknown: rows x all states, NaN if impossible."""
        found = self._propagation.of_rows(
            states, max_bytes=self.max_bytes, max_seconds=self.max_seconds, threads=threads
        )
        found.table[np.isneginf(found.log_evidence)] = np.nan
        return found.table

    def log_probability(self, evidence: Evidence | None = None) -> float:
        """The natural log of the probability of a partial assignment; for a factor graph, log Z."""
        return self._marginal(self.findings(evidence), ()).log_total

    def probability(self, evidence: Evidence | None = None) -> float:
        """The probability of a full or a partial assignment."""
        return math.exp(self.log_probability(evidence))

    def cost(self, evidence: Evidence | None = None) -> AnswerPlan:
        """The cost of the exact posteriors given this evidence: memory, time, and the variables conditioned on.

        Nothing is computed. Within `max_bytes` of tables, an answer that needs more is computed case by case, as long
        as that takes at most `max_seconds`.
        """
        return self._propagation.cost(self.findings(evidence), max_bytes=self.max_bytes)

    def mpe(self, evidence: Evidence | None = None, targets: str | Sequence[str] | None = None) -> dict[str, str]:
        """The most probable explanation: the states of all variables, or of some targets (marginal MAP)."""
        return self.explanation(evidence, targets)[0]

    def explanation(
        self, evidence: Evidence | None = None, targets: str | Sequence[str] | None = None
    ) -> tuple[dict[str, str], float]:
        """The most probable states, and the log of their probability together with the evidence."""
        findings = self.findings(evidence)
        listed = [targets] if isinstance(targets, str) else targets
        wanted = None if listed is None else [self._place(name) for name in listed]
        find = most_probable if listed is not None or not self.model.compact else most_probable_compact
        found = find(
            self.model,
            with_implied(self.model, findings),
            wanted,
            max_bytes=self.max_bytes,
            max_seconds=self.max_seconds,
        )
        names = self.model.names
        states = {names[place]: self.model.states[place][state] for place, state in found.states.items()}
        return states, found.log_probability

    # -- evidence ------------------------------------------------------------------------------------------------

    def findings(self, evidence: Evidence | None) -> ObservedStates:
        """Evidence by position."""
        states: dict[int, int] = {}
        likelihoods: dict[int, AnyArray] = {}
        model = self.model
        if type(evidence) is not dict:
            evidence = mapping_of(evidence)
        for name, value in evidence.items():
            place = model.place[name] if name in model.place else self._place(name)
            if type(value) is str and value in model.states[place]:  # the common case; the rest is slower
                states[place] = model.states[place].index(value)
            elif isinstance(value, Mapping):
                likelihoods[place] = self._likelihood(place, value)
            elif not is_missing(value):
                states[place] = self._code(place, value)
        return ObservedStates(states, likelihoods)

    def evidence_of(self, query: Query, *, exact: bool = False) -> dict[str, Any]:
        """The evidence of a query as a mapping; several findings of one node become the product of their
        likelihoods."""
        evidence: dict[str, Any] = {}
        believed: dict[str, Any] = {}
        for term in query.evidence:
            if isinstance(term, Believed):
                believed[term.name] = self._virtual(term)
                continue
            value: Any = term.value if isinstance(term, Term) else self._virtual(term)
            evidence[term.name] = self._both(term.name, evidence[term.name], value) if term.name in evidence else value
        return evidence | (jeffrey_likelihoods(self, evidence, believed, exact=exact) if believed else {})

    def _both(self, name: str, one: object, other: object) -> Any:
        """Two findings of a node combined into one."""
        place = self._place(name)
        if isinstance(one, str) and isinstance(other, str) and self._code(place, one) == self._code(place, other):
            return one
        states = self.model.states[place]
        first, second = (
            self._likelihood(place, each)
            if isinstance(each, Mapping)
            else [Fraction(code == self._code(place, each)) for code in range(len(states))]
            for each in (one, other)
        )
        return {state: left * right for state, left, right in zip(states, first, second, strict=True)}

    def _virtual(self, term: Virtual) -> dict[str, Fraction]:
        states = self.states(term.name)
        if not isinstance(term.likelihood, Fraction):
            return dict(term.likelihood)
        positive = [state for state in states if state.lower() in POSITIVE]
        if len(positive) != 1 or len(states) > 2:
            raise BadOption(
                f"`{term}` needs a node with two states, one of them true, yes or 1",
                found=", ".join(states[:12]),
                remedy=f"Give the likelihood of each state: {quoted_name(term.name)}~(yes:0.7, no:0.3)",
            )
        return {state: term.likelihood if state in positive else 1 - term.likelihood for state in states}

    def _likelihood(self, place: int, given: Mapping[Any, Any]) -> AnyArray:
        values: list[Any] = [None] * self.model.cards[place]
        for state, value in given.items():
            values[self._code(place, state)] = value
        for state, value in zip(self.model.states[place], values, strict=True):
            if not is_likelihood(value):
                raise BadOption(
                    f"the likelihood of `{self.model.names[place]}={state}` must be a number between 0 and 1e308",
                    found=value,
                    remedy="Each state has one; a state that the evidence rules out has likelihood 0",
                )
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made

    def _place(self, name: object) -> int:
        place = self.model.place.get(level_text(name))
        if place is None:
            raise UnknownNode("node", level_text(name), self.model.names)
        return place

    def _code(self, place: int, state: object) -> int:
        states, text = self.model.states[place], level_text(state)
        if text in states:
            return states.index(text)
        alike = [at for at, known in enumerate(states) if known.lower() == text.lower()]
        if len(alike) == 1:
            return alike[0]
        interval = interval_of(states, text)
        if interval is not None:
            return interval
        raise UnknownNode("state", text, states, where=f"node `{self.model.names[place]}`")

    def _coded(self, frame: object) -> NDArray[np.int32]:
        """A DataFrame of evidence as state codes, -1 if unknown."""
        batch = batch_of(frame)
        coded = np.full((batch.rows, len(self.model.names)), -1, dtype=np.int32)
        for name, column in zip(batch.names, batch.columns, strict=True):
            place = self._place(name)
            coded[:, place] = self.state_codes(place, encode(column))
        return coded

    def state_codes(self, place: int, column: Encoded) -> NDArray[np.int32]:
        """The state codes in a column of a variable, -1 if the value is missing or unknown."""
        codes = [self._known_code(place, level) for level in column.levels]
        if len(codes) > 1 and max(codes) < 0:  # not single typos: a different spelling of the states
            warned = UnknownStates(self.model.names[place], column.levels, states=self.model.states[place])
            warnings.warn(warned, stacklevel=4)
        states: NDArray[np.int32] = np.array([*codes, -1], dtype=np.int32)[column.codes]
        return states

    def _known_code(self, place: int, level: str) -> int:
        try:
            return self._code(place, level)
        except UnknownNode:
            return -1

    # -- arithmetic ----------------------------------------------------------------------------------------------

    @cached_property
    def _compiled(self) -> CompiledModel:
        return CompiledModel(self.model, self._parents_first())

    @cached_property
    def _propagation(self) -> Propagation:
        return PropagationInParts(self._compiled) if self.model.compact else propagation_of(self._compiled)

    def __getstate__(self) -> dict[str, Any]:
        """Everything except the compiled plans, which are rebuilt when needed."""
        return {name: value for name, value in self.__dict__.items() if name not in COMPILED}

    def _marginal(self, findings: ObservedStates, wanted: Sequence[int], *, exact: bool = False) -> Marginal:
        names, findings = self.model.names, with_implied(self.model, findings)
        known = [names[place] for place in (*findings.states, *findings.likelihoods)]
        factors = self._relevant([names[place] for place in wanted], known)
        return eliminate(
            self.model,
            findings,
            wanted,
            factors=factors,
            exact=exact,
            max_bytes=self.max_bytes,
            max_seconds=self.max_seconds,
        )


def _refuse_options(approx: str | InferenceAlgorithm | None, options: Mapping[str, Any]) -> None:
    if approx is None and options:
        raise BadOption(f"`{next(iter(options))}` is an option of the approximations", remedy="Choose one: approx=...")


def _by_levels(table: AnyArray, levels: Sequence[Sequence[str]], *, plain: bool = True) -> dict[tuple[str, ...], Any]:
    return {
        tuple(states[at] for states, at in zip(levels, where, strict=True)): float(value) if plain else value
        for where, value in np.ndenumerate(table)
    }
