"""Naive Bayes on tables: each column is counted separately, and the core applies the model in one pass.

The scikit-learn estimator and the command are thin layers over this class.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.table import TableClassifier
from bayesbox.dist import functions, posterior
from bayesbox.dist.base import Doubles
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import BadOption, UnknownColumn
from bayesbox.file.reader import Reader
from bayesbox.rule.naive import naive_model, require_fitting_rule
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.priors import Prior, given_prior
from bayesbox.schema.arrays import AnyArray
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import label_type_of
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.calibration.auto import HeldOutAnswers
    from bayesbox.classifier.report.size import ModelSize
    from bayesbox.explain.class_work import ClassWork
    from bayesbox.explain.credible import IntervalTable
    from bayesbox.explain.evidence import Explanation
    from bayesbox.file.reader import Json


class NaiveClassifier(TableClassifier[NaiveOptions, dict[str, float], NaiveModel]):
    """Naive Bayes: P(class) times the product of P(column | class).

    `derived` are the column weights, if columns were selected or weighted.
    """

    kind = "naive-bayes"
    title = "naive Bayes"
    options_type: ClassVar[type[NaiveOptions]] = NaiveOptions
    groups_levels = True
    rules_by_column = True
    core_finds_unseen = True
    looks_for_dependence = True
    weighs_columns = True
    columns_are_independent = True

    def needs_refit(self) -> bool:
        coarse = not all(self.book[name].is_exact for name in self.book)
        return coarse or super().needs_refit()

    def has_second_pass(self) -> bool:
        return self.rules.select is not None or self.rules.column_weights is not None

    def refine(self, parts: Sequence[LabelledRows]) -> None:
        from bayesbox.table.naive.choice import chosen_columns

        self.derived, self._model = chosen_columns(self, parts), None

    def held_out_answers(self, kept: list[LabelledRows]) -> HeldOutAnswers:
        from bayesbox.table.naive.choice import weighed_answers

        if self.derived is not None or not self.weighs_columns:
            return super().held_out_answers(kept)
        return weighed_answers(self, kept)

    def weighed(self, weights: Mapping[str, float]) -> Self:
        model = self.model
        taken = tuple(each for each in model.conditionals if weights.get(each.columns[0], 1.0) > 0)
        return self.changed(_model=replace(model, conditionals=taken, weights=weights), calibrated=None)

    def learned_beyond_counts(self) -> bool:
        return super().learned_beyond_counts() or self.derived is not None

    def derived_like(self, other: AnyClassifier) -> bool:  # noqa: ARG002
        return True  # weights and selections change the model, not what is counted

    def irreversible_parts(self) -> tuple[str, ...]:
        chosen = []
        if self.derived is not None and self.rules.select is not None:
            chosen.append(f"the selection of columns ({self.rules.select})")
        if self.derived is not None and self.rules.column_weights is not None:
            stale = ", stale: refit them with `bayes calibrate MODEL DATA`" if self.stale else ""
            chosen.append(f"the column weights{stale}")
        return (*chosen, *super().irreversible_parts())

    def number_flags(self) -> list[str]:
        schema = self.schema
        assert schema is not None
        numbers = (name for name in schema.used if name in self.book and self.book[name].of_numbers)
        return [name for name in numbers if schema.kinds[name].shown(self.book[name]) == "flag"]

    def accept(self, schema: Schema, book: Book) -> None:
        for name in self.rules.column_smoothing or ():
            if name not in schema.kinds:
                raise UnknownColumn(name, available=schema.used, where="smoothing")
        super().accept(schema, book)

    def check(self) -> None:
        super().check()
        if not self.fixed:
            require_fitting_rule(self.model_schema(), self.book, self.rules)

    def make_model(self, schema: Schema, book: Book) -> NaiveModel:
        return naive_model(schema, book, self.rules, self.derived)

    def size(self) -> ModelSize:
        from bayesbox.classifier.report.describe import size_of_naive

        return size_of_naive(self.model)

    def given_members(self) -> dict[str, bytes]:
        from bayesbox.table.naive import given_tables

        assert self.schema is not None
        return given_tables.members(self.model, self.schema)

    @classmethod
    def from_given_members(cls, members: dict[str, bytes], schema: Schema, label_type: str) -> Self:
        from bayesbox.table.naive import given_tables

        if cls.kind != NaiveClassifier.kind:
            return super().from_given_members(members, schema, label_type)
        return cls.of_model(given_tables.model_of(members, schema, label_type), schema)

    def derived_to_json(self) -> Json | None:
        return None if self.derived is None else {"weights": dict(sorted(self.derived.items()))}

    @classmethod
    def derived_from_json(cls, written: Json | None) -> dict[str, float] | None:
        if written is None:
            return None
        reader = Reader(written, "what was derived")
        found: dict[str, float] = reader.take("weights", dict)
        reader.done()
        if not all(type(weight) is float and 0 <= weight < math.inf for weight in found.values()):
            raise ValueError("the weight of a column must be a non-negative number")
        return found

    @classmethod
    def of_model(cls, model: NaiveModel, schema: Schema) -> Self:
        """A classifier made of given tables."""
        book = Book.empty(label_type_of(model.labels.tolist()))
        return cls(NaiveOptions(numeric="gaussian")).changed(schema=schema, book=book, _model=model, fixed=True)

    def with_prior(self, prior: Prior) -> Self:
        """A copy with another class prior and the same likelihoods."""
        if not self.fixed:
            return super().with_prior(prior)
        model = self.model
        with np.errstate(divide="ignore"):
            log_prior = functions.log(given_prior(prior, model.classes))
        return self.changed(_model=replace(model, log_prior=log_prior))

    # -- answers -------------------------------------------------------------------------------------------------

    def predict(self, batch: Batch) -> AnyArray:
        if self.calibrated is not None:
            return super().predict(batch)
        labels: AnyArray = self.model.labels
        columns = self.columns_of(batch)
        return labels[posterior.best_class(self.model, columns, batch.rows, batch.first_row, watch=batch.watched)]

    def posterior(self, batch: Batch) -> Doubles:
        if self.calibrated is not None:
            return super().posterior(batch)
        columns = self.columns_of(batch)
        return posterior.posterior(self.model, columns, batch.rows, batch.first_row, watch=batch.watched)

    def plain_log_posterior(self, batch: Batch) -> Doubles:
        columns = self.columns_of(batch)
        return posterior.log_posterior(self.model, columns, batch.rows, batch.first_row, watch=batch.watched)

    def answers_from_counts(self) -> bool:
        rules = self.rules
        given = (self.calibrated, self.derived, rules.prior, rules.prior_smoothing, rules.var_smoothing)
        return type(self) is NaiveClassifier and not self.fixed and all(each is None for each in given)

    def product(self) -> tuple[NaiveModel, tuple[object, ...] | None] | None:
        if self.calibrated is None:
            return self.model, None
        plain, calibration = self.calibrated.compiled(self)
        return plain.model, calibration

    def log_density(self, batch: Batch) -> Doubles:
        if self.rules.column_weights is not None:
            raise BadOption(
                "a model with column weights gives P(class | x), but not P(x)",
                remedy="Train it without column_weights",
            )
        return super().log_density(batch)

    def joint_log_prob(self, batch: Batch) -> Doubles:
        return posterior.joint_log_prob(self.model, self.columns_of(batch), batch.rows)

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each training row under the model of all other rows."""
        self.require_counts("forget")
        from bayesbox.table.naive.leave_one_out import leave_one_out

        schema = self.model_schema()
        return leave_one_out(schema, self.book, self.rules, self.model, self.columns_of(batch), labels)

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        from bayesbox.explain.work import bayes_box

        assert self.schema is not None
        columns = self.columns_of(batch)
        box = bayes_box(self.schema, self.book, self.rules, self.model, columns, against=against)
        return box.work(self.case_title(batch))

    def posterior_interval(self, batch: Batch, *, level: float, draws: int, seed: int) -> IntervalTable:
        from bayesbox.table.naive.interval import posterior_interval

        return posterior_interval(self, batch, level=level, draws=draws, seed=seed)

    def explain(self, batch: Batch) -> Explanation:
        assert self.schema is not None
        return self.explain_parts(batch).joined(self.schema.parts)

    def explain_parts(self, batch: Batch) -> Explanation:
        """The same with an entry for each part of a column, such as the month of a date."""
        assert self.schema is not None
        from bayesbox.explain.evidence import explanation

        return explanation(self.model, self.columns_of(batch), batch.rows, self.schema.used)
