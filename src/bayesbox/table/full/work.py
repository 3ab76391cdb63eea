"""The calculation of full Bayes: the joint table of the categories, and the multivariate normal of the numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbox.classifier.case import value_text
from bayesbox.dist import functions
from bayesbox.dist.base import Columns, Doubles
from bayesbox.dist.cells import Cells, ratio
from bayesbox.dist.factor import Factor, Logged, NoFactor, Number, decimal, divided, formula, log_of
from bayesbox.dist.joint.gaussian import JointGaussian
from bayesbox.explain.box import BayesBox
from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Cell, Row, Step, line
from bayesbox.explain.work import prior_factor
from bayesbox.rule.joint_table import expected_counts
from bayesbox.source.base import Batch
from bayesbox.table.full.posterior import log_terms
from bayesbox.tally.comoments import CoMoments

if TYPE_CHECKING:
    from bayesbox.table.full.classifier import FullClassifier

MOST_NUMBERS = 6  # the most columns whose covariances are shown


def full_work(classifier: FullClassifier, batch: Batch, against: str | None) -> ClassWork:
    """The calculation for a batch of one row."""
    model, columns = classifier.model, classifier.columns_of(batch)
    factors = [prior_factor(model, classifier.book, classifier.rules)]
    ignored = [NoFactor(name, reason) for name, reason in model.ignored.items()]
    before: list[Step] = []
    missing = [name for name in model.columns if value_text(columns.get(name)) is None]
    ignored += [NoFactor(name) for name in missing]
    total, of_table = log_terms(model, columns, 1)[0], np.zeros(len(model.classes))
    codes = None
    if model.table is not None:
        codes = model.table.codes_of(columns, 1)
        of_table = model.table.log_terms(codes)[0]
        if (codes != -1).any():
            factors.append(_table_factor(classifier, columns, codes, of_table))
    if model.normals is not None and not set(model.normals.names) <= set(missing):
        with np.errstate(invalid="ignore"):
            density = np.where(np.isneginf(of_table), 0.0, total - of_table)
        chosen = _normals_of(classifier, codes)
        shown = _Numbers.of(model.normals, columns, missing)
        formulas = ("mixed over the levels that are missing",) * len(density)
        if chosen is not None:
            before, formulas = shown.steps(chosen, model.classes)
            said = tuple(line(text) for text in classifier.notes())
            before += [Step("shrinkage", said)] if said else []
        name = ", ".join(f"{name}={decimal(value)}" for name, value in zip(shown.names, shown.values, strict=True))
        factors.append(Factor(f"P({name} | class)", formulas, tuple(Logged(each) for each in density.tolist())))
    box = BayesBox(model.classes, tuple(factors), tuple(ignored), against=against)
    return box.work(classifier.case_title(batch), before)


def _table_factor(classifier: FullClassifier, columns: Columns, codes: NDArray[np.int32], logs: Doubles) -> Factor:
    """P(tuple | class) as a ratio of counts; from the table if levels are missing, unseen or imputed."""
    model = classifier.model
    assert model.table is not None
    known = [(axis, value_text(columns.get(axis.column))) for axis in model.table.axes]
    name = ", ".join(f"{axis.column}={value or 'missing'}" for axis, value in known if value or axis.missing)
    values: tuple[Number, ...] = tuple(Logged(each) for each in logs.tolist())
    formulas = [""] * len(values)
    joint = classifier.book.with_classes(model.classes).joint
    if (codes >= 0).all() and isinstance(joint, CoMoments):
        counts = expected_counts(joint, model.table.axes)
        place, rule = int(model.table.cell(codes)[0]), classifier.rules.smoothing
        whole = np.array([[Fraction(value) for value in row] for row in counts.tolist()], dtype=object)
        totals = whole.sum(axis=1)
        axis = model.table.axes[0]
        names = [*axis.levels, *([None] * axis.missing)] if len(model.table.axes) == 1 else [None] * counts.shape[1]
        own = Cells(whole[:, place : place + 1], totals, counts.shape[1], names[place : place + 1])
        over, under = ratio(rule, own)
        shares = [divided(a, b) for a, b in zip(over[:, 0], under[:, 0], strict=True)]
        plain = all(Fraction(decimal(float(each))) == each for each in (*own.counts[:, 0], *totals))
        if plain and np.allclose([log_of(share) for share in shares], logs, rtol=0, atol=1e-12):
            values = tuple(shares)
            formulas = [formula(own.counts[c, 0], totals[c], over[c, 0], under[c, 0], rule) for c in range(len(shares))]
    elif (codes == -1).any():
        formulas = ["sum over the levels that are missing"] * len(values)
    return Factor(f"P({name} | class)", tuple(formulas), values)


def _normals_of(classifier: FullClassifier, codes: NDArray[np.int32] | None) -> NDArray[np.int64] | None:
    """The normal of each class; None if the row may be in several cells with their own normals."""
    model = classifier.model
    assert model.normals is not None
    if codes is None or model.table is None or not model.normals.own:
        return model.normals.by_class
    if (codes >= 0).all():
        return model.normals.own.get(int(model.table.cell(codes)[0]), model.normals.by_class)
    return model.normals.by_class if (codes == -2).any() else None


class _Numbers:
    """The non-missing numbers of a row."""

    def __init__(self, normals: JointGaussian, there: list[int], values: list[float]) -> None:
        self.normals, self.there, self.values = normals, there, values
        self.names = tuple(normals.names[place] for place in there)

    @classmethod
    def of(cls, normals: JointGaussian, columns: Columns, missing: list[str]) -> _Numbers:
        there = [place for place, name in enumerate(normals.names) if name not in missing]
        found = normals.numbers_of(columns, 1)
        return cls(normals, there, [float(found[place][0]) for place in there])

    def steps(self, chosen: NDArray[np.int64], classes: tuple[str, ...]) -> tuple[list[Step], tuple[str, ...]]:
        """The steps: mean vectors, covariances, determinants, quadratic forms and densities."""
        there, width = np.array(self.there, dtype=np.int64), len(self.there)
        means = self.normals.mean[np.ix_(chosen, there)]
        covariances = [self.normals.covariance(int(normal))[np.ix_(there, there)] for normal in chosen]
        rows = [self._row(f"mean of {name}", means[:, k]) for k, name in enumerate(self.names)]
        steps = [Step("mean", tuple(rows), classes)]
        if width <= MOST_NUMBERS:
            rows = [
                self._row(f"covariance {label}: {name}", covariance[k])
                for label, covariance in zip(classes, covariances, strict=True)
                for k, name in enumerate(self.names)
            ]
            steps.append(Step("covariance", tuple(rows), self.names))
        else:
            steps.append(Step("covariance", (line(f"covariances of {width} columns: not shown"),)))
        logs, forms = [], []
        for normal, mean in zip(chosen, means, strict=True):
            std = self.normals.std[normal, there]
            root = functions.cholesky(self.normals.correlation[normal][np.ix_(there, there)])
            logs.append(2 * float(functions.log(np.diag(root)).sum() + functions.log(std).sum()))
            low = self.normals.mean_low[normal, there]
            away = np.linalg.solve(root, ((np.array(self.values) - mean) - low) / std)
            forms.append(float(away @ away))
        determinants = Row("determinant of the covariance", tuple(Cell(value=Logged(log)) for log in logs))
        quadratic = Row("(x - mean)' inverse (x - mean)", tuple(Cell(value=form) for form in forms))
        steps.append(Step("density", (determinants, quadratic), classes))
        formulas = tuple(
            f"(2 pi)^-{width / 2:g} {Logged(log).text()}^-0.5 e^-{form / 2:.7g}"
            for log, form in zip(logs, forms, strict=True)
        )
        return steps, formulas

    def _row(self, name: str, values: Doubles) -> Row:
        return Row(name, tuple(Cell(value=float(value)) for value in values))
