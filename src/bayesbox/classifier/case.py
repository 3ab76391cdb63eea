"""One prediction: its posterior, and what each column adds to the log-odds of its class."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayesbox.described import missing_mark
from bayesbox.dist.base import Doubles
from bayesbox.errors import BadOption, UnknownChoice, UnknownColumn
from bayesbox.explain.evidence import lead
from bayesbox.rule.priors import prior_shares
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.kinds import Kind
from bayesbox.schema.levels import level_text
from bayesbox.source.base import Batch
from bayesbox.warned import MOST_LISTED, is_missing_mark

if TYPE_CHECKING:
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.file.reader import Json


def batch_of_values(classifier: AnyTableClassifier, values: Mapping[str, str], *, where: str | None = None) -> Batch:
    """A batch of one row of texts, parsed by the type of each column; an empty text is missing."""
    assert classifier.schema is not None
    names, columns = [], []
    for name, text in values.items():
        if name not in classifier.schema.used_columns:
            raise UnknownColumn(name, available=classifier.schema.used_columns, where=where)
        names.append(name)
        columns.append(_column(name, text, classifier.schema.kinds[name]))
    if not names:  # a row of missing values only
        names, columns = list(classifier.schema.used[:1]), [pa.nulls(1)] * min(len(classifier.schema.used), 1)
    return Batch(tuple(names), tuple(columns), 1)


def _column(name: str, text: str, kind: Kind) -> pa.Array:
    if not text:
        return pa.array([None], pa.float64() if kind.is_number and not kind.translates else pa.string())
    return pa.array([kind.parse(text, name=name)])


@dataclass(frozen=True)
class Case:
    """The prediction for one row or document: its class, compared with another, and the odds between the two."""

    prediction: str
    against: str | None
    posterior: Mapping[str, float]
    prior: Mapping[str, float]
    log_odds: float
    prior_log_odds: float

    def notes(self, classifier: Any) -> list[str]:  # noqa: ARG002
        """Notes on unusual values."""
        return []

    def as_dict(self) -> Json:
        """As a dict for JSON."""
        return {
            "prediction": self.prediction,
            "against": self.against,
            "posterior": dict(self.posterior),
            "prior": dict(self.prior),
            "log_odds": self.log_odds,
            "prior_log_odds": self.prior_log_odds,
        }


@dataclass(frozen=True)
class RowCase(Case):
    """The prediction for one row. `columns` are (name, value or None if missing, log-odds) in the model's order.

    `log_odds` is the sum of the log-odds of the prior, the columns and, if there is one, the calibration.
    """

    columns: tuple[tuple[str, str | None, float], ...]
    calibration_log_odds: float | None = None

    @classmethod
    def of(cls, classifier: AnyTableClassifier, batch: Batch, *, against: str | None = None) -> RowCase:
        """The prediction for a batch of one row; `against` is by default the runner-up."""
        posterior = classifier.posterior(batch)[0]
        best = int(posterior.argmax())
        return cls._between(
            classifier, batch, posterior, best, held_against(classifier.model.classes, posterior, best, against)
        )

    @classmethod
    def between(cls, classifier: AnyTableClassifier, batch: Batch, one: str, other: str) -> RowCase:
        """The comparison of two given classes for a row, even if another class is more probable."""
        places = [classifier.model.classes.index(name) for name in (one, other)]
        return cls._between(classifier, batch, classifier.posterior(batch)[0], *places)

    @classmethod
    def _between(
        cls, classifier: AnyTableClassifier, batch: Batch, posterior: Doubles, best: int, other: int | None
    ) -> RowCase:
        model = classifier.model
        explanation = classifier.explain(batch)
        moved = np.zeros(len(explanation.columns))
        prior_odds = total = 0.0
        mended: float | None = None
        if other is not None:
            moved = lead(explanation.terms[0, best], explanation.terms[0, other])
            prior_odds = float(lead(model.log_prior[best], model.log_prior[other]))
            total = float(explanation.log_odds(model.labels[best], model.labels[other])[0])
            if classifier.calibrated is not None:
                log_p = classifier.log_posterior(batch)[0]
                plain, total = total, float(lead(log_p[best], log_p[other]))
                mended = float(lead(total, plain))
        values = classifier.shown_columns(batch)
        columns = tuple(
            (name, value_text(values.get(name)), float(odds))
            for name, odds in zip(explanation.columns, moved, strict=True)
        )
        return cls(
            model.classes[best],
            None if other is None else model.classes[other],
            dict(zip(model.classes, posterior.tolist(), strict=True)),
            prior_shares(classifier),
            total,
            prior_odds,
            columns,
            mended,
        )

    def all_log_odds(self) -> list[float]:
        """The log-odds of the prior, of each column and of the calibration."""
        return [self.prior_log_odds, *(odds for _, _, odds in self.columns), self.calibration_log_odds or 0.0]

    def notes(self, classifier: AnyTableClassifier) -> list[str]:
        """Notes on unseen levels and how they are handled, and on numbers outside the training range."""
        found = []
        known = classifier.known_levels()
        for name, value, _ in self.columns:
            found += _beyond(name, value, classifier.book.columns.get(name))
            if value is not None and name in known and value not in known[name]:
                found.append(_unseen_text(name, value, known[name].levels, smoothed=classifier.unseen == "smooth"))
        return found

    def as_dict(self) -> Json:
        columns = [{"name": name, "value": value, "log_odds": odds} for name, value, odds in self.columns]
        share = self.calibration_log_odds
        return {
            **super().as_dict(),
            "columns": columns,
            **({} if share is None else {"calibration_log_odds": share}),
        }


def learned_range(tally: Any) -> tuple[float, float] | None:
    """The range of the counted numbers, from cells or values; None if only moments were counted."""
    known = tally.range()
    if known is not None:
        return float(known[0]), float(known[1])
    low, high = tally.clipped(-math.inf, math.inf)
    return (float(low), float(high)) if math.isfinite(low) and math.isfinite(high) else None


def _beyond(name: str, value: str | None, tally: Any) -> list[str]:
    """A note if a number is outside the training range, as far as that is known."""
    if value is None or tally is None or not tally.of_numbers or tally.holds_only_flags:
        return []
    known = learned_range(tally)
    try:
        if known is None or known[0] <= float(value) <= known[1]:
            return []
    except ValueError:  # a date, which is counted in seconds
        return []
    return [f"`{name}` {value} is outside the training range {known[0]:.4g} to {known[1]:.4g}"]


def _unseen_text(name: str, value: str, known: tuple[str, ...], *, smoothed: bool) -> str:
    """A note on how an unseen level is handled, with the known levels and the nearest one."""
    by_case = {level.casefold(): level for level in known}
    same = by_case.get(value.casefold())
    near = [same] if same is not None else difflib.get_close_matches(value, known, n=1, cutoff=0.5)
    guess = f" Did you mean `{near[0]}`?" if near else ""
    there = ", ".join(known[:MOST_LISTED]) + (", ..." if len(known) > MOST_LISTED else "")
    fate = "the smoothing rule assigns it the probability of a zero count" if smoothed else "it is ignored"
    mark = f" If it means missing: {missing_mark(value)}." if is_missing_mark(value) else ""
    return f"`{name}` = {value} was not seen in training: {fate}. Known levels: {there}.{guess}{mark}"


def held_against(classes: tuple[str, ...], posterior: Doubles, best: int, against: str | None) -> int | None:
    """The class to compare the best one with: the named one, or the runner-up; None if there is only one class."""
    if against is not None:
        if against not in classes:
            raise UnknownChoice("class", against, classes, remedy=f"The classes are {', '.join(classes)}")
        if classes.index(against) == best:
            raise BadOption(f"`{against}` is the predicted class itself", remedy="Choose another class to compare with")
        return classes.index(against)
    if len(classes) < 2:
        return None
    others = posterior.copy()
    others[best] = -1
    return int(others.argmax())


def value_text(column: Any) -> str | None:
    """The text of the first value of a column; None if it is missing."""
    if column is None:
        return None
    if isinstance(column, CountMatrix):
        return f"{column.data[column.indptr[0] : column.indptr[1]].sum():g} counts"
    value = column.tolist()[0] if isinstance(column, np.ndarray) else column[0].as_py()
    return None if value is None or value != value else level_text(value)
