"""A naive Bayes model as one SQL statement: class and probabilities inside the database, without this package.

The statement has steps, each a named subquery: the columns are prepared (`bayes_input`), the log-probability of each
class is summed (`bayes_joint`), with point masses only the classes that hit the most of them are kept (`bayes_kept`),
the largest is found (`bayes_largest`), the rest is exponentiated (`bayes_weight`) and divided by its sum. A row that is
impossible in every class gets the prior, as in `predict_proba`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bayesbox.dist.expression import Lookup, readings, walk
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import BadOption, CannotExport
from bayesbox.export.dialect import Dialect, added_up, dialect_named
from bayesbox.export.family import weighted_terms
from bayesbox.export.sql_reader import SqlReader
from bayesbox.export.sql_terms import SqlClass

NEGLIGIBLE = -700.0  # the log of a ratio to the largest that is negligible in any posterior


def to_sql(
    model: NaiveModel,
    dialect: str,
    *,
    table: str = "data",
    keep: Sequence[str] = (),
    one_hot: Mapping[str, Sequence[str]] | None = None,
    power: float = 1.0,
) -> str:
    """The statement that scores a table: the kept columns, `prediction`, and `P(class)` for each class.

    The probabilities are raised to `power`, the parameter of calibration by temperature, and normalised.
    """
    if isinstance(keep, str):
        raise BadOption("keep must be a list of column names", found=keep, remedy=f"Write keep=[{keep!r}]")
    return _Statement(model, dialect_named(dialect), table, tuple(keep), one_hot or {}, power).text()


class _Statement:
    """The steps of the statement; the columns of a step are named by role and position."""

    def __init__(
        self,
        model: NaiveModel,
        dialect: Dialect,
        table: str,
        keep: tuple[str, ...],
        one_hot: Mapping[str, Sequence[str]],
        power: float,
    ) -> None:
        self.model = model
        self.power = power
        self.dialect = dialect
        self.table = table
        self.keep = keep
        self.classes = range(len(model.classes))
        self.reader = SqlReader(dialect, table.rpartition(".")[2], one_hot)
        self.terms = weighted_terms(model, "SQL")
        self.readings = list(dict.fromkeys(reading for term in self.terms for reading in readings(term)))
        columns = [reading.column for reading in self.readings]
        _refuse_twins([own for name in columns for own in one_hot.get(name, (name,))], dialect)
        names = {reading: f"bayes_x{place}" for place, reading in enumerate(self.readings)}
        self.by_class = [SqlClass(dialect, names, index) for index in self.classes]
        self.hits = [[hit for term in self.terms for hit in each.hits(term)] for each in self.by_class]

    def text(self) -> str:
        kept = [f"bayes_k{place}" for place in range(len(self.keep))]
        steps = [self._input(), self._joint(kept)]
        if any(self.hits):
            steps.append(self._only_highest(kept))
        steps += [self._largest(kept), self._weights(kept)]
        fence = f"\n  {self.dialect.fence}" if self.dialect.fence else ""
        names = ",\n".join(f"{name} AS (\n{query}{fence}\n)" for name, query in _linked(steps))
        return f"WITH {names}\n{self._answer(kept)}\n"

    def _input(self) -> tuple[str, str]:
        column, identifier = self.reader.column, self.dialect.identifier
        listed = [f"{column(name)} AS bayes_k{place}" for place, name in enumerate(self.keep)]
        listed += [f"{self.reader.read(reading)} AS bayes_x{place}" for place, reading in enumerate(self.readings)]
        source = ".".join(identifier(part) for part in self.table.split("."))
        return "bayes_input", _select(listed or ["1 AS bayes_row"], source)

    def _joint(self, kept: list[str]) -> tuple[str, str]:
        double = self.dialect.double
        listed = list(kept)
        for index in self.classes:
            terms = [self.by_class[index].term(term) for term in self.terms]
            listed.append(f"{added_up([double(self.model.log_prior[index]), *terms])} AS bayes_l{index}")
        if any(self.hits):
            for index in self.classes:
                counts = [f"CASE WHEN {condition} THEN 1 ELSE 0 END" for condition in self.hits[index]]
                listed.append(f"{added_up(counts or ['0'])} AS bayes_o{index}")
        return "bayes_joint", _select(listed, "{before}")

    def _only_highest(self, kept: list[str]) -> tuple[str, str]:
        """A point mass that is hit outranks every density: only classes with the most hits stay possible."""
        impossible = self.dialect.double(-math.inf)
        orders = [f"CASE WHEN bayes_l{index} = {impossible} THEN -1 ELSE bayes_o{index} END" for index in self.classes]
        highest = self.dialect.largest(orders)
        logs = [
            f"CASE WHEN bayes_o{index} < {highest} THEN {impossible} ELSE bayes_l{index} END AS bayes_l{index}"
            for index in self.classes
        ]
        return "bayes_kept", _select([*kept, *logs], "{before}")

    def _largest(self, kept: list[str]) -> tuple[str, str]:
        logs = [f"bayes_l{index}" for index in self.classes]
        return "bayes_largest", _select([*kept, *logs, f"{self.dialect.largest(logs)} AS bayes_most"], "{before}")

    def _weights(self, kept: list[str]) -> tuple[str, str]:
        double = self.dialect.double
        log_prior = self.model.log_prior
        with np.errstate(invalid="ignore"):
            prior = np.where(np.isneginf(log_prior), 0.0, np.exp(self.power * (log_prior - log_prior.max())))
        listed = list(kept)
        for index in self.classes:
            share = f"bayes_l{index} - bayes_most"
            if self.power != 1:
                share = f"{double(self.power)} * ({share})"
            listed.append(
                f"CASE WHEN bayes_most = {double(-math.inf)} THEN {double(prior[index])} "
                f"WHEN bayes_l{index} = {double(-math.inf)} OR {share} < {double(NEGLIGIBLE)} THEN {double(0.0)} "
                f"ELSE EXP({share}) END AS bayes_w{index}"
            )
        return "bayes_weight", _select(listed, "{before}")

    def _answer(self, kept: list[str]) -> str:
        identifier = self.dialect.identifier
        weights = [f"bayes_w{index}" for index in self.classes]
        total = added_up(weights)
        listed = [f"{column} AS {identifier(name)}" for column, name in zip(kept, self.keep, strict=True)]
        listed.append(f"{self._prediction(weights)} AS prediction")
        for index, name in enumerate(self.model.classes):
            listed.append(f"{weights[index]} / ({total}) AS {identifier(f'P({name})')}")
        return _select(listed, "bayes_weight", indent="")

    def _prediction(self, weights: list[str]) -> str:
        """The first class with the largest weight."""
        labels = [self._label(label) for label in self.model.labels.tolist()]
        cases = []
        if any(isinstance(node, Lookup) and node.unseen_is_error for term in self.terms for node in walk(term)):
            cases.append(f"WHEN {weights[0]} IS NULL THEN NULL")
        for index in self.classes[:-1]:
            later = [f"{weights[index]} >= {other}" for other in weights[index + 1 :]]
            cases.append(f"WHEN {' AND '.join(later)} THEN {labels[index]}")
        return f"CASE {' '.join(cases)} ELSE {labels[-1]} END" if cases else labels[-1]

    def _label(self, label: object) -> str:
        """A label as a literal of its own type."""
        if isinstance(label, bool):
            return "TRUE" if label else "FALSE"
        if isinstance(label, int):
            return str(label)
        if isinstance(label, float):
            return self.dialect.double(label)
        if hasattr(label, "isoformat"):
            return self.dialect.text(label.isoformat())
        return self.dialect.text(str(label))


def _refuse_twins(names: Sequence[str], dialect: Dialect) -> None:
    """Raise an error for column names that the database does not distinguish: both would read the same column."""
    seen: dict[str, str] = {}
    for name in names if not dialect.cased else ():
        twin = seen.setdefault(name.lower(), name)
        if twin != name:
            raise CannotExport(
                f"the columns `{twin}` and `{name}` differ only in case, which {dialect.name} ignores",
                remedy="Rename one of them and train again",
            )


def _select(listed: Sequence[str], source: str, *, indent: str = "  ") -> str:
    return f"{indent}SELECT\n{indent}  " + f",\n{indent}  ".join(listed) + f"\n{indent}FROM {source}"


def _linked(steps: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The steps, each reading from the previous one."""
    before = ["", *(name for name, _ in steps)]
    return [
        (name, query.removesuffix("{before}") + earlier if query.endswith("{before}") else query)
        for (name, query), earlier in zip(steps, before, strict=False)
    ]
