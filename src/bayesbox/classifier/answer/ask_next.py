"""The unknown columns of a row, ranked by their expected information about the class.

For naive Bayes, the possible answers are the levels of a column, or all numbers, with their current predictive
probabilities: sums are exact, integrals are accurate to 1e-6 bits. For other kinds, the model predicts each value of a
column in turn; the values are weighted by the model's P(x), or if it has none, by the counts of each class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.answer.questions import ColumnQuestion, ColumnQuestions, checked_costs, ordered
from bayesbox.classifier.answer.rows import (
    given_values,
    repeated,
    require_one_row,
    require_table,
    with_column,
    without_missing,
)
from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.dist.base import Columns, Distribution, Doubles
from bayesbox.dist.number.panels import panels_of, support_of
from bayesbox.errors import BadOption, CannotSample
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch
from bayesbox.stat.information import answer_sums, entropy_bits, information, shares_of
from bayesbox.stat.integrate import integrate

if TYPE_CHECKING:
    from bayesbox.dist.naive import NaiveModel

TOLERANCE = 1e-7  # of an integral, in bits
ROUGH = 1e-3  # the same for a model without P(x), whose predictions may be discontinuous
LOOSE = 1e-4  # how far from 1 the integral of a density may be before it is refined
FINER = 3  # times
CELLS_AT_ONCE = 1 << 21  # answers x classes
MOST_TOGETHER = 20_000  # combinations of the parts of a date

NO_DISTRIBUTION = "it has no distribution of its own"
WORDS = "words cannot be asked about one by one"
DATE = "a date is asked about as a whole, which only naive Bayes supports"


BY_COUNTS = "the model has no P(x): answers are weighted by the class-conditional counts of their column"
UNCALIBRATED = "information is computed from the uncalibrated model"


def ask_next(classifier: AnyClassifier, batch: Batch, costs: Mapping[str, float] | None = None) -> ColumnQuestions:
    """The unknown columns in the one row of a batch, ranked by expected information."""
    table = require_table(classifier, "ask_next")
    require_one_row(batch, "ask_next")
    weighed = answer_information(table, batch)
    prices = checked_costs(costs, weighed.given)
    found = [
        ColumnQuestion(name, bits, prices.get(name, 1.0), _shown_values(table, name))
        for name, bits in weighed.bits().items()
    ]
    notes = [BY_COUNTS] if weighed.weighed_by_counts else []
    notes += [UNCALIBRATED] if table.calibrated is not None else []
    posterior = dict(zip(table.model.classes, weighed.shares.tolist(), strict=True))
    entropy = float(entropy_bits(weighed.shares[None])[0])
    return ColumnQuestions(table.target or "class", posterior, entropy, ordered(found), weighed.silent, tuple(notes))


def _shown_values(classifier: AnyTableClassifier, name: str) -> tuple[str, ...] | None:
    """The levels of a column; None for numbers."""
    values = None if classifier.cut_points(name) is not None else listed_values(classifier, name)
    return None if values is None else tuple(level_text(value) for value in values)


class AnswerInformation:
    """The information of each unknown column of a row, in bits."""

    def __init__(self, classifier: AnyTableClassifier, batch: Batch) -> None:
        self.classifier = classifier
        self.known = without_missing(classifier, batch)
        self.given = given_values(classifier, batch)
        self.silent: dict[str, str] = {}
        """The columns that cannot be asked for, with the reasons."""

    @property
    def unknown(self) -> list[str]:
        """The columns that have no value."""
        return [name for name, value in self.given.items() if value is None]

    def bits(self) -> dict[str, float]:
        """The information of each unknown column that can be asked for."""
        found = {}
        for name in self.unknown:
            try:
                value = self._of(name)
            except CannotSample:
                value = None
                self.silent[name] = NO_DISTRIBUTION
            if value is not None:
                found[name] = value
        return found

    @cached_property
    def shares(self) -> Doubles:
        """P(class | known values), before any calibration."""
        found: Doubles = shares_of(self._log_now()[None])[0][0]
        return found

    @property
    def weighed_by_counts(self) -> bool:
        """Whether the answers are weighted by the counts of each class, since the model has no P(x)."""
        return False

    def _log_now(self) -> Doubles:
        raise NotImplementedError

    def _of(self, name: str) -> float | None:
        raise NotImplementedError


def answer_information(classifier: AnyTableClassifier, batch: Batch) -> AnswerInformation:
    """The object that computes the information of columns for this kind of classifier."""
    if classifier.columns_are_independent:
        return _Independent(classifier, batch)
    return _ByAnswers(classifier, batch)


class _Independent(AnswerInformation):
    """For naive Bayes: each column has its own term, and an unknown column is marginalised."""

    def _log_now(self) -> Doubles:
        model, columns = self.classifier.model, self.classifier.columns_of(self.known)
        total: Doubles = np.array(model.log_prior, dtype=np.float64)
        for weight, each in _by_column(model):
            if any(name in columns for name in each.columns) and self._is_known(each.columns):
                total = total + weight * each.terms(columns, 1)[0]
        hit = np.isposinf(total)
        return np.asarray(np.where(hit, 0.0, -np.inf)) if hit.any() else total

    def _is_known(self, names: tuple[str, ...]) -> bool:
        schema = self.classifier.schema
        assert schema is not None
        owners = (schema.kinds[name].part_of or name for name in names)
        return any(self.given.get(name) is not None for name in owners)

    def _of(self, name: str) -> float | None:
        schema, model = self.classifier.schema, self.classifier.model
        assert schema is not None
        if schema.kinds[name].is_text or schema.kinds[name].is_matrix:
            self.silent[name] = WORDS
            return None
        names = (name, *schema.parts.get(name, ()))
        found = [(weight, each) for weight, each in _by_column(model) if set(each.columns) & set(names)]
        if not found:
            return None
        if any(len(each.columns) > 1 or not _is_weighable(each) for _, each in found):
            self.silent[name] = NO_DISTRIBUTION
            return None
        return _information(self._log_now(), found)


def _by_column(model: Any) -> Iterator[tuple[float, Distribution]]:
    """The distribution of each column with its weight."""
    for conditional in model.conditionals:
        weight = model.weight_of(conditional)
        for each in conditional.by_column():
            yield weight, each


def _is_weighable(each: Distribution) -> bool:
    return each.level_table() is not None or support_of(each) is not None or each.has_density


def _information(log_now: Doubles, found: list[tuple[float, Distribution]]) -> float | None:
    """I(class; the values of these columns), which are independent given the class; one of them may be a density."""
    shares = shares_of(log_now[None])[0][0]
    classes = len(shares)
    log_q, terms = np.zeros((1, classes)), np.zeros((1, classes))
    density: tuple[float, Distribution] | None = None
    for weight, each in found:
        rows = _listed(each)
        if rows is None:
            density = weight, each
            continue
        own_q, own_terms = rows
        log_q = (log_q[:, None] + own_q[None]).reshape(-1, classes)
        terms = (terms[:, None] + weight * own_terms[None]).reshape(-1, classes)
        if len(log_q) > MOST_TOGETHER:
            return None

    def sums(more_q: Doubles, more_terms: Doubles) -> Doubles:
        """For each number, the sums over all combinations of levels."""
        pieces = []
        step = max(CELLS_AT_ONCE // (len(log_q) * classes), 1)
        for first in range(0, len(more_q), step):
            some = slice(first, first + step)
            with np.errstate(invalid="ignore"):
                q = np.exp(more_q[some, None] + log_q[None]) @ shares
                after = log_now + more_terms[some, None] + terms[None]
            after = np.where(np.isnan(after), -np.inf, after)
            rows = answer_sums(q.ravel(), shares_of(after.reshape(-1, classes))[0])
            pieces.append(rows.reshape(*q.shape, classes + 1).sum(axis=1))
        return np.concatenate(pieces)

    if density is None:
        return information(sums(np.zeros((1, classes)), np.zeros((1, classes)))[0])
    weight, each = density
    points = _points(each)
    total = sums(points, weight * points).sum(axis=0) if len(points) else 0.0

    def at(x: Doubles) -> Doubles:
        with np.errstate(all="ignore"):
            log_p = np.nan_to_num(each.log_prob(x), nan=-np.inf, posinf=-np.inf, neginf=-np.inf)
        return sums(log_p, weight * log_p)

    return information(total + integrate(at, panels_of(each), TOLERANCE)[0])


def _listed(each: Distribution) -> tuple[Doubles, Doubles] | None:
    """log P(value | class), normalised, and the term of each value; None for a density."""
    table = each.level_table()
    if table is not None:
        log_p, log_missing = table.log_p, table.log_missing
        nothing = (log_p == 0).all(axis=1) & (len(log_p) > 1)
        log_q = np.where(nothing[:, None], -np.inf, log_p)
    else:
        support = support_of(each)
        if support is None:
            return None
        log_p, log_missing = each.log_prob(support), getattr(each, "log_missing", np.zeros(each.classes))
        log_q = log_p
    if log_missing.any():
        log_p, log_q = np.vstack([log_p, log_missing]), np.vstack([log_q, log_missing])
    shares, _ = shares_of(log_q.T)
    with np.errstate(divide="ignore"):
        return np.log(shares.T), log_p


def _points(density: Distribution) -> Doubles:
    """log P(x | class) of the values with a point mass, such as zero and missing."""
    special = density.special_values()
    found = density.log_prob(special) if len(special) else np.empty((0, density.classes))
    hit = np.isposinf(found)  # the only value of a class has a probability of 1, other values have no point mass
    found = np.where(hit.any(axis=1, keepdims=True), np.where(hit, 0.0, -np.inf), found)
    log_missing: Doubles = getattr(density, "log_missing", np.zeros(density.classes))
    return np.vstack([found, log_missing]) if log_missing.any() else found


class _ByAnswers(AnswerInformation):
    """For any other model: its prediction for each value of a column, weighted by the probability of the value."""

    @cached_property
    def weighed_by_counts(self) -> bool:
        try:
            self.classifier.log_density(self.known)
        except BadOption:
            return True
        return False

    @cached_property
    def marginals(self) -> NaiveModel:
        """P(column | class) of each column by itself, from its counts."""
        from bayesbox.rule.naive import naive_model
        from bayesbox.rule.options import NaiveOptions

        counted = self.classifier.counted()
        return naive_model(counted.model_schema(), counted.book, NaiveOptions())

    def _log_now(self) -> Doubles:
        found: Doubles = self.classifier.plain_log_posterior(self.known)[0]
        return found

    def _of(self, name: str) -> float | None:
        kind = self.classifier.model_schema().kinds[name]
        if kind.is_text or kind.is_matrix or kind.has_parts:
            self.silent[name] = DATE if kind.has_parts else WORDS
            return None
        values = listed_values(self.classifier, name)
        if values is not None:
            return information(self._sums(name, values).sum(axis=0))
        density = self.marginals.conditional(name)
        if density is None or not density.has_density:
            self.silent[name] = NO_DISTRIBUTION
            return None
        points = density.special_values().tolist() if self.weighed_by_counts else []
        apart = self._sums(name, points).sum(axis=0) if points else 0.0
        edges = panels_of(density)
        found = apart + self._integral(name, edges)
        for _ in range(FINER):
            if abs(found[:-1].sum() - 1) < LOOSE:
                break
            edges = np.unique(np.concatenate([edges[:-1] * (1 - k / 8) + edges[1:] * (k / 8) for k in range(9)]))
            found = apart + self._integral(name, edges)
        return information(found)

    def _integral(self, name: str, edges: Doubles) -> Doubles:
        tolerance = ROUGH if self.weighed_by_counts else TOLERANCE
        return integrate(lambda x: self._sums(name, x.tolist()), edges, tolerance)[0]

    def _sums(self, name: str, values: list[Any]) -> Doubles:
        batch = with_column(self.classifier, repeated(self.known, len(values)), name, values)
        if not self.weighed_by_counts:
            shares, log_q = shares_of(self.classifier.joint_of_rows(batch))
            log_q = log_q - self._log_mass
        else:
            shares = np.exp(self.classifier.plain_log_posterior(batch))
            density = self.marginals.conditional(name)
            assert density is not None
            columns: Columns = self.classifier.columns_of(batch)
            with np.errstate(divide="ignore"):
                log_q = np.log(np.exp(density.log_prob(columns[name])) @ self._by_class)
        return answer_sums(np.exp(log_q), shares)

    @cached_property
    def _by_class(self) -> Doubles:
        """P(class | known values) in the order of the classes of the marginals."""
        place = {name: k for k, name in enumerate(self.classifier.model.classes)}
        return np.array([self.shares[place[name]] for name in self.marginals.classes])

    @cached_property
    def _log_mass(self) -> float:
        return float(self.classifier.log_density(self.known)[0])


def listed_values(classifier: AnyTableClassifier, name: str) -> list[Any] | None:
    """The distinct answers of a column: its levels, or one number per bin; None for numbers that are not binned."""
    if name in classifier.one_hot:
        return list(classifier.one_hot[name])
    known = classifier.known_levels()
    if name in known:
        return list(known[name].levels)
    tally: Any = classifier.counted().book.columns.get(name)
    if tally is not None and tally.of_numbers and tally.holds_only_flags:
        return [0.0, 1.0]
    cuts = classifier.cut_points(name)
    if cuts is None:
        return None
    if not cuts:
        return [0.0]
    return [cuts[0] - 1, *(low / 2 + high / 2 for low, high in pairwise(cuts)), cuts[-1] + 1]
