"""AutoBayes: all models that fit the budget, evaluated on held-out rows and pooled.

    P(class | x) ~ the product over the models of P_k(class | x)^w_k

The weights w minimise the log loss of the held-out predictions, so that they select, combine and calibrate the models;
models with a negligible weight are dropped. So that declared or rare classes keep some probability, the pool is mixed
with the smoothed class shares, with the total weight of one row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox import _core
from bayesbox.classifier.base import AnyClassifier, Classifier
from bayesbox.classifier.table import TableClassifier
from bayesbox.described import Remedy
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles
from bayesbox.errors import BadData, BadOption, CannotForget, CannotMerge
from bayesbox.explain.evidence import Explanation
from bayesbox.explain.missing import terms_of_absence
from bayesbox.file.faults import MemberFault
from bayesbox.rule.priors import given_prior
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded
from bayesbox.schema.kinds import Ignore
from bayesbox.schema.levels import label_values
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.stat.calibrate import normalised
from bayesbox.table.auto.codec import PREFIX, derived_arrays, derived_from_json, derived_to_json
from bayesbox.table.auto.features import View
from bayesbox.table.auto.joint_density import JointKernel
from bayesbox.table.auto.options import AutoOptions
from bayesbox.table.auto.pool import Pool, learn_pool, words_of
from bayesbox.table.batch_learners import BatchLearner
from bayesbox.table.columns import takes_part
from bayesbox.table.pooled_model import PooledModel, require_member
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.explain.class_work import ClassWork
    from bayesbox.file.reader import Json


class AutoClassifier(BatchLearner[AutoOptions, Pool]):
    """The pool as a classifier. It is trained once: adding rows would need all rows again."""

    kind = "auto"
    answers_are_slow = True
    title = "AutoBayes"
    derived_prefix = PREFIX
    options_type = AutoOptions

    def make_model(self, schema: Schema, book: Book) -> PooledModel:  # noqa: ARG002  the classes are those of both
        classes = self.classes
        prior = self._shares() if self.rules.prior is None else given_prior(self.rules.prior, classes)
        return PooledModel(classes, label_values(classes, book.label_type), functions.log(prior), self._columns())

    def _columns(self) -> tuple[str, ...]:
        """The columns that any model uses."""
        if self.derived is None or self.schema is None:
            return ()
        return tuple(sorted({*(axis.name for axis in self.derived.design.axes), *words_of(self.schema)}))

    def _shares(self) -> Doubles:
        """The class shares with one row added for each class."""
        known = dict(zip(self.book.classes, self.book.n.tolist(), strict=True))
        counts = np.array([known.get(name, 0) for name in self.classes], dtype=np.float64) + 1
        shares: Doubles = counts / counts.sum()
        return shares

    # -- learning ------------------------------------------------------------------------------------------------

    def count(self, columns: Columns, labels: Encoded, schema: Schema, **options: Any) -> Book:
        for name, column in columns.items():
            if isinstance(column, CountMatrix):
                raise BadData(
                    f"AutoBayes needs a table, but column `{name}` is a sparse matrix of counts",
                    remedy="Pass a dense array, or use NaiveBayes",
                    column=name,
                )
        return super().count(columns, labels, schema, **options)

    def derive(self, schema: Schema, book: Book) -> bool:
        schema = self.without_identifiers(schema, book)
        self.derived = learn_pool(
            self.take_rows(),
            schema,
            tuple(book.classes),
            {**(self.declared_of_counted or {}), **dict.fromkeys(self.ignored, Ignore())} or None,
            budget=self.rules.budget,
            seed=self.rules.seed,
            report=self.on_progress,
        )
        return False

    def omitted_note(self) -> str:
        """A note on the models that did not fit the budget; "" if all were tried."""
        if self.derived is None or not self.derived.omitted:
            return ""
        return f"Not tried within {self.rules.budget:g} s: {', '.join(self.derived.omitted)}"

    def learns_once(self) -> CannotForget:
        return CannotForget(
            "AutoBayes cannot learn or forget rows, since its models are derived from all rows",
            remedy="Train again on the rows to keep, or use a model of counts, such as naive Bayes, which learns and "
            "forgets",
        )

    def merged(self, other: AnyClassifier) -> AutoClassifier:  # noqa: ARG002
        raise CannotMerge("two AutoBayes models cannot be merged", remedy="Train one model on all the rows")

    # -- answers -------------------------------------------------------------------------------------------------

    def joint_log_prob(self, batch: Batch) -> Doubles:
        """log P(class | x): AutoBayes has no P(x)."""
        columns = self.columns_of(batch)
        named = Batch(tuple(columns), tuple(columns.values()), batch.rows)
        return self._pooled(self._view(columns, batch.rows), named)

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:  # noqa: ARG002  it has no odds
        from bayesbox.table.auto.work import pool_work

        columns, pool = self.columns_of(batch), self.derived
        assert pool is not None
        named = Batch(tuple(columns), tuple(columns.values()), batch.rows)
        answers = pool.answers(self._view(columns, batch.rows), named)
        found = self.plain_log_posterior(batch)[0]
        return pool_work(self.case_title(batch), pool, answers, self.model.classes, found)

    def _view(self, columns: Columns, rows: int) -> View:
        assert self.derived is not None
        assert self.schema is not None
        return self.derived.design.read(columns, self.schema.kinds, rows)

    def _pooled(self, view: View, batch: Batch) -> Doubles:
        """The predictions of the pool in the order of the classes, under the current prior."""
        pool = self.derived
        assert pool is not None
        found = pool.log_p(view, batch)
        model = self.model
        place = {name: position for position, name in enumerate(pool.classes)}
        rare = np.full(view.rows, self.log_rare)
        log_p = np.stack([found[:, place[name]] if name in place else rare for name in model.classes], axis=1)
        return normalised(log_p + self.prior_shift)

    @property
    def log_rare(self) -> float:
        """The log probability of a class without rows: these classes share the weight of one row."""
        pool = self.derived
        assert pool is not None
        without_rows = len(self.model.classes) - len(pool.classes)
        return -float(functions.log((pool.rows + 1) * max(without_rows, 1)))

    @property
    def prior_shift(self) -> Doubles:
        """What the current prior adds to the log-probabilities."""
        model = self.model
        if self.rules.prior is None:
            return np.zeros(len(model.classes))
        shift: Doubles = model.log_prior - functions.log(self._shares())
        return shift

    def pool_scorer(self) -> _core.PoolScorer | None:
        from bayesbox.table.auto.scorer import pool_scorer

        return pool_scorer(self)

    def log_density(self, batch: Batch) -> Doubles:  # noqa: ARG002
        raise BadOption("AutoBayes gives only P(class | x), not P(x)", remedy="Use NaiveBayes or FullBayes")

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:  # noqa: ARG002
        raise CannotForget(
            "AutoBayes has no leave-one-out without retraining",
            remedy="Cross-validate it" + Remedy("", ": --cv 10"),
        )

    def explain(self, batch: Batch) -> Explanation:
        """The effect of each column, from predictions with and without it: terms that sum to log P(class | x)."""
        assert self.derived is not None
        columns, used = self.columns_of(batch), self._columns()
        log_prior = self.model.log_prior
        terms = terms_of_absence(lambda given: self._pooled_of(given, batch.rows), columns, used, log_prior)
        assert self.schema is not None
        return Explanation(self.model.labels, used, log_prior, terms).joined(self.schema.parts)

    def _pooled_of(self, columns: Columns, rows: int) -> Doubles:
        return self._pooled(self._view(columns, rows), Batch(tuple(columns), tuple(columns.values()), rows))

    # -- the file --------------------------------------------------------------------------------------------------

    def derived_to_json(self) -> Json | None:
        return None if self.derived is None else derived_to_json(self.derived)

    def keeps_rows_by(self) -> str | None:
        return "its models store rows, levels and numbers"

    def kept_points(self) -> int:
        models = () if self.derived is None else self.derived.models
        return sum(len(model.points) for model in models if isinstance(model, JointKernel))

    def inner(self) -> tuple[AnyClassifier, ...]:
        models = () if self.derived is None else self.derived.models
        return tuple(model for model in models if isinstance(model, Classifier))

    def derived_members(self) -> dict[str, bytes]:
        return {} if self.derived is None else derived_arrays(self.derived)

    @classmethod
    def derived_from_members(cls, written: Json | None, members: dict[str, bytes]) -> Any:
        if written is None:
            raise ValueError("the document does not describe the models")
        return derived_from_json(written, members)

    def require_consistent(self) -> None:
        pool, schema = self.derived, self.schema
        if pool is None or schema is None:
            return
        if not set(pool.classes) <= set(self.classes):
            raise ValueError("the classes of the pool are not those of the rows")
        names = [axis.name for axis in pool.design.axes]
        for axis in pool.design.axes:
            kind = schema.kinds.get(axis.name)
            if kind is None or not takes_part(kind) or kind.has_levels != (axis.levels is not None):
                raise ValueError(f"column `{axis.name}` of the pool differs from that in the schema")
        if len(set(names)) < len(names):
            raise ValueError("two columns of the pool have the same name")
        for place, model in enumerate(pool.models):
            if isinstance(model, TableClassifier):
                member = f"{PREFIX}{place}.bayes"
                require_member(model, schema, member)
                if not set(pool.classes) <= set(model.classes):
                    raise MemberFault(member, "it lacks classes of the pool")
