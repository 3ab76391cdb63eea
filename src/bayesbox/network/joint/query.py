"""The probability of an event, or a table of probabilities, from the counts of a table.

    P(targets | evidence) = n(targets, evidence) / n(evidence)

Both counts are of the rows that have a value in every column the question names; rows with a missing value are
ignored, and the answer has their number. Virtual evidence on a column D weights a row by the likelihood of its level of
D. Counts and likelihoods are exact, so the answer is a fraction; it is rounded once, when a float is requested.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption, ImpossibleEvidence
from bayesbox.network.joint.model import JointCounts
from bayesbox.network.joint.work import answer_work
from bayesbox.network.query.notation import Believed, Evidence, Query, Term, Virtual, quoted_name
from bayesbox.network.query.probability_table import ProbabilityTable
from bayesbox.schema.arrays import AnyArray
from bayesbox.tally.family import Family

if TYPE_CHECKING:
    from bayesbox.explain.steps import Work

POSITIVE = ("true", "yes", "1")  # the state that `D~0.7` refers to


@dataclass(frozen=True)
class Answer:
    """The answer to a query, and the rows behind it (with weights, their sums).

    `counted`: rows that have a value in every column of the question; `given`: those of them that fit the evidence;
    `left_out`: rows ignored because of a missing value. `weighed` is `given` with each row weighted by the likelihood
    that virtual evidence gives to its value.
    """

    query: Query
    value: Fraction | ProbabilityTable
    counted: Fraction
    given: Fraction
    left_out: Fraction
    weighed: Fraction

    def work(self) -> Work:
        """The counts behind the answer: prints as text, shows as HTML; `.latex()`, `.to_dict()`."""
        return answer_work(self)


@dataclass(frozen=True)
class CountedRows:
    """The rows behind an answer: those complete in the columns of the question, counted by these columns."""

    table: JointCounts
    family: Family
    counts: AnyArray
    scale: Fraction
    left_out: Fraction

    @classmethod
    def of(cls, table: JointCounts, columns: Iterable[str]) -> CountedRows:
        """The counts of these columns; UnknownColumn if one does not exist."""
        names = list(columns)
        for name in names:
            table.require(name)
        all_rows = table.family.marginal(names)
        family = all_rows.complete()
        counts, exponent = family.integers()
        left_out = all_rows.n.fraction - family.n.fraction
        return cls(table, family, counts, Fraction(2) ** exponent, left_out)

    def codes(self, column: str) -> NDArray[np.int32]:
        """The level of each combination in a column."""
        codes: NDArray[np.int32] = self.family.codes[self.family.names.index(column)]
        return codes

    def code(self, column: str, text: str) -> int:
        """The code of the level that a text refers to; a level that no counted row has gets a code of its own."""
        level = self.table.level(column, text)
        occurring = self.family.levels[self.family.names.index(column)]
        return occurring.index(level) if level in occurring else len(occurring)

    def fits(self, terms: Iterable[Evidence]) -> NDArray[np.bool_]:
        """The combinations that match every term with a value."""
        mask = np.ones(len(self.counts), dtype=bool)
        for term in terms:
            if isinstance(term, Term) and term.value is not None:
                mask &= self.codes(term.name) == self.code(term.name, term.value)
        return mask

    def impossible(self, terms: Iterable[Evidence]) -> ImpossibleEvidence:
        """The error if no row fits the evidence."""
        listed = ", ".join(str(term) for term in terms if isinstance(term, Virtual) or term.value is not None)
        without = f"; {rows_text(self.left_out)} with missing values dropped" if self.left_out else ""
        if not listed:
            columns = ", ".join(quoted_name(name) for name in self.family.names)
            return ImpossibleEvidence(f"no row has a value in {columns}{without}", where=self.table.name)
        return ImpossibleEvidence(
            f"the evidence {listed} never occurs, so the probability is undefined{without}", where=self.table.name
        )


def answer(table: JointCounts, query: Query) -> Answer:
    """The answer to a query.

    >>> from bayesbox.network.query.notation import parse_query
    >>> coin = Family.of(["side"], [np.array([0, 1, 1])], [["heads", "tails"]])
    >>> answer(JointCounts(coin), parse_query("P(side=tails)")).value
    Fraction(2, 3)
    """
    _require_counts_only(query)
    rows = CountedRows.of(table, query.names)
    counts, common = _weighed(rows, query.evidence)
    evidence = rows.fits(query.evidence)
    wanted = evidence & rows.fits(query.targets)  # resolves every value before the evidence is evaluated
    given = _sum(counts[evidence])
    if not given:
        raise rows.impossible(query.evidence)
    value: Fraction | ProbabilityTable
    if query.is_event:
        value = Fraction(_sum(counts[wanted]), given)
    else:
        value = _distribution(rows, query, counts, wanted, given)
    return Answer(
        query,
        value,
        counted=rows.family.n.fraction,
        given=_sum(rows.counts[evidence]) * rows.scale,
        left_out=rows.left_out,
        weighed=given * rows.scale / common,
    )


def _require_counts_only(query: Query) -> None:
    """Raise an error for do(...) and beliefs, which need a network."""
    beliefs = [str(term) for term in query.evidence if isinstance(term, Believed)]
    if query.actions or beliefs:
        raise BadOption(
            "do(...) and := are for networks: rows alone do not tell what follows from acting",
            found=beliefs[0] if beliefs else str(query),
            remedy="Learn or write a network first",
        )


def _sum(counts: AnyArray) -> int:
    return int(counts.sum()) if len(counts) else 0


def _weighed(rows: CountedRows, evidence: Iterable[Evidence]) -> tuple[AnyArray, int]:
    """The counts times the likelihoods of virtual evidence over a common denominator, so that they remain integers."""
    counts, denominator = rows.counts, 1
    for virtual in evidence:
        if not isinstance(virtual, Virtual):
            continue
        likelihood = likelihoods(rows.table, virtual)
        common = math.lcm(*(number.denominator for number in likelihood.values()))
        occurring = rows.family.levels[rows.family.names.index(virtual.name)]
        factors = np.empty(len(occurring), dtype=object)
        factors[:] = [int(likelihood[level] * common) for level in occurring]
        counts = counts.astype(object) * factors[rows.codes(virtual.name)]
        denominator *= common
    return counts, denominator


def likelihoods(table: JointCounts, virtual: Virtual) -> dict[str, Fraction]:
    """The likelihood of every level of a column under virtual evidence."""
    levels = table.levels(virtual.name)
    if isinstance(virtual.likelihood, Fraction):
        positive = [level for level in levels if level.lower() in POSITIVE]
        if len(positive) != 1 or len(levels) > 2:
            raise BadOption(
                f"`{virtual}` needs a column with two values, one of them true, yes or 1",
                where=table.name,
                found=", ".join(levels[:12]),
                remedy=f"Give the likelihood of each value: {quoted_name(virtual.name)}~(yes:0.7, no:0.3)",
            )
        return {level: virtual.likelihood if level in positive else 1 - virtual.likelihood for level in levels}
    given = {table.level(virtual.name, state): number for state, number in virtual.likelihood}
    lacking = [level for level in levels if level not in given]
    if lacking or len(given) < len(virtual.likelihood):
        raise BadOption(
            f"`{virtual}` must give each value of the column one likelihood",
            where=table.name,
            found=f"no likelihood for {', '.join(lacking[:12])}" if lacking else "a value twice",
            remedy="A value that the evidence rules out has likelihood 0",
        )
    return given


def _distribution(
    rows: CountedRows, query: Query, counts: AnyArray, wanted: NDArray[np.bool_], given: int
) -> ProbabilityTable:
    """The probability of each level of one target, or of each combination of several that occurs."""
    names = [target.name for target in query.targets if target.value is None]
    levels = [rows.table.levels(name) for name in names]
    places = [{text: place for place, text in enumerate(texts)} for texts in levels]
    found: dict[tuple[int, ...], int] = {(place,): 0 for place in range(len(levels[0]))} if len(names) == 1 else {}
    in_order = [
        np.array([place[text] for text in rows.family.levels[rows.family.names.index(name)]], dtype=np.int64)[
            rows.codes(name)[wanted]
        ].tolist()
        for name, place in zip(names, places, strict=True)
    ]
    for key, count in zip(zip(*in_order, strict=True), counts[wanted].tolist(), strict=True):
        if count:
            found[key] = found.get(key, 0) + count
    probabilities = {
        tuple(texts[place] for texts, place in zip(levels, key, strict=True)): Fraction(count, given)
        for key, count in sorted(found.items())
    }
    counted = rows.family.n.fraction
    return ProbabilityTable(str(query), names, probabilities, levels=levels, counted=counted, left_out=rows.left_out)


def rows_text(number: Fraction) -> str:
    """A number of rows, or a sum of weights, in words.

    >>> rows_text(Fraction(1)), rows_text(Fraction(1200)), rows_text(Fraction(5, 2))
    ('1 row', '1,200 rows', 'rows of total weight 2.5')
    """
    if number.denominator != 1:
        return f"rows of total weight {float(number):.6g}"
    return f"{int(number):,} row" + ("" if number == 1 else "s")
