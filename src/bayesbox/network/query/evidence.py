"""Evidence as the user gives it, for one case or many, and the error if it has probability 0."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import islice
from numbers import Real
from typing import Any

from bayesbox.errors import BadData, ImpossibleEvidence
from bayesbox.source.shapes import holds_values

Evidence = Mapping[Any, Any]


def is_likelihood(value: object) -> bool:
    """Whether a value is a finite non-negative number."""
    try:
        return isinstance(value, Real | Decimal) and 0 <= float(value) < math.inf
    except OverflowError:
        return False


def impossible_evidence(evidence: Evidence | None) -> ImpossibleEvidence:
    """The error for evidence that has probability 0."""
    return impossible(_finding_text(name, value) for name, value in mapping_of(evidence).items())


def impossible(evidence: Iterable[str]) -> ImpossibleEvidence:
    """The error for findings given as text."""
    known = ", ".join(islice(evidence, 8))
    return ImpossibleEvidence(f"the evidence has probability 0: {known or 'none'}")


def _finding_text(name: object, value: object) -> str:
    """A finding in the notation of questions, rounded."""
    if not isinstance(value, Mapping):
        return f"{name}={value}"
    return f"{name}~({', '.join(f'{state}:{float(number):g}' for state, number in value.items())})"


def case_of(evidence: object) -> Any:
    """A row of a pandas DataFrame as a dict; anything else unchanged."""
    return evidence.to_dict() if type(evidence).__name__ == "Series" and hasattr(evidence, "to_dict") else evidence


def mapping_of(evidence: object) -> Mapping[Any, Any]:
    """The evidence of one case as a mapping; an error for a DataFrame, which has many."""
    found = case_of(evidence)
    if found is not None and not isinstance(found, Mapping):
        raise BadData(
            "evidence must be one case: a dict from node to state",
            found=type(found).__name__,
            remedy="For several cases, pass a data frame to posteriors(...)",
        )
    return found or {}


def has_columns(evidence: Mapping[Any, Any]) -> bool:
    """Whether a mapping has columns of values rather than one value per node."""
    return any(type(value) is not str and holds_values(value) for value in evidence.values())
