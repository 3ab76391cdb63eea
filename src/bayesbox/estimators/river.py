"""An estimator as a river classifier; river's evaluation requires its base class. The only module that imports
river."""

from __future__ import annotations

from typing import Any

from river import base
from sklearn.base import clone as unfitted


class RiverClassifier(base.Classifier):  # type: ignore[misc]
    """An estimator with river's interface; before its first row it predicts None."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one row with a weight."""
        self.estimator.learn_one(_row(x), y, weight=None if w == 1 else w)

    def predict_proba_one(self, x: dict[Any, Any], **_: Any) -> dict[Any, float]:
        """P(class | x) by label."""
        return self.estimator.predict_proba_one(_row(x)) if hasattr(self.estimator, "classifier_") else {}

    def predict_one(self, x: dict[Any, Any], **_: Any) -> Any:
        """The most probable class."""
        return self.estimator.predict_one(_row(x)) if hasattr(self.estimator, "classifier_") else None

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> RiverClassifier:
        """An untrained copy."""
        if include_attributes:
            return RiverClassifier(self.estimator)
        return RiverClassifier((new_params or {}).get("estimator") or unfitted(self.estimator))


def _row(x: dict[Any, Any]) -> dict[Any, Any]:
    """A row with column names as strings; river's own datasets may use integers."""
    return x if all(type(name) is str for name in x) else {str(name): value for name, value in x.items()}
