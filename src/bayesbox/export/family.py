"""The expressions of a model's families for an exporter, or the error if one has none."""

from __future__ import annotations

from bayesbox.described import parameter
from bayesbox.dist.base import Distribution
from bayesbox.dist.expression import Expression, Operation, constant
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import CannotExport


def weighted_terms(model: NaiveModel, language: str) -> list[Expression]:
    """The terms of the columns times their weights; a sum as its parts."""
    terms: list[Expression] = []
    for distribution in model.conditionals:
        term, weight = expression_of(distribution, language), model.weight_of(distribution)
        parts = term.operands if isinstance(term, Operation) and term.name == "add" else [term]
        terms += [part if weight == 1 else constant(weight) * part for part in parts]
    return terms


def expression_of(distribution: Distribution, language: str) -> Expression:
    """The expression tree of a family."""
    found = distribution.expression()
    if found is None:
        raise refusal(distribution, language)
    return found


def refusal(distribution: Distribution, language: str) -> CannotExport:
    """The error for a family that cannot be exported to a language."""
    columns = ", ".join(f"`{name}`" for name in distribution.columns)
    name = distribution.family or type(distribution).__name__.lower()
    return CannotExport(
        f"the {name} distribution of {columns} cannot be exported to {language}",
        remedy="Train with " + parameter("numeric", "gaussian") + ", or ignore the column"
        if distribution.has_density
        else "Use another density for the column, or ignore it",
    )
