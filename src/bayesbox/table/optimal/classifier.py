"""The Bayes optimal classifier: the sum of P(class | h, x) P(h | rows) over the hypotheses h.

The hypotheses are trained on the same rows and weighted by leave-one-out, P(h | rows) ~ the product over the rows of
P(label | x, all other rows, h); or they were trained before and have given weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from bayesbox import _core
from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.calibrated import labelled
from bayesbox.classifier.registry import KINDS, default_hypotheses, new_classifier, split_model
from bayesbox.classifier.rows import LabelledRows, sample_of
from bayesbox.classifier.table import AnyTableClassifier, TableClassifier
from bayesbox.described import Remedy, parameter
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles
from bayesbox.errors import BadData, BadOption, CannotForget, CannotMerge
from bayesbox.explain.evidence import Explanation
from bayesbox.explain.missing import terms_of_absence
from bayesbox.file.faults import MemberFault
from bayesbox.file.reader import Reader, made
from bayesbox.rule.priors import given_prior
from bayesbox.schema.encode import Encoded
from bayesbox.schema.levels import label_order, label_values
from bayesbox.schema.schema import Schema
from bayesbox.source.base import Batch
from bayesbox.stat.calibrate import floored
from bayesbox.table.batch_learners import BatchLearner
from bayesbox.table.columns import class_codes
from bayesbox.table.optimal.options import OptimalOptions
from bayesbox.table.pooled_model import PooledModel, require_member
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.explain.class_work import ClassWork
    from bayesbox.file.reader import Json

MOST_ROWS = 10_000  # how hypotheses are weighted
PREFIX = "hypothesis-"
MEMBER = PREFIX + "{}.bayes"


@dataclass(frozen=True)
class Hypotheses:
    """The classifiers, P(h | rows) of each, and the log-probability of the labels that it is based on."""

    classifiers: tuple[AnyTableClassifier, ...]
    weights: tuple[float, ...]
    log_scores: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.classifiers:
            raise BadOption("at least one hypothesis is needed")
        if len(self.weights) != len(self.classifiers):
            raise BadOption(
                "there must be one weight per hypothesis", found=f"{len(self.weights)} for {len(self.classifiers)}"
            )
        if not all(math.isfinite(each) and each >= 0 for each in self.weights) or not max(self.weights) > 0:
            raise BadOption(
                "weights must be finite and non-negative, with at least one positive", found=list(self.weights)
            )
        if max(self.weights) <= 1 and abs(math.fsum(self.weights) - 1) <= len(self.weights) * 2.0**-54:
            return  # they sum to 1 up to rounding, as those of a file do: dividing again would change them
        exponent = math.frexp(max(self.weights))[1]  # scaling by a power of two is exact, and the sum does not overflow
        scaled = [math.ldexp(each, -exponent) for each in self.weights]
        total = math.fsum(scaled)
        object.__setattr__(self, "weights", tuple(each / total for each in scaled))

    @property
    def best(self) -> int:
        """The most probable hypothesis; the first in case of a tie."""
        return int(np.argmax(self.weights))


class OptimalClassifier(BatchLearner[OptimalOptions, Hypotheses]):
    """Several classifiers, each with its probability. It is trained once: update the hypotheses separately."""

    kind = "bayes-optimal"
    answers_are_slow = True
    title = "Bayes optimal"
    derived_prefix = PREFIX
    options_type = OptimalOptions

    @classmethod
    def of(cls, classifiers: Sequence[AnyTableClassifier], weights: Sequence[float], names: Sequence[str] = ()) -> Self:
        """The average of fitted classifiers; common columns must have the same type in all.

        `names` are used in messages.
        """
        called = list(names) or [each.title for each in classifiers]
        classifiers, one_hot = _without_one_hot(classifiers, called)
        derived = Hypotheses(classifiers, tuple(float(each) for each in weights))
        classes, label_type = _common_classes(classifiers, called)
        schema = _common_schema(classifiers, called).with_classes(classes)
        targets = {each.target for each in classifiers}
        if len(targets - {None}) > 1:
            raise CannotMerge(
                "the hypotheses have different targets", found=", ".join(sorted(str(each) for each in targets))
            )
        result = cls(OptimalOptions(()), one_hot=one_hot, target=next(iter(targets - {None}), None))
        result.accept(schema, Book.empty(label_type))
        result.derived = derived
        return result

    @property
    def known(self) -> Hypotheses:
        """The hypotheses; an error if it is not trained."""
        if self.derived is None:
            raise BadData("no row has a label, so there is nothing to predict from")
        return self.derived

    def counted(self) -> AnyTableClassifier:
        return self.known.classifiers[0].counted()

    def make_model(self, schema: Schema, book: Book) -> PooledModel:
        classes = self.classes
        total = np.zeros(len(classes))
        for weight, each in zip(self.known.weights, self._under_prior(), strict=True):
            place = [classes.index(name) for name in each.model.classes]
            total[place] += weight * functions.exp(each.model.log_prior)
        labels = label_values(classes, book.label_type)
        with np.errstate(divide="ignore"):
            return PooledModel(classes, labels, functions.log(total), schema.used)

    def _under_prior(self) -> tuple[AnyTableClassifier, ...]:
        """The hypotheses under the current prior."""
        if self.rules.prior is None:
            return self.known.classifiers
        return tuple(each.with_prior(self.prior_for(each)) for each in self.known.classifiers)

    def prior_for(self, hypothesis: AnyTableClassifier) -> dict[str, float]:
        """The given prior, restricted to the classes of a hypothesis."""
        assert self.rules.prior is not None
        given = dict(zip(self.classes, given_prior(self.rules.prior, self.classes).tolist(), strict=True))
        share = math.fsum(given[name] for name in hypothesis.classes)
        if not share:
            raise BadOption("a hypothesis has none of the classes of the prior", found=hypothesis.title)
        return {name: given[name] / share for name in hypothesis.classes}

    # -- learning ------------------------------------------------------------------------------------------------

    def derive(self, schema: Schema, book: Book) -> bool:  # noqa: ARG002  the rows themselves are needed
        rows = labelled(self.take_rows())
        if not rows:
            return False
        if any(part.weights is not None for part in rows):
            raise BadOption(
                "hypotheses are weighted by leave-one-out, which does not support row weights",
                remedy="Train them separately and pass their weights: "
                + Remedy("BayesOptimal([a, b], weights=[2, 1])", "bayes average A B --weights 2,1"),
            )
        classifiers = []
        for name in self.rules.hypotheses:
            each = new_classifier(name, self.rules.options, self.declared_of_counted)
            each = each.changed(target=self.target, ignore=self.ignore)
            assert isinstance(each, TableClassifier)  # only such kinds can be hypotheses
            each.learn_all(rows)
            classifiers.append(each)
        sample = sample_of(rows, MOST_ROWS)
        scores = [log_score(each, sample) for each in classifiers]
        highest = max(scores)
        if not math.isfinite(highest):
            raise BadData(
                "every hypothesis gives some label probability 0 when its row is left out, so none can be weighted",
                remedy="Smooth them: " + parameter("smoothing", "laplace"),
            )
        weights = _core.exponentials(np.array(scores) - highest).tolist()
        self.derived = Hypotheses(tuple(classifiers), tuple(weights), tuple(scores))
        return False

    def learns_once(self) -> CannotForget:
        return CannotForget(
            "a Bayes optimal model cannot learn or forget rows, since its hypotheses were weighted by all rows",
            remedy="Update the hypotheses, each in its own file, and combine them with bayes average",
        )

    def merged(self, other: AnyClassifier) -> Self:  # noqa: ARG002
        raise CannotMerge(
            "two Bayes optimal models cannot be merged", remedy="Merge their hypotheses, and average the results"
        )

    # -- answers -------------------------------------------------------------------------------------------------

    def joint_log_prob(self, batch: Batch) -> Doubles:
        """log P(class | x): an average of posteriors has no P(x)."""
        columns = self.columns_of(batch)
        return self._log_answer(Batch(tuple(columns), tuple(columns.values()), batch.rows))

    def _log_answer(self, batch: Batch) -> Doubles:
        with np.errstate(divide="ignore"):
            return functions.log(self._averaged(each.posterior(batch) for each in self._under_prior()))

    def _averaged(self, answers: Any) -> Doubles:
        """The weighted average of the posteriors of all hypotheses, each rows x its classes: rows x all classes."""
        classes, total = self.classes, None
        for weight, each, found in zip(self.known.weights, self.known.classifiers, answers, strict=True):
            if total is None:
                total = np.zeros((len(found), len(classes)))
            total[:, [classes.index(name) for name in each.model.classes]] += weight * found
        assert total is not None
        return total

    def answers(self, batch: Batch) -> list[tuple[str, float]]:
        """The prediction of each hypothesis for the first row of a batch: its class and the probability."""
        found = []
        for each in self._under_prior():
            posterior = each.posterior(batch)[0]
            best = int(posterior.argmax())
            found.append((each.model.classes[best], float(posterior[best])))
        return found

    def plain_work(self, batch: Batch, *, against: str | None = None) -> ClassWork:  # noqa: ARG002  it has no odds
        from bayesbox.table.optimal.work import sum_over_hypotheses

        columns, classes, answers = self.columns_of(batch), self.classes, []
        asked = Batch(tuple(columns), tuple(columns.values()), batch.rows)
        for each in self._under_prior():
            found = dict(zip(each.model.classes, each.posterior(asked)[0].tolist(), strict=True))
            answers.append([found.get(name, 0.0) for name in classes])
        names = [each.title for each in self.known.classifiers]
        return sum_over_hypotheses(self.case_title(batch), classes, names, self.known.weights, answers)

    def log_density(self, batch: Batch) -> Doubles:  # noqa: ARG002
        raise BadOption("an average of models gives only P(class | x), not P(x)", remedy="Use one of its hypotheses")

    def leave_one_out(self, batch: Batch, labels: Encoded) -> Doubles:
        """P(class | x) of each training row by the hypotheses without that row, with the weights of all rows."""
        return self._averaged(each.leave_one_out(batch, labels) for each in self._under_prior())

    def explain(self, batch: Batch) -> Explanation:
        """The effect of each column, from predictions with and without it: terms that sum to log P(class | x)."""
        columns, rows, names = self.columns_of(batch), batch.rows, self.model.columns
        nothing = Batch(names[:1], (pa.nulls(rows),), rows)

        def answer(given: Columns) -> Doubles:
            asked = Batch(tuple(given), tuple(given.values()), rows) if given else nothing
            return floored(self._log_answer(asked))

        log_prior = floored(self.model.log_prior[None, :])[0]
        assert self.schema is not None
        terms = terms_of_absence(answer, columns, names, log_prior)
        return Explanation(self.model.labels, names, log_prior, terms).joined(self.schema.parts)

    # -- the command and the file --------------------------------------------------------------------------------

    @classmethod
    def rules_from_options(cls, parameter: str, given: Mapping[str, Any]) -> OptimalOptions:
        names = tuple(parameter.split(",")) if parameter else default_hypotheses()
        for name in names:
            if name.partition(":")[0] not in KINDS:
                example = ",".join(default_hypotheses())
                raise BadOption(f"unknown model `{name}`", remedy=f"Write the models as in {example}")
        common = {key: given[key] for key in OptimalOptions._passes if given.get(key) is not None}
        rules: OptimalOptions = replace(super().rules_from_options(parameter, given), options=common)
        for name in names:  # raises an error for options that one of them does not have
            kind, rest = split_model(name)
            taken = kind.load().from_options(rest, common)
            if "numeric" in common and not hasattr(taken.rules, "numeric"):
                raise BadOption(f"the hypothesis {name} has its own treatment of numbers", found=common["numeric"])
        return rules

    def derived_to_json(self) -> Json | None:
        if self.derived is None:
            return None
        scores = self.derived.log_scores
        return {
            "weights": list(self.derived.weights),
            "log_scores": None if scores is None else [each if math.isfinite(each) else None for each in scores],
        }

    def keeps_rows_by(self) -> str | None:
        return "it contains several models, each with its own tallies"

    def inner(self) -> tuple[AnyTableClassifier, ...]:
        return () if self.derived is None else tuple(self.derived.classifiers)

    def derived_members(self) -> dict[str, bytes]:
        from bayesbox.file.save import to_bytes

        if self.derived is None:
            return {}
        return {MEMBER.format(place): to_bytes(each) for place, each in enumerate(self.derived.classifiers)}

    @classmethod
    def derived_from_members(cls, written: Json | None, members: dict[str, bytes]) -> Any:
        from bayesbox.file.load import CLASSIFIER, from_bytes

        if written is None:
            raise ValueError("the document does not describe the hypotheses")
        reader = Reader(written, "derived")
        weights, scores = reader.take("weights", list), reader.take("log_scores", list, None)
        reader.done()
        if not all(type(each) is float for each in weights) or not all(
            each is None or type(each) is float for each in scores or ()
        ):
            raise ValueError("the weight of a hypothesis is not a number")
        names = [MEMBER.format(place) for place in range(len(weights))]
        if scores is not None and len(scores) != len(weights):
            raise ValueError("there is not one score per hypothesis")
        for name in {*names} ^ {*members}:
            raise MemberFault(
                name, "the member is missing" if name in names else ("the member belongs to no hypothesis")
            )
        classifiers = tuple(from_bytes(members[name], name=name, holds=CLASSIFIER, inside=1) for name in names)
        if any(isinstance(each, OptimalClassifier) or not isinstance(each, TableClassifier) for each in classifiers):
            raise ValueError("a hypothesis is itself an average, or not a classifier of tables")
        known = None if scores is None else tuple(-math.inf if each is None else each for each in scores)
        return made(lambda: Hypotheses(classifiers, tuple(weights), known), "derived")

    def require_consistent(self) -> None:
        assert self.schema is not None
        for place, each in enumerate(self.known.classifiers):
            require_member(each, self.schema, MEMBER.format(place))
            if not set(each.classes) <= set(self.classes) or each.book.label_type != self.book.label_type:
                raise MemberFault(MEMBER.format(place), "its classes differ from those of the enclosing model")
        made(self._under_prior, "prior")


def log_score(classifier: AnyTableClassifier, rows: Sequence[LabelledRows]) -> float:
    """The log-probability of all labels by leave-one-out.

    A row that is the only one of its class is skipped: without it, no model knows the class.
    """
    total, known = 0.0, dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True))
    for part in rows:
        codes = class_codes(part, classifier.classes)
        several = np.array([known[name] > 1 for name in classifier.classes])[codes]
        shares = classifier.leave_one_out(part.batch, part.labels)[several, codes[several]]
        own = _core.logarithms(shares)  # numpy's results differ between processors
        total += math.fsum(own.tolist()) if np.isfinite(own).all() else -math.inf
    return total


def _without_one_hot(
    classifiers: Sequence[AnyTableClassifier], names: Sequence[str]
) -> tuple[tuple[AnyTableClassifier, ...], dict[str, tuple[str, ...]]]:
    """The classifiers without their one-hot groups, and the groups of all of them."""
    found = []
    for name, each in zip(names, classifiers, strict=True):
        if each.schema is None:
            raise BadData("the model is not trained yet", where=name)
        if isinstance(each, OptimalClassifier):
            raise CannotMerge("a hypothesis must be one model, not an average", where=name)
        if each.one_hot != classifiers[0].one_hot:
            raise CannotMerge(
                "its one-hot columns differ from those of the first hypothesis", where=name, found=each.one_hot
            )
        found.append(each.changed(one_hot={}))
    return tuple(found), dict(classifiers[0].one_hot) if classifiers else {}


def _common_classes(classifiers: Sequence[AnyTableClassifier], names: Sequence[str]) -> tuple[tuple[str, ...], str]:
    types = {each.book.label_type for each in classifiers}
    if len(types) > 1:
        raise CannotMerge("the classes of the hypotheses have different types", found=", ".join(sorted(types)))
    label_type = types.pop() if types else "text"
    known = {name for each in classifiers for name in each.classes}
    for name, each in zip(names, classifiers, strict=True):
        if not set(each.classes) & set(classifiers[0].classes):
            raise CannotMerge(
                "it has no class in common with the first hypothesis", where=name, found=", ".join(each.classes[:5])
            )
    return tuple(label_order(list(known), label_type)), label_type


def _common_schema(classifiers: Sequence[AnyTableClassifier], names: Sequence[str]) -> Schema:
    """The columns of all hypotheses; common columns must have the same type."""
    kinds: dict[str, Any] = {}
    declared: set[str] = set()
    for name, each in zip(names, classifiers, strict=True):
        assert each.schema is not None
        declared |= each.schema.declared
        for column, kind in each.schema.kinds.items():
            before = kinds.get(column)
            if before is not None and not (before.accepts(kind) or kind.accepts(before)):
                raise CannotMerge(
                    f"column `{column}` is a {kind.name} here and a {before.name} in another hypothesis", where=name
                )
            kinds.setdefault(column, kind)
    return replace(Schema({}), kinds=kinds, declared=frozenset(declared))
