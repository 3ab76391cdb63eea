"""Explanations: the terms of each column, and one row in full, with the counts or densities behind each term."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox.classifier.answer.behind import Behind, behind_terms
from bayesbox.classifier.case import RowCase
from bayesbox.classifier.report.strongest import cut
from bayesbox.display.blocks import Bar, Block, TableBlock, TextBlock
from bayesbox.display.picture import Picture
from bayesbox.display.result import Result
from bayesbox.dist.base import Doubles
from bayesbox.errors import BadData
from bayesbox.explain.evidence import Explanation, lead
from bayesbox.file.reader import Json

if TYPE_CHECKING:
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.source.base import Batch

CALIBRATION, PRIOR = "(calibration)", "(prior)"
SHOWN = 3  # the number of columns shown per row, if there are several rows
BEHIND = 12  # columns whose counts are shown


@dataclass(frozen=True)
class ColumnTerm:
    """The evidence of one column between two classes, its value as text, and the counts or density in each class."""

    column: str
    value: str | None
    log_odds: float
    behind: Mapping[str, Behind]

    @property
    def name(self) -> str:
        """The column with its value as text."""
        return f"{self.column} is missing" if self.value is None else f"{self.column} = {cut(self.value)}"

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        behind = {label: each.to_dict() for label, each in self.behind.items()}
        return {"name": self.column, "value": self.value, "log_odds": self.log_odds, "behind": behind}


@dataclass(frozen=True, repr=False)
class ExplainedRow(Result):
    """The explanation of one prediction: the log-odds of the prior, of each column and of the calibration.

    `log_odds` is the sum of `prior_log_odds`, the `terms` and `calibration_log_odds`. The class is compared with the
    runner-up, unless another class was named.
    """

    target: str
    prediction: str
    against: str | None
    posterior: Mapping[str, float]
    prior: Mapping[str, float]
    log_odds: float
    prior_log_odds: float
    terms: tuple[ColumnTerm, ...]
    calibration_log_odds: float | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, classifier: AnyTableClassifier, batch: Batch, *, against: str | None = None) -> ExplainedRow:
        """The explanation of a batch of one row."""
        case = RowCase.of(classifier, batch, against=against)
        behind = behind_terms(classifier, batch)
        terms = tuple(
            ColumnTerm(name, value, odds, behind.get(name, {}) if value is not None else {})
            for name, value, odds in case.columns
        )
        return cls(
            classifier.target or "class",
            case.prediction,
            case.against,
            case.posterior,
            case.prior,
            case.log_odds,
            case.prior_log_odds,
            terms,
            case.calibration_log_odds,
            tuple(case.notes(classifier)),
        )

    def strongest(self) -> list[ColumnTerm]:
        """The columns with evidence, the strongest first."""
        said = [term for term in self.terms if term.value is not None or term.log_odds]
        return sorted(said, key=lambda term: -abs(term.log_odds))

    def _entries(self) -> list[tuple[str, float]]:
        entries = [(PRIOR, self.prior_log_odds), *((term.name, term.log_odds) for term in self.strongest())]
        if self.calibration_log_odds is not None:
            entries.append((CALIBRATION, self.calibration_log_odds))
        return entries

    def _headline(self) -> str:
        terms = ", ".join(f"{term.column}={term.value} {term.log_odds:+.2f}" for term in self.strongest()[:SHOWN])
        return f"ExplainedRow({self.target}={self.prediction} {self.posterior[self.prediction]:.4f}: {terms})"

    def _title(self) -> str:
        return f"{self.target} = {self.prediction}, with probability {self.posterior[self.prediction]:.4g}"

    def _blocks(self) -> Sequence[Block]:
        ranked = sorted(self.posterior.items(), key=lambda item: -item[1])
        rows = [[name, p, self.prior[name], Bar(p)] for name, p in ranked]
        blocks: list[Block] = [TableBlock([self.target, "posterior", "prior", ""], rows, most=BEHIND)]
        if self.against is not None:
            behind = self.behind_block()
            blocks += [self._odds_block(), *([] if behind is None else [behind])]
        return [*blocks, *([TextBlock("\n".join(f"note: {note}" for note in self.notes))] if self.notes else [])]

    def _odds_block(self) -> TableBlock:
        entries = self._entries()
        longest = max((abs(odds) for _, odds in entries if math.isfinite(odds)), default=0.0) or 1.0
        rows: list[list[object]] = [[name, f"{odds:+.4f}", Bar(_share(odds, longest))] for name, odds in entries]
        rows.append(["total", f"{self.log_odds:+.4f}", f"odds {odds_text(self.log_odds)}"])
        title = f"log-odds of {self.prediction} against {self.against}"
        return TableBlock([title, "", ""], rows, right=[1])

    def behind_block(self) -> TableBlock | None:
        """The counts, or the density, behind each term in both classes; None if there are none."""
        both = [label for label in (self.prediction, self.against) if label is not None]
        rows = [
            [term.name if label == both[0] else "", label, str(term.behind[label])]
            for term in self.strongest()
            for label in both
            if label in term.behind and term.value is not None
        ]
        return TableBlock(["based on", self.target, ""], rows, most=2 * BEHIND) if rows else None

    def _frame(self) -> Mapping[str, Sequence[object]]:
        said = [(PRIOR, None, self.prior_log_odds), *((each.column, each.value, each.log_odds) for each in self.terms)]
        if self.calibration_log_odds is not None:
            said.append((CALIBRATION, None, self.calibration_log_odds))
        found: dict[str, list[Any]] = {
            "column": [name for name, _, _ in said],
            "value": [value for _, value, _ in said],
            "log_odds": [odds for _, _, odds in said],
        }
        behind = {term.column: term.behind for term in self.terms}
        for label in (self.prediction, self.against):
            if label is not None:
                found[f"in {label}"] = [str(behind.get(name, {}).get(label, "")) for name, _, _ in said]
        return found

    def svg(self) -> Picture:
        """The log-odds as signed bars."""
        from bayesbox.classifier.answer.evidence_picture import SignedBar, evidence_svg

        title = f"log-odds of {self.target} = {self.prediction} against {self.against}"
        bars = [SignedBar(name, odds) for name, odds in self._entries()]
        return Picture(evidence_svg(title, [*bars, SignedBar("total", self.log_odds, is_sum=True)]), title)

    def to_dict(self) -> Json:
        """As a dict for JSON."""
        share = self.calibration_log_odds
        return {
            "target": self.target,
            "prediction": self.prediction,
            "against": self.against,
            "posterior": dict(self.posterior),
            "prior": dict(self.prior),
            "log_odds": self.log_odds,
            "prior_log_odds": self.prior_log_odds,
            "columns": [term.to_dict() for term in self.terms],
            **({} if share is None else {"calibration_log_odds": share}),
            "notes": list(self.notes),
        }


def _share(odds: float, longest: float) -> float:
    return math.copysign(1.0, odds) if math.isinf(odds) else odds / longest


def odds_text(log_odds: float) -> str:
    """The odds as text, from their natural logarithm.

    >>> odds_text(math.log(3)), odds_text(-math.log(4)), odds_text(math.inf), odds_text(1000.0)
    ('3 : 1', '1 : 4', 'infinite : 1', 'e^1000 : 1')
    """
    if math.isinf(log_odds):
        return "infinite : 1" if log_odds > 0 else "0 : 1"
    size = abs(log_odds)
    shown = f"{math.exp(size):.6g}" if size < 700 else f"e^{size:.0f}"
    return f"{shown} : 1" if log_odds >= 0 else f"1 : {shown}"


@dataclass(frozen=True, repr=False, eq=False)
class RowsExplanation(Result, Explanation):
    """The explanation of several rows: `prior` + the sum of `terms` over the columns is log P(class, x).

    `terms` is rows x classes x columns of log P(x_j | class), 0 if the column is missing, before any calibration.
    `explanation[i]` is row i in full, with the counts behind each term.
    """

    classifier: AnyTableClassifier
    batch: Batch

    @classmethod
    def of(cls, classifier: AnyTableClassifier, batch: Batch) -> RowsExplanation:
        """The explanation of the rows of a batch."""
        plain = classifier.explain(batch)
        return cls(plain.labels, plain.columns, plain.prior, plain.terms, classifier, batch)

    @cached_property
    def _first(self) -> ExplainedRow:
        return ExplainedRow.of(self.classifier, self.batch.slice(0, 1))

    def row(self, place: int, *, against: object = None) -> ExplainedRow:
        """The full explanation of one row, its class against another, by default the runner-up."""
        if not -len(self) <= place < len(self):
            raise IndexError(f"the explanation has {len(self)} rows")
        place %= len(self)
        if place == 0 and against is None:
            return self._first
        other = None if against is None else self.classifier.model.classes[self.position(against)]
        return ExplainedRow.of(self.classifier, self.batch.slice(place, place + 1), against=other)

    def __getitem__(self, place: int) -> ExplainedRow:
        return self.row(place)

    def __iter__(self) -> Iterator[ExplainedRow]:
        return (self.row(place) for place in range(len(self)))

    def log_odds(self, label: object = None, against: object = None) -> Doubles:
        """log of P(label | x) / P(against | x), one value per row, before any calibration.

        `label` is by default the most probable class of each row, `against` the most probable of the other classes.
        """
        if label is not None and against is not None:
            return super().log_odds(label, against)
        joint = self.joint()
        rows = np.arange(len(joint))
        one = joint.argmax(axis=1) if label is None else np.full(len(joint), self.position(label))
        if against is not None:
            other = np.full(len(joint), self.position(against))
        else:
            rest = joint.copy()
            rest[rows, one] = -np.inf
            other = rest.argmax(axis=1)
            other = np.where(other == one, (one + 1) % joint.shape[1], other)  # if all others are impossible
        found = np.empty(len(joint))
        for pair in np.unique(np.column_stack([one, other]), axis=0):
            there = (one == pair[0]) & (other == pair[1])
            odds = super().log_odds(self.labels[pair[0]], self.labels[pair[1]])
            found[there] = odds[there]
        return found

    def to_shap(self, label: object = None, against: object = None) -> Any:
        """The terms as a `shap.Explanation`, for the plots of shap.

        For two classes, the values are what each column adds to the log-odds of the second class against the first, in
        the order of `classes_`; the base value is the log-odds of the prior. `label` and `against` select other
        classes. For more classes, if none are named, there is one value per class: the term of the column less its mean
        over the classes; the base values are the log prior less its mean. Base values and values sum to
        `predict_log_proba`, as a difference of two classes or from the mean of all; a calibration is an additional last
        column.
        """
        from bayesbox.classifier.answer.shap_values import shap_explanation

        return shap_explanation(self, label, against)

    # -- shown -----------------------------------------------------------------------------------------------------

    def _one(self) -> ExplainedRow:
        if len(self) != 1:
            raise BadData("a picture shows one row", found=f"{len(self):,} rows", remedy="Select one: explanation[0]")
        return self.row(0)

    def svg(self) -> Picture:
        """The log-odds of one row as signed bars."""
        return self._one().svg()

    def _headline(self) -> str:
        if len(self) == 1:
            return self.row(0)._headline().replace("ExplainedRow", "Explanation", 1)
        return f"Explanation({len(self):,} rows, {len(self.columns)} columns, {len(self.labels)} classes)"

    def _title(self) -> str:
        target = self.classifier.target or "class"
        return self.row(0)._title() if len(self) == 1 else f"explanations of {target} for {len(self):,} rows"

    def _blocks(self) -> Sequence[Block]:
        if len(self) == 1:
            return self.row(0)._blocks()
        block = TableBlock(["row", "prediction", "probability", "largest contributions"], _Lazy(self))
        return [block, TextBlock("explanation[i] explains row i in full, with the counts behind each term")]

    def _summary(self, place: int) -> list[object]:
        row = self.row(place)
        terms = "; ".join(
            f"{term.column}={cut(term.value or '')} {term.log_odds:+.2f}" for term in row.strongest()[:SHOWN]
        )
        return [place, row.prediction, row.posterior[row.prediction], terms]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        if len(self) == 1:
            return self.row(0)._frame()
        return _long_frame(self)

    def to_dict(self) -> Json:
        """As a dict for JSON: every row in full."""
        return {"rows": [row.to_dict() for row in self]}


class _Lazy(Sequence[Any]):
    """Rows of a table, each computed only when it is shown."""

    def __init__(self, explanation: RowsExplanation) -> None:
        self.explanation = explanation

    def __len__(self) -> int:
        return len(self.explanation)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self.explanation._summary(k) for k in range(*place.indices(len(self)))]
        return self.explanation._summary(place)


def _long_frame(explanation: RowsExplanation) -> dict[str, list[Any]]:
    """A long table with one line per row and column: the evidence for the predicted class against the runner-up."""
    from bayesbox.classifier.answer.shap_values import shown_values

    classifier, batch = explanation.classifier, explanation.batch
    shares = classifier.posterior(batch)
    best = shares.argmax(axis=1)
    rest = shares.copy()
    rows = np.arange(len(rest))
    rest[rows, best] = -1
    other = rest.argmax(axis=1)
    odds = lead(explanation.terms[rows, best], explanation.terms[rows, other])
    names, number = explanation.columns, len(explanation)
    values = shown_values(explanation)
    return {
        "row": np.repeat(rows, len(names)).tolist(),
        "prediction": np.repeat(explanation.labels[best], len(names)).tolist(),
        "against": np.repeat(explanation.labels[other], len(names)).tolist(),
        "column": [*names] * number,
        "value": [None if value is None else str(value) for row in values for value in row],
        "log_odds": odds.ravel().tolist(),
    }
