"""When a double is the right one for an exact answer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

RELATIVE = 1e-12


def near(exact: Any) -> Any:
    """A value to compare with `==`: within 1e-12 of a fraction (or of a list of them), and 0 for 0 only."""
    if isinstance(exact, (list, tuple)):
        return pytest.approx([float(value) for value in exact], rel=RELATIVE, abs=0)
    return pytest.approx(float(exact), rel=RELATIVE, abs=0)


def joint(clf: Any, row: dict[str, Any]) -> dict[Any, float]:
    """P(class, x) of one row by class."""
    (logs,) = clf.joint_log_proba([row])
    return dict(zip(clf.classes_.tolist(), np.exp(logs).tolist(), strict=True))


def posterior(clf: Any, row: dict[str, Any]) -> dict[Any, float]:
    """P(class | x) of one row by class."""
    (row_of_p,) = clf.predict_proba([row])
    return dict(zip(clf.classes_.tolist(), row_of_p.tolist(), strict=True))


def normalised(weights: dict[Any, Fraction]) -> dict[Any, Fraction]:
    """Weights divided by their sum."""
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}
