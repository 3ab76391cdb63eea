"""The output for the calibration of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.file.reader import Json


def calibration_facts(classifier: AnyClassifier) -> Json | None:
    """The calibration and the held-out log loss before and after it, for JSON."""
    found, choice = classifier.calibrated, classifier.chosen
    if found is None and choice is None:
        return None
    facts: Json = {"name": "none", "asked": classifier.calibrate, "kind": None}
    if found is not None:
        kind = None if found.calibration is None else found.calibration.kind
        facts |= {"name": found.name, "asked": found.asked, "kind": kind}
        if found.held_out is not None:
            loss = found.held_out
            facts |= {"rows": loss.rows, "log_loss_before": loss.before, "log_loss_after": loss.after}
        if found.weights is not None:
            facts["column_weights"] = dict(found.weights)
    if choice is not None:
        facts |= {"rows": choice.rows, "log_loss_before": choice.before, "log_loss_after": choice.after}
        facts |= {"standard_error": choice.error, "candidates": dict(choice.losses)}
    return facts


def calibration_lines(classifier: AnyClassifier) -> Iterator[str]:
    """The calibration as lines of text."""
    from bayesbox.cli.print.reports import weights_text

    facts = calibration_facts(classifier)
    if facts is None:
        return
    text = f"calibration: {facts['name']}"
    if "rows" in facts:
        before, after = facts["log_loss_before"], facts["log_loss_after"]
        text += f"; log loss of {facts['rows']:,} held-out rows "
        if facts["name"] == "none":
            text += f"{before:.3f}; no calibration lowers it by a standard error"
        else:
            text += f"{before:.3f} before, {after:.3f} after"
    yield text
    if "column_weights" in facts:
        yield f"calibrated {weights_text(facts['column_weights'])}"


def stale_lines(classifier: AnyClassifier, path: str) -> Iterator[str]:
    """The remedy for a stale calibration or stale weights, as lines of text."""
    if classifier.stale:
        what = "calibration" if classifier.calibrated is not None else "column weights"
        yield f"stale: the {what} does not take the latest rows into account; refit with bayes calibrate {path} DATA"
