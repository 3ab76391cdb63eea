"""The form of a kind of model for the page: a product of factors, tables of families, pairs, or one joint table."""

from __future__ import annotations

from typing import Any

from bayesbox.app.document.tree import PAGE, columns_of, numbers, parts_of, tree_of
from bayesbox.classifier.base import AnyClassifier
from bayesbox.dist.joint.family_table import FamilyTable
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import CannotExport
from bayesbox.file.reader import Json
from bayesbox.rule.discrete import Coding
from bayesbox.table.augmented.model import AugmentedModel
from bayesbox.table.augmented.one_dependence import OneDependenceModel
from bayesbox.table.full.model import FullModel

MOST_NUMBERS = 400_000  # of one table


def form_of(classifier: AnyClassifier) -> Json:
    """The form of a classifier; CannotExport if the page does not support it."""
    model = classifier.model
    if isinstance(model, NaiveModel):
        weights = None if classifier.calibrated is None else classifier.calibrated.weights
        return {"kind": "product", "terms": _terms(model, weights)}
    if isinstance(model, AugmentedModel):
        tables = [_family(each) for each in model.conditionals]
        return {"kind": "families", "classes": len(model.classes), "tables": tables, "coding": _coding(model.coding)}
    if isinstance(model, OneDependenceModel):
        return _one_dependence(model)
    if isinstance(model, FullModel) and model.normals is None and model.table is not None:
        return _joint(model)
    why = (
        "numbers that depend on each other"
        if isinstance(model, FullModel)
        else f"a model of the kind {classifier.kind}"
    )
    raise CannotExport(f"{PAGE} does not support {why}", remedy="Open it in the app, which uses the library")


def _terms(model: NaiveModel, weights: Any) -> list[Json]:
    found = []
    for distribution in model.conditionals:
        weight = model.weight_of(distribution)
        calibrated = weight if weights is None else weights.get(distribution.columns[0], 1.0)
        for part in parts_of(tree_of(distribution)):
            column = next(iter(columns_of(part)), distribution.columns[0])
            found.append({"column": column, "tree": part, "weight": weight, "calibrated": max(calibrated, 0.0)})
    return found


def _coding(coding: Coding) -> list[Json]:
    return [
        {
            "column": name,
            "levels": list(variable.levels),
            "cuts": None if variable.cuts is None else numbers(variable.cuts),
            "flag": coding.schema.kinds[name].is_flag,
            "unseen": coding.schema.kinds[name].unseen or coding.unseen,
        }
        for name, variable in coding.variables.items()
    ]


def _family(table: FamilyTable) -> Json:
    return {
        "column": table.column,
        "parents": list(table.parents),
        "sizes": list(table.sizes),
        "levels": len(table.levels),
        "logP": _table(table.log_p, table.column),
    }


def _one_dependence(model: OneDependenceModel) -> Json:
    slots = int(model.first_slot[-1])
    return {
        "kind": "one-dependence",
        "names": list(model.names),
        "coding": _coding(model.coding),
        "firstSlot": model.first_slot.tolist(),
        "isParent": model.is_parent.tolist(),
        "naive": _table(model.naive.reshape(slots, -1), "the classes"),
        "table": _table(model.table.reshape(slots, slots, -1), "pairs of columns"),
        "alone": [_family(each) for each in model.alone],
    }


def _joint(model: FullModel) -> Json:
    table = model.table
    assert table is not None
    axes = [
        {"column": each.column, "levels": list(each.levels), "missing": each.missing, "flag": each.flag}
        for each in table.axes
    ]
    log_p, log_unseen = _table(table.log_p, "all columns together"), numbers(table.log_unseen)
    return {"kind": "joint", "axes": axes, "logP": log_p, "logUnseen": log_unseen, "unseen": table.unseen}


def _table(values: Any, what: str) -> Any:
    if values.size > MOST_NUMBERS:
        raise CannotExport(f"the table of {what} has {values.size:,} numbers, too many for {PAGE}", found=values.size)
    return numbers(values)
