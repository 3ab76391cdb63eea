"""Averaged naive Bayes on tables: the counts of naive Bayes, averaged over all subsets of dependent columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesbox.classifier.rows import LabelledRows, minus_rows
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles
from bayesbox.errors import BadOption
from bayesbox.rule.options import NaiveOptions
from bayesbox.schema.encode import Encoded
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.table.averaged.leave_one_out import leave_one_out
from bayesbox.table.averaged.model import AveragedModel, averaged_model
from bayesbox.table.averaged.options import AveragedOptions
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.explain.class_work import ClassWork


class AveragedClassifier(NaiveClassifier):
    """P(class) times the product of w P(column | class) + (1 - w) P(column)."""

    kind = "averaged-naive-bayes"
    title = "averaged naive Bayes"
    options_type: ClassVar[type[NaiveOptions]] = AveragedOptions
    groups_levels = False
    looks_for_dependence = False
    weighs_columns = False
    rules: AveragedOptions

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        if any(kind.is_matrix for kind in schema.kinds.values()):
            raise BadOption("averaged naive Bayes does not support sparse matrices", remedy="Pass a dense array")
        return super().count(columns, labels, schema, **options)

    @property
    def model(self) -> AveragedModel:
        model = super().model
        assert isinstance(model, AveragedModel)
        return model

    def make_model(self, schema: Schema, book: Book) -> AveragedModel:
        return averaged_model(schema, book, self.rules)

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        from bayesbox.table.averaged.work import averaged_work

        return averaged_work(self, batch, against)

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each training row under the model of all other rows.

        If there is no closed form for a row, its tally is subtracted and a model is made.
        """
        self.require_counts("forget")
        classes, schema = self.model.classes, self.model_schema()
        answer, doubtful = leave_one_out(schema, self.book, self.rules, self.model, self.columns_of(batch), labels)
        for row in np.flatnonzero(doubtful).tolist():
            one = batch.slice(row, row + 1)
            label = labels._replace(codes=labels.codes[row : row + 1])
            other = minus_rows(self, [LabelledRows(one, label)])
            place = [classes.index(name) for name in other.model.classes]
            answer[row] = 0.0
            answer[row, place] = functions.exp(other.plain_log_posterior(one)[0])
        return answer
