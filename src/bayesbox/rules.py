"""The smoothing rules by their public names."""

from bayesbox.rule.smoothing import (
    AsWritten,
    Laplace,
    Lidstone,
    MaximumLikelihood,
    MEstimate,
    PriorCounts,
    ReplaceZero,
)

__all__ = [
    "AsWritten",
    "Laplace",
    "Lidstone",
    "MEstimate",
    "MaximumLikelihood",
    "PriorCounts",
    "ReplaceZero",
]
