"""Retraining of derived parts, such as a calibration or cut points, from the events.

Tallies follow every event; derived parts do not. After some events, and after a forget, they are retrained in the
background and replaced in a separate transaction. Three cases:

- With the rows that the base was trained on (`rows` of `attach`), everything is retrained on these rows and the events.
- Without them a calibration and the weights of columns are retrained on the events, each held out in turn; cut points,
  parents and the like stay as in the base, and the state of the model lists them as stale.
- A model that cannot count single events, such as AutoBayes, is then trained on the events only, once there are as many
  as the base has rows.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayesbox.classifier.calibration.learn import calibrate_again
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.train import labelled_rows
from bayesbox.errors import CannotForget
from bayesbox.file.save import to_bytes
from bayesbox.serve import audit
from bayesbox.serve.live import changed, counts_events, derived_parts, lost_calibration, rows_of, with_tallies
from bayesbox.serve.store.bases import rebase, sha256_of_base
from bayesbox.serve.store.database import Transaction
from bayesbox.serve.store.events import StoredEvent
from bayesbox.serve.store.held import (
    Held,
    base_of,
    events_between,
    put_snapshot,
    read_snapshot,
    snapshots,
    write_head,
)

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier

FEWEST = 200  # the fewest events for a calibration
MOST = 100_000  # events; with more, the newest


@dataclass(frozen=True)
class Retrained:
    """A retrained model, and what it was trained on: it is discarded if the store has changed otherwise.

    `whole` is whether the base was retrained too; otherwise the tallies do not change.
    """

    classifier: AnyClassifier
    whole: bool
    sequence: int
    erasures: int
    events: int


def can_retrain(held: Held, rows: str | None) -> bool:
    """Whether a part of a model can be retrained."""
    classifier = held.classifier
    if rows is not None and derived_parts(classifier):
        return True
    if not counts_events(classifier):
        return _outnumber(held)
    return classifier.learned_beyond_counts() or lost_calibration(classifier)


def _outnumber(held: Held) -> bool:
    """Whether the events may replace the base: there are as many as its rows, or it was trained on events before."""
    head = held.head
    events = head.rows - head.base_rows
    return events >= max(FEWEST, head.base_rows) if head.base_rows else events > 0


def awaits_retraining(transaction: Transaction, held: Held) -> bool:
    """Whether something was forgotten since the model was last trained."""
    statement = "SELECT COUNT(*) FROM certificates WHERE model = ? AND retrained IS NULL"
    return bool(transaction.query(statement, (held.head.number,))[0][0])


def events_left(transaction: Transaction, held: Held) -> list[StoredEvent]:
    """All events of a model."""
    return [event for some in events_between(transaction, held.head, 0, held.head.sequence) for event in some]


def retrained(held: Held, events: Sequence[StoredEvent], rows: str | None) -> Retrained | None:
    """Retrain a model; None if there are too few events."""
    head = held.head
    whole = rows is not None or not counts_events(held.classifier)
    if whole:
        classifier = _on_all_rows(held.classifier, rows, events)
    else:
        if len(events) < FEWEST and not (events and head.retrained):
            return None
        classifier = _on_events(held.classifier, events[-MOST:])
    return Retrained(classifier, whole, head.sequence, head.erasures, len(events))


def take_over(transaction: Transaction, held: Held, new: Retrained) -> Held | None:
    """Adopt a retrained model; None if something was forgotten since."""
    if held.head.erasures != new.erasures:
        return None
    details = {"events": new.events, "trained": new.sequence, "derived": list(derived_parts(new.classifier))}
    if new.whole:
        counting = counts_events(new.classifier)
        base = new.classifier
        held = rebase(
            transaction,
            held,
            base,
            to_bytes(base),
            action="retrain",
            details=details,
            retrained=new.sequence,
            absorbed=0 if counting else new.events,
        )
    else:
        held = _exchanged(transaction, held, new, details)
    mark = {"sequence": held.head.sequence, "time": time.time(), "digest": held.head.digest}
    transaction.execute(
        "UPDATE certificates SET retrained = ? WHERE model = ? AND retrained IS NULL",
        (json.dumps(mark), held.head.number),
    )
    return held


def _exchanged(transaction: Transaction, held: Held, new: Retrained, details: dict[str, Any]) -> Held:
    """Put the derived parts into the base and every snapshot; the tallies do not change."""
    head = held.head
    old = base_of(transaction, head)
    assert old.schema is not None
    data = to_bytes(with_tallies(new.classifier, old.schema, old.book))
    transaction.execute("UPDATE bases SET data = ? WHERE model = ?", (data, head.number))
    for sequence, _ in snapshots(transaction, head):
        saved = read_snapshot(transaction, head, sequence)
        assert saved.schema is not None
        put_snapshot(transaction, head, sequence, with_tallies(new.classifier, saved.schema, saved.book))
    assert held.classifier.schema is not None
    classifier = with_tallies(new.classifier, held.classifier.schema, held.classifier.book)
    head = replace(
        head,
        base_sha256=sha256_of_base(data),
        changes=head.changes + 1,
        erasures=head.erasures + 1,
        retrained=new.sequence,
    )
    write_head(transaction, head)
    facts = {"base": head.base_sha256, "digest": head.digest, "sequence": head.sequence}
    audit.append(transaction, "retrain", head.name, {**facts, **details})
    return replace(held, head=head, classifier=classifier)


def _on_events(classifier: AnyClassifier, events: Sequence[StoredEvent]) -> AnyClassifier:
    """The calibration and the weights retrained on the events that the model has counted."""
    result = classifier.changed()
    kind = classifier.calibrate or (None if classifier.calibrated is None else classifier.calibrated.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calibrate_again(result, rows_of(classifier, events), kind)
    return result


def _on_all_rows(classifier: AnyClassifier, rows: str | None, events: Sequence[StoredEvent]) -> AnyClassifier:
    """A model trained on the rows of the base, if available, and the events, with the events subtracted from its
    tallies."""
    parts = [] if rows is None else training_rows(classifier, rows)
    parts = parts + rows_of(classifier, events)
    kind = classifier.calibrate or (None if classifier.calibrated is None else classifier.calibrated.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = classifier.unfitted_clone().with_calibration(kind)
        result.learn_all(parts)
    return changed(result, events, forget=True)[0]


def training_rows(classifier: AnyClassifier, rows: str) -> list[LabelledRows]:
    """The training rows of a file, as the model reads them."""
    opened = classifier.open_rows(rows)
    if not opened.target:
        raise CannotForget("the model does not say which column of its training rows held the classes", where=rows)
    return [labelled_rows(batch, opened.target, where=rows) for batch in opened.source.batches()]
