"""The format of a store: recorded on creation, checked on opening, and upgraded step by step.

    1   the first
    2   adds `models.retrained`, a number in every row, and `certificates.retrained`
    3   adds `models.file_sha256`: the model file, which differs from the base once it is retrained

A step runs in one transaction with the new format number and a record in the audit log, so a store always has a
complete format. Steps only add: a running process of the previous version keeps working.
"""

from __future__ import annotations

from collections.abc import Callable

from bayesbox.errors import StoreFailed
from bayesbox.serve import audit
from bayesbox.serve.store.database import Transaction
from bayesbox.serve.store.events import new_key

FORMAT = 3


def settle(transaction: Transaction) -> str:
    """The HMAC key of a store; creates the key if needed and upgrades the format."""
    transaction.lock_audit()  # if several processes open the store at once, one creates and upgrades it
    found = _settings(transaction)
    if not found:
        found = {"format": str(FORMAT), "hmac_key": new_key()}
        transaction.execute_many("INSERT INTO settings (name, value) VALUES (?, ?)", list(found.items()))
    before = number = _number(found)
    while number < FORMAT:
        STEPS[number](transaction)
        number += 1
    if number > before:
        transaction.execute("UPDATE settings SET value = ? WHERE name = 'format'", (str(number),))
        audit.append(transaction, "upgrade", None, {"format": number, "before": before})
    return found["hmac_key"]


def require_current(transaction: Transaction) -> None:
    """Raise an error for a store of another format, for read-only use."""
    number = _number(_settings(transaction))
    if number < FORMAT:
        raise StoreFailed(
            f"the store has format {number} of an earlier version, and this version reads format {FORMAT}",
            remedy="Open it once with bayes serve or bayes token, which bring it up to date",
        )


def _settings(transaction: Transaction) -> dict[str, str]:
    return dict(transaction.query("SELECT name, value FROM settings"))


def _number(settings: dict[str, str]) -> int:
    text = settings.get("format", "")
    if not text.isdecimal() or "hmac_key" not in settings:
        raise StoreFailed("the store is damaged: its settings are incomplete", remedy="Restore a back-up")
    if int(text) > FORMAT:
        raise StoreFailed(
            f"the store has format {text}, and this version reads formats up to {FORMAT}",
            remedy="Upgrade bayesbox: pip install --upgrade bayesbox",
        )
    return int(text)


def _with_retraining(transaction: Transaction) -> None:
    """From 1 to 2: the last event that the derived parts include; none if unknown."""
    if "retrained" not in transaction.columns("models"):
        transaction.execute("ALTER TABLE models ADD COLUMN retrained BIGINT NOT NULL DEFAULT 0")
    transaction.execute("UPDATE models SET retrained = 0 WHERE retrained IS NULL")
    if "retrained" not in transaction.columns("certificates"):
        transaction.execute("ALTER TABLE certificates ADD COLUMN retrained TEXT")


def _with_files(transaction: Transaction) -> None:
    """From 2 to 3: the file of a model was its base, as far as known."""
    transaction.execute("ALTER TABLE models ADD COLUMN file_sha256 TEXT NOT NULL DEFAULT ''")
    transaction.execute("UPDATE models SET file_sha256 = base_sha256")


STEPS: dict[int, Callable[[Transaction], None]] = {1: _with_retraining, 2: _with_files}
"""The upgrade steps by format."""
