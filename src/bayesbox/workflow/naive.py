"""A naive Bayes classifier that learns, forgets and predicts: the tallies, the rules, and the model they give.

The scikit-learn estimator and the command are both thin layers over this class; it needs neither of them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesbox.dist.base import Columns, Doubles
from bayesbox.errors import BadData, CannotForget, CannotMerge, UnknownColumn
from bayesbox.explain.evidence import Explanation, explanation
from bayesbox.infer import direct
from bayesbox.learn.leave_one_out import leave_one_out
from bayesbox.model.naive import NaiveModel, Rules, naive_model
from bayesbox.rule.priors import given_prior
from bayesbox.schema.columns import as_view
from bayesbox.schema.encode import Encoded
from bayesbox.schema.fold import Fold, folded
from bayesbox.schema.levels import label_order, label_type_of
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.tally.book import Book
from bayesbox.tally.count import count
from bayesbox.workflow.hints import Hint, hints


class NaiveClassifier:
    """Schema, book and rules; the model follows from them and is made when it is first needed."""

    def __init__(self, rules: Rules, declared: Mapping[Any, object] | None = None, fold: Fold | None = None) -> None:
        self.rules = rules
        self.declared = declared
        self.fold: dict[str, tuple[str, ...]] = {name: tuple(flags) for name, flags in (fold or {}).items()}
        self.target: str | None = None  # the name of the column that holds the labels, where they had one
        self.schema: Schema | None = None
        self.book = Book.empty()
        self._model: NaiveModel | None = None
        self.fixed = False  # made of given tables: there are no counts behind it

    # -- learning ------------------------------------------------------------------------------------------------

    def schema_for(self, batch: Batch, *, where: str | None = None) -> Schema:
        """The schema after these rows."""
        return self.schema_of(self.named(batch, where=where), where=where)

    def schema_of(self, columns: Columns, *, where: str | None = None) -> Schema:
        """The schema after rows with these columns."""
        if self.schema is None:
            return Schema.of(columns, self.declared, where=where)
        return self.schema.extended(columns, where=where)

    def named(self, batch: Batch, *, where: str | None = None) -> dict[str, Any]:
        """The columns of a batch by name, 1-of-M groups folded."""
        columns = {name: as_view(column) for name, column in zip(batch.names, batch.columns, strict=True)}
        return folded(columns, self.fold, where=where) if self.fold else columns

    def tally(
        self, batch: Batch, labels: Encoded, schema: Schema, *, weights: Any = None, where: str | None = None
    ) -> Book:
        """The book of these rows alone."""
        if len(labels.codes) != batch.rows:
            raise BadData(f"{batch.rows} rows, but {len(labels.codes)} labels", where=where)
        columns = self.named(batch, where=where)
        return count(columns, labels, schema, weights=weights, where=where, first_row=batch.first_row)

    def learn(self, batch: Batch, labels: Encoded, *, weights: Any = None, where: str | None = None) -> None:
        """Add these rows. Where they cannot be counted, nothing changes."""
        self.require_counts("learn")
        schema = self.schema_for(batch, where=where)
        self.accept(schema, self.book + self.tally(batch, labels, schema, weights=weights, where=where))

    def forget(self, batch: Batch, labels: Encoded, *, weights: Any = None, where: str | None = None) -> None:
        """Take these rows out again, exactly. Where they were never learned, nothing changes."""
        self.require_counts("forget")
        if self.schema is None:
            raise CannotForget("nothing was learned yet")
        schema = self.schema_for(batch, where=where)
        self.accept(schema, self.book - self.tally(batch, labels, schema, weights=weights, where=where))

    def accept(self, schema: Schema, book: Book) -> None:
        """Take this as what was learned."""
        self.schema, self.book, self._model = schema, book, None

    def untrained(self) -> Self:
        """The same schema and rules with nothing counted."""
        result = copy.copy(self)
        result.book, result._model = Book.empty(self.book.label_type), None
        return result

    def merged(self, other: NaiveClassifier) -> Self:
        """What learning the rows of both would give."""
        self.require_counts("merge")
        other.require_counts("merge")
        if self.rules != other.rules or self.fold != other.fold:
            raise CannotMerge("the two models have different rules", remedy="Give both the same parameters")
        if self.schema is None or other.schema is None:
            raise CannotMerge("one of the two models has learned nothing")
        result = copy.copy(self)
        result.accept(self.schema.merged(other.schema), self.book + other.book)
        return result

    def require_counts(self, what: str) -> None:
        """Refuse to learn, forget or merge without counts."""
        if not self.fixed:
            return
        error = CannotMerge if what == "merge" else CannotForget
        raise error(
            f"this model was made of given tables, so it cannot {what}: there are no counts behind it",
            remedy="Fit a model to rows",
        )

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def model(self) -> NaiveModel:
        """The rules applied to the tallies."""
        if self._model is None:
            assert self.schema is not None
            if not self.classes:
                raise BadData("no row has a label, so there is nothing to predict")
            self._model = naive_model(self.schema, self.book, self.rules)
        return self._model

    @property
    def classes(self) -> tuple[str, ...]:
        """The texts of the classes, those that were declared included."""
        declared = self.schema.classes if self.schema else ()
        return tuple(label_order(list({*self.book.classes, *declared}), self.book.label_type))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns as rows bring them: folded groups stand for their flags."""
        names = self.schema.kinds if self.schema else ()
        return tuple(flag for name in names for flag in self.fold.get(name, (name,)))

    @classmethod
    def of_model(cls, model: NaiveModel, schema: Schema) -> Self:
        """A classifier made of given tables."""
        made = cls(Rules())
        made.schema, made._model, made.fixed = schema, model, True
        made.book = Book.empty(label_type_of(model.labels.tolist()))
        return made

    def with_prior(self, prior: Mapping[Any, float]) -> Self:
        """The same likelihoods with another base rate."""
        result = copy.copy(self)
        if self.fixed:
            model = self.model
            with np.errstate(divide="ignore"):
                result._model = replace(model, log_prior=np.log(given_prior(prior, model.classes)))
            return result
        given_prior(prior, self.model.classes)  # refuses a prior that does not fit
        result.rules = replace(self.rules, prior=dict(prior))
        result._model = None
        return result

    def hints(self) -> list[Hint]:
        """What looks wrong in the rows that were learned."""
        return [] if self.fixed or self.schema is None else hints(self.schema, self.book)

    # -- answers -------------------------------------------------------------------------------------------------

    def columns_of(self, batch: Batch, *, where: str | None = None) -> Columns:
        """The columns of a batch that take part, by name; a column that is absent is missing in every row."""
        assert self.schema is not None
        present = self.named(batch, where=where)
        used = {name: present[name] for name in self.schema.used if name in present}
        if not used and self.schema.used:
            raise UnknownColumn(self.schema.used[0], available=batch.names, where=where)
        return used

    def predict(self, batch: Batch) -> NDArray[Any]:
        """The most probable label of each row."""
        return self.model.labels[direct.best_class(self.model, self.columns_of(batch), batch.rows)]

    def posterior(self, batch: Batch) -> Doubles:
        return direct.posterior(self.model, self.columns_of(batch), batch.rows)

    def log_posterior(self, batch: Batch) -> Doubles:
        return direct.log_posterior(self.model, self.columns_of(batch), batch.rows)

    def joint_log(self, batch: Batch) -> Doubles:
        return direct.joint_log(self.model, self.columns_of(batch), batch.rows)

    def log_density(self, batch: Batch) -> Doubles:
        return direct.log_density(self.model, self.columns_of(batch), batch.rows)

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each learned row under the model of all the others."""
        self.require_counts("forget")
        assert self.schema is not None
        return leave_one_out(self.schema, self.book, self.rules, self.model, self.columns_of(batch), labels)

    def explain(self, batch: Batch) -> Explanation:
        assert self.schema is not None
        return explanation(self.model, self.columns_of(batch), batch.rows, self.schema.used)
