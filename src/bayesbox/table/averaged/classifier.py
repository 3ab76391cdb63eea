"""Averaged naive Bayes on tables: what naive Bayes counts, averaged over which columns depend on the class."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesbox.classifier.schema_json import rules_from_json, rules_to_json
from bayesbox.dist.base import Columns, Doubles
from bayesbox.errors import BadOption
from bayesbox.file.reader import Reader, made
from bayesbox.rule.naive import Rules
from bayesbox.schema.encode import Encoded
from bayesbox.schema.kinds import CountGroup
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.table.averaged.leave_one_out import leave_one_out
from bayesbox.table.averaged.model import AveragedModel, AveragedRules, averaged_model
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.tally.book import Book


class AveragedClassifier(NaiveClassifier):
    """P(class) times the product of w P(column | class) + (1 - w) P(column)."""

    kind = "averaged-naive-bayes"
    title = "averaged naive Bayes"
    groups_levels = False
    rules: AveragedRules

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        if any(isinstance(kind, CountGroup) for kind in schema.kinds.values()):
            raise BadOption("averaged naive Bayes takes no sparse matrix", remedy="Give it as a dense array")
        return super().count(columns, labels, schema, **options)

    def make_model(self, schema: Schema, book: Book) -> AveragedModel:
        return averaged_model(schema, book, self.rules)

    @classmethod
    def rules_from_options(cls, parameter: str, options: Mapping[str, Any]) -> AveragedRules:
        try:
            inclusion = float(parameter) if parameter else 0.5
        except ValueError:
            raise BadOption(
                "averaged:P takes the prior probability of a column, from 0 to 1", found=parameter
            ) from None
        return _averaged(NaiveClassifier.rules_from_options("", options), inclusion)

    def rules_to_json(self) -> dict[str, Any]:
        return rules_to_json(self.rules) | {"inclusion": float(self.rules.inclusion)}

    @classmethod
    def rules_from_json(cls, written: dict[str, Any]) -> AveragedRules:
        reader = Reader(written, "rules")
        inclusion = reader.take("inclusion", float)
        plain = rules_from_json(reader.rest)
        rules: AveragedRules = made(lambda: _averaged(plain, inclusion), "rules")
        return rules

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each learned row under the model of all the others.

        Where its own unit cannot be taken out of all rows at once, the row's tally is subtracted and a model is made.
        """
        self.require_counts("forget")
        assert self.schema is not None
        classes = self.model.classes
        answer, doubtful = leave_one_out(self.schema, self.book, self.rules, self.model, self.columns_of(batch), labels)
        other = self.with_empty_counts()
        for row in np.flatnonzero(doubtful).tolist():
            one = batch.slice(row, row + 1)
            label = labels._replace(codes=labels.codes[row : row + 1])
            other.accept(self.schema, self.book - self.tally(one, label, self.schema))
            place = [classes.index(name) for name in other.model.classes]
            answer[row] = 0.0
            answer[row, place] = np.exp(other.plain_log_posterior(one)[0])
        return answer


def _averaged(plain: Rules, inclusion: float) -> AveragedRules:
    """The rules of naive Bayes as those of the average."""
    given = {field.name: getattr(plain, field.name) for field in dataclasses.fields(plain)}
    return AveragedRules(**given, inclusion=inclusion)
