"""Calibration of naive Bayes on the tables of a folder: the calibration error at least halved, the log loss no worse.

Ten-fold cross-validation that learns the calibration anew in every fold, of each kind, and of the kind that `auto`
chooses: this one is to reach the targets on every table.
"""

from __future__ import annotations

import warnings

import auto
import harness
from bayesbox.classifier.evaluate import cross_validate
from bayesbox.classifier.registry import new_classifier
from bayesbox.source.base import OneBatch
from bayesbox.source.frames import batch_of

TABLES = ("adult-train", "letter", "nursery", "mushroom")
KINDS = ("auto", "temperature", "isotonic", "dirichlet")
HALF, WORSE = 0.5, 1.01


def run(session: harness.Session) -> None:
    if session.data is None:
        return
    warnings.simplefilter("ignore")
    for name, X, y in auto.tables(session.data):
        if name not in TABLES:
            continue
        source = OneBatch(batch_of(X.assign(**{"the class": y})))
        for kind in KINDS[:1] if session.quick else KINDS:
            classifier = new_classifier("naive", {"calibrate": kind})
            found = cross_validate(classifier, source, "the class", folds=10)
            assert found.before is not None
            error, before = found.metrics.calibration_error, found.before.calibration_error
            loss, plain = found.metrics.log_loss.value, found.before.log_loss.value
            work = f"{name}, {kind}: "
            session.add(
                harness.Result(
                    f"{work}calibration error",
                    f"{error:.4f}",
                    "<= half",
                    error <= HALF * before,
                    "uncalibrated",
                    f"{before:.4f}",
                    f"{before / error:.1f}x",
                )
            )
            session.add(
                harness.Result(
                    f"{work}log loss",
                    f"{loss:.4f}",
                    "<= +1 %",
                    loss <= WORSE * plain,
                    "uncalibrated",
                    f"{plain:.4f}",
                    f"{plain / loss:.1f}x",
                )
            )


if __name__ == "__main__":
    harness.main(run)
