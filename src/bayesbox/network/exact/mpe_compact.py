"""The most probable states of a network with compact tables, without building the full table of a node.

The log of P(Y = y | x) of a noisy-MAX is a sum over the parents plus one term that couples them,

    log P(Y = y | x) = sum of log F_i(y | x_i) + g(t)
    g(t) = log(1 - e^t),   t = sum of log(F_i(y-1 | x_i) / F_i(y | x_i))

with F_i the cumulative probabilities of a parent's contribution; at the lowest y there is no such term. g is concave,
so every tangent lies above it, g(t) <= g(s) + g'(s) (t - s), and with a tangent in its place the term is a sum over the
parents too: the maximum of the rest of the network, with a weight for each state of each parent, is an upper bound. The
best tangent points s are found by averaging the t of the maxima (Frank and Wolfe). States that reach the bound are
proven optimal; otherwise the problem is split by the states of one variable, and the part with the largest bound comes
next (branch and bound).
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import TooCostly
from bayesbox.network.exact.conditioning import MAX_SECONDS
from bayesbox.network.exact.eliminate import ObservedStates, Scoped, aligned, cut_tables
from bayesbox.network.exact.mpe import MostProbableStates, log2_cells, most_probable, possible
from bayesbox.network.exact.orders import KEPT, best_order, require_affordable
from bayesbox.network.factor_graph import CompactSteps, FactorModel

Doubles = NDArray[np.float64]

BYTES_A_CELL = 24
SMALL = 16.0  # log2 of the cells of all tables; up to this the sums over the steps are computed directly
LEAST, MOST = -60.0, -1e-12  # the range of tangent points: e^-60 is negligible beside 1
FIRST_ROUNDS, ROUNDS = 60, 12  # of averaging, for the whole problem and for a part of it
PROVEN = 1e-10  # the largest gap between the log of the best states and the bound


class _Coupling(NamedTuple):
    """P(Y = y | x) as weights of the states of all parents, concatenated, and their contributions to t."""

    parents: NDArray[np.int64]
    starts: NDArray[np.int64]  # of the states of each parent, in the arrays that follow
    places: NDArray[np.int64]  # of the states, in a row of all states of all variables
    weights: Doubles
    ratios: Doubles | None  # None at the lowest level
    weight: float  # of the leak
    ratio: float

    def at(self, values: Doubles, states: NDArray[np.int64]) -> float:
        """The sum of the values of the states that the parents have."""
        return float(values[self.starts + states[self.parents]].sum())

    def reached(self, states: NDArray[np.int64]) -> float:
        """t at these states."""
        return -math.inf if self.ratios is None else self.ratio + self.at(self.ratios, states)


@dataclass
class _Part:
    """A subproblem: the fixed states, the tangent points, an upper bound, and the states that reach it."""

    given: dict[int, int]
    points: dict[int, float]
    bound: float
    states: NDArray[np.int64]


def most_probable_compact(
    model: FactorModel,
    findings: ObservedStates,
    wanted: Sequence[int] | None = None,
    *,
    max_bytes: int | None = None,
    max_seconds: float | None = None,
) -> MostProbableStates:
    """The most probable states of all nodes, with the steps of compact tables summed out; `wanted` must be None."""
    assert wanted is None
    nodes = list(range(model.visible))
    if log2_cells(model, findings, nodes) <= SMALL:
        return most_probable(model, findings, nodes, max_bytes=max_bytes, max_seconds=max_seconds)
    seconds = MAX_SECONDS if max_seconds is None else max_seconds
    try:
        found = _Search(model, findings, max_bytes).run(seconds)
    except TooCostly:
        found = None
    if found is None:
        return most_probable(model, findings, nodes, max_bytes=max_bytes, max_seconds=max_seconds)
    return possible(found if math.isfinite(found.log_probability) else None)


class _Search:
    def __init__(self, model: FactorModel, findings: ObservedStates, max_bytes: int | None) -> None:
        self.model, self.findings = model, findings
        apart = {factor for each in model.compact for factor in each.factors}
        plain = [place for place in range(len(model.factors)) if place not in apart]
        self.rest = _RestOfModel(model, findings, plain, max_bytes)
        self.nodes = {each.node: each for each in model.compact}
        self._couplings: dict[tuple[int, int], _Coupling] = {}
        used = {v for place in plain for v in model.factors[place].scope}
        used |= {parent for each in model.compact for parent in each.parents} | set(findings.likelihoods)
        self.loose = [v for v in self.nodes if v not in used]  # nothing else depends on their states
        self.best, self.states = -math.inf, np.zeros(0, dtype=np.int64)

    def run(self, seconds: float) -> MostProbableStates | None:
        end = time.monotonic() + seconds
        known = {variable: state for variable, state in self.findings.states.items() if variable < self.model.visible}
        first = self._bounded(known, {}, FIRST_ROUNDS)
        number = itertools.count()
        waiting = [(-first.bound, next(number), first)]
        while waiting and -waiting[0][0] > self.best + PROVEN:
            if time.monotonic() > end:
                return None
            part = heapq.heappop(waiting)[2]
            variable = self._split(part)
            if variable is None:  # all variables are fixed, so its value was already counted
                continue
            for state in range(self.model.cards[variable]):
                made = self._bounded({**part.given, variable: state}, part.points, ROUNDS)
                if made.bound > self.best + PROVEN:
                    heapq.heappush(waiting, (-made.bound, next(number), made))
        found = {v: int(self.states[v]) for v in range(self.model.visible)} if math.isfinite(self.best) else {}
        return MostProbableStates(found, self.best)

    def _bounded(self, given: dict[int, int], points: Mapping[int, float], rounds: int) -> _Part:
        """The lowest bound over some iterations; every maximum found on the way is tried as an answer."""
        fixed = self.rest.nothing()
        for variable, state in given.items():
            fixed[self.model.offsets[variable] : self.model.offsets[variable + 1]] = -math.inf
            fixed[self.model.offsets[variable] + state] = 0.0
        joined: dict[int, _Coupling] = {}
        constant = 0.0
        for node in self.nodes:
            if node not in given:
                continue  # its factor is at most 1
            coupling = self._coupling(node, given[node])
            constant += coupling.weight
            fixed[coupling.places] += coupling.weights
            if coupling.ratios is not None:
                joined[node] = coupling
        at = {node: points.get(node, math.log(0.5)) for node in joined}
        least: _Part | None = None
        for turn in range(rounds):
            weights, offset = fixed.copy(), constant
            for node, coupling in joined.items():
                slope = -math.exp(at[node]) / -math.expm1(at[node])
                offset += _log_rest(at[node]) + slope * (coupling.ratio - at[node])
                assert coupling.ratios is not None
                weights[coupling.places] += slope * coupling.ratios
            bound, states = self.rest.maximum(weights)
            bound += offset
            if least is None or bound < least.bound:
                least = _Part(given, dict(at), bound, states)
            if bound == -math.inf:
                break
            self._try(states, given)
            if least.bound <= self.best + PROVEN or not joined:
                break
            step = 1.0 / (turn + 2)
            for node, coupling in joined.items():
                at[node] += step * (min(max(coupling.reached(states), LEAST), MOST) - at[node])
        assert least is not None
        return least

    def _try(self, states: NDArray[np.int64], given: Mapping[int, int]) -> None:
        """Keep states as the answer if they are better than the best so far."""
        states = states.copy()
        for node in self.loose:
            if node not in given:
                logs = [self._log_of(node, state, states) for state in range(self.model.cards[node])]
                states[node] = int(np.argmax(logs))
        value = self.rest.value(states) + sum(self._log_of(node, int(states[node]), states) for node in self.nodes)
        if value > self.best:
            self.best, self.states = value, states

    def _split(self, part: _Part) -> int | None:
        """The variable to branch on: one in the term whose tangent is loosest."""
        free = [node for node in self.nodes if node not in part.given]
        if free:
            return max(
                free,
                key=lambda node: (
                    -max(self._log_of(node, state, part.states) for state in range(self.model.cards[node]))
                ),
            )
        gaps = []
        for node, point in part.points.items():
            coupling = self._coupling(node, part.given[node])
            reached = min(coupling.reached(part.states), 0.0)
            slope = -math.exp(point) / -math.expm1(point)
            above = _log_rest(point) + slope * (reached - point) - _log_rest(reached)
            gaps.append((above, node))
        for _, node in sorted(gaps, reverse=True):
            coupling = self._coupling(node, part.given[node])
            assert coupling.ratios is not None
            spread = np.maximum.reduceat(coupling.ratios, coupling.starts)
            spread -= np.minimum.reduceat(coupling.ratios, coupling.starts)
            pairs = zip(spread.tolist(), coupling.parents.tolist(), strict=True)
            open_ones = [(wide, -parent) for wide, parent in pairs if parent not in part.given]
            if open_ones:
                return -int(max(open_ones)[1])
        return None

    def _coupling(self, node: int, state: int) -> _Coupling:
        found = self._couplings.get((node, state))
        if found is None:
            found = self._couplings[node, state] = _coupling_of(self.model, self.nodes[node], state)
        return found

    def _log_of(self, node: int, state: int, states: NDArray[np.int64]) -> float:
        """log P(node = state | the states of its parents)."""
        coupling = self._coupling(node, state)
        return coupling.weight + coupling.at(coupling.weights, states) + _log_rest(min(coupling.reached(states), 0.0))


def _log_rest(t: float) -> float:
    """log(1 - e^t)."""
    return math.log(-math.expm1(t)) if t < 0 else -math.inf


def _coupling_of(model: FactorModel, each: CompactSteps, state: int) -> _Coupling:
    order = list(each.table.levels)
    level = order.index(state)
    offsets = model.offsets

    def logs(table: Doubles) -> tuple[Doubles, Doubles]:
        """log F(level) of each row, and log F(level - 1) - log F(level), at least LEAST."""
        below = np.cumsum(table[..., order], axis=-1)
        below[..., -1] = 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            upto = np.log(below[..., level])
            less = np.log(below[..., level - 1]) if level else np.full_like(upto, -math.inf)
            ratio = np.where(np.isneginf(upto), 0.0, np.maximum(less - upto, LEAST))
        return upto, np.minimum(ratio, 0.0)

    found = [logs(cause) for cause in each.table.causes]
    leak, leak_ratio = logs(each.table.leak)
    parents = np.array(each.parents, dtype=np.int64)
    sizes = [len(upto) for upto, _ in found]
    return _Coupling(
        parents,
        np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        np.concatenate([np.arange(size) + offsets[parent] for size, parent in zip(sizes, each.parents, strict=True)]),
        np.concatenate([upto for upto, _ in found]),
        np.concatenate([ratio for _, ratio in found]) if level else None,
        float(leak),
        float(leak_ratio),
    )


class _Bucket(NamedTuple):
    """A bucket: a variable, the variables chosen after it, the sum of its own logs, and the buckets that feed it."""

    variable: int
    scope: tuple[int, ...]  # its own last
    table: Doubles
    taken: list[tuple[int, list[int], tuple[int, ...]]]  # a bucket, the permutation of its axes, and their sizes here


class _RestOfModel:
    """The maximum of all tables except the compact ones, in logs, for any weights of single variables' states."""

    def __init__(
        self, model: FactorModel, findings: ObservedStates, plain: Sequence[int], max_bytes: int | None
    ) -> None:
        self.model = model
        nothing = ObservedStates({}, findings.likelihoods)
        tables = [self._logs(each) for each in cut_tables(model, nothing, plain)]
        count = model.visible
        self.single = np.zeros(int(model.offsets[count]))
        for each in tables:
            if len(each.scope) == 1:
                start = int(model.offsets[each.scope[0]])
                self.single[start : start + each.table.size] += each.table
        self.wide = [each for each in tables if len(each.scope) != 1]
        known = findings.states
        cut = [self._cut(each, known) for each in self.wide]
        stage = [KEPT] * len(model.cards)
        for each in cut:
            for variable in each.scope:
                stage[variable] = 0
        order = best_order(model.cards, [each.scope for each in cut], stage)
        require_affordable(order.log2_cells, BYTES_A_CELL, max_bytes)
        joined = {variable for variable in range(count) if stage[variable] == 0}
        self.alone = np.array([v for v in range(count) if v not in joined], dtype=np.int64)
        widest = max((model.cards[v] for v in self.alone), default=1)
        self.padded = np.full((len(self.alone), widest), len(self.single), dtype=np.int64)  # this index holds -inf
        for row, variable in zip(self.padded, self.alone.tolist(), strict=True):
            row[: model.cards[variable]] = range(model.offsets[variable], model.offsets[variable + 1])
        self.constant = sum(float(each.table) for each in cut if not each.scope)
        self.buckets = self._planned([each for each in cut if each.scope], order.variables)

    @staticmethod
    def _logs(each: Scoped) -> Scoped:
        with np.errstate(divide="ignore"):
            return Scoped(each.scope, np.log(np.asarray(each.table, dtype=np.float64)))

    @staticmethod
    def _cut(each: Scoped, known: Mapping[int, int]) -> Scoped:
        index = tuple(known.get(variable, slice(None)) for variable in each.scope)
        return Scoped(
            tuple(variable for variable in each.scope if variable not in known), np.asarray(each.table[index])
        )

    def _planned(self, tables: list[Scoped], order: Sequence[int]) -> list[_Bucket]:
        waiting = [(each, -1) for each in tables]
        buckets: list[_Bucket] = []
        for variable in order:
            own = [pair for pair in waiting if variable in pair[0].scope]
            waiting = [pair for pair in waiting if variable not in pair[0].scope]
            others = sorted({v for each, _ in own for v in each.scope} - {variable})
            scope = (*others, variable)
            table = np.zeros([self.model.cards[v] for v in scope])
            taken = []
            for each, bucket in own:
                if bucket < 0:
                    table = table + aligned(each, scope)
                else:
                    axes = [each.scope.index(v) for v in scope if v in each.scope]
                    taken.append((bucket, axes, aligned(each, scope).shape))
            buckets.append(_Bucket(variable, scope, table, taken))
            sizes = [self.model.cards[v] for v in others]
            waiting.append((Scoped(tuple(others), np.empty(sizes)), len(buckets) - 1))
        return buckets

    def nothing(self) -> Doubles:
        """Weights that are all 0."""
        return np.zeros(len(self.single))

    def maximum(self, weights: Doubles) -> tuple[float, NDArray[np.int64]]:
        """The largest sum of logs, and its states."""
        offsets = self.model.offsets
        single = self.single + weights
        states = np.zeros(self.model.visible, dtype=np.int64)
        rows = np.append(single, -math.inf)[self.padded]
        states[self.alone] = rows.argmax(axis=1)
        total = self.constant + float(rows.max(axis=1).sum())
        maxima: list[Doubles] = []
        choices = []
        for bucket in self.buckets:
            table = bucket.table + single[offsets[bucket.variable] : offsets[bucket.variable + 1]]
            for source, axes, shape in bucket.taken:
                table = table + maxima[source].transpose(axes).reshape(shape)
            choices.append(table.argmax(axis=-1))
            maxima.append(table.max(axis=-1))
            if len(bucket.scope) == 1:
                total += float(maxima[-1])
        for bucket, choice in zip(reversed(self.buckets), reversed(choices), strict=True):
            states[bucket.variable] = choice[tuple(states[v] for v in bucket.scope[:-1])]
        return total, states

    def value(self, states: NDArray[np.int64]) -> float:
        """The sum of logs at some states."""
        wide = sum(float(each.table[tuple(states[v] for v in each.scope)]) for each in self.wide)
        return wide + float(self.single[self.model.offsets[: len(states)] + states].sum())
