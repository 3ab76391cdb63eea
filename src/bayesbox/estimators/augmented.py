"""What the estimators share in which columns depend on each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayesbox.estimators.base import TableEstimator
from bayesbox.rule.smoothing import as_smoothing
from bayesbox.table.augmented.classifier import BACK_OFF, AugmentedClassifier, as_backoff


class AugmentedEstimator(TableEstimator):
    """A table estimator with back-off, bins for numbers, and the parameters of these."""

    smoothing: Any
    numeric: str
    prior_smoothing: Any
    unseen: str
    columns: Mapping[Any, Any] | None
    fold: Mapping[str, Sequence[str]] | None

    def _common_rules(self) -> dict[str, Any]:
        return {
            "smoothing": as_backoff(self.smoothing),
            "prior_smoothing": None if self.prior_smoothing is None else as_smoothing(self.prior_smoothing),
            "prior": self.prior,
            "numeric": self.numeric,
            "unseen": self.unseen,
        }

    @staticmethod
    def _common_parameters(classifier: AugmentedClassifier) -> dict[str, Any]:
        rules = classifier.rules
        return {
            "smoothing": BACK_OFF if rules.smoothing is None else rules.smoothing,
            "prior_smoothing": rules.prior_smoothing,
            "prior": rules.prior,
            "numeric": rules.numeric,
            "unseen": rules.unseen,
            "columns": classifier.declared,
            "fold": classifier.fold or None,
        }

    @property
    def cuts_(self) -> dict[str, tuple[float, ...]]:
        """The cut points of the bins, by column of numbers."""
        self._require_fitted()
        return dict(self.classifier_.cuts)  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
