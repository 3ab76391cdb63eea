"""What the models with arcs between columns share: predictions from one table per column."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayesbox.dist import functions, posterior
from bayesbox.dist.base import Doubles, ignored_where_impossible
from bayesbox.dist.functions import log
from bayesbox.explain.evidence import Explanation, explanation
from bayesbox.schema.encode import Encoded
from bayesbox.source.base import Batch
from bayesbox.table.augmented.classifier import AugmentedClassifier, D, R
from bayesbox.table.augmented.leave_one_out import family_terms
from bayesbox.table.augmented.model import AugmentedModel
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.classifier.one_row.compiling import CodedScorer
    from bayesbox.dist.learned import LearnedTable
    from bayesbox.explain.class_work import ClassWork


class ArcsClassifier(AugmentedClassifier[R, D, AugmentedModel]):
    """A classifier in which each column depends on the class and on a few parents."""

    @abstractmethod
    def steps_of(self, book: Book, model: AugmentedModel) -> dict[str, list[Doubles]]:
        """The counts of each back-off step of each column, from its levels alone to the class and all parents."""

    def learned_tables(self, most: int | None) -> Iterator[LearnedTable]:
        from bayesbox.table.augmented.tables import learned_families

        return learned_families(self, most)

    def joint_log_prob(self, batch: Batch) -> Doubles:
        return posterior.joint_log_prob(self.model, self.codes_of(batch), batch.rows)

    def coded(self) -> CodedScorer | None:
        from bayesbox.table.augmented.coded_scorer import coded_arcs

        if self.calibrated is None:
            return coded_arcs(self.model, None)
        plain, calibration = self.calibrated.compiled(self)
        return coded_arcs(plain.model, calibration)

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:
        from bayesbox.table.augmented.work import arcs_work

        return arcs_work(self, batch, against)

    def explain(self, batch: Batch) -> Explanation:
        assert self.schema is not None
        found = explanation(self.model, self.codes_of(batch), batch.rows, self.schema.used)
        return found.joined(self.schema.parts)

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        model = self.model
        steps = self.steps_of(self.book.with_classes(model.classes), model)
        removal, columns = self.removal(batch, labels, {name: counts[1] for name, counts in steps.items()})
        joint = prior = self.prior_without_row(labels)
        for table in model.conditionals:
            parents = [columns[name] for name in table.parents]
            found = family_terms(removal, columns[table.column], parents, steps[table.column], table.trusts)
            joint = joint + ignored_where_impossible(log(found))
        return functions.exp(posterior.normalised_log(joint, prior))
