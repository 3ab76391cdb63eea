"""`bayes verify DIR`: check the store of a service by recounting its base and its events."""

from __future__ import annotations

from bayesbox.cli.print.output import emit_json, say
from bayesbox.errors import BadData


def verify_folder(folder: str, store: str | None, public_key: str | None, *, as_json: bool) -> None:
    """Recount every model of a store and print the result; an error if the store is not consistent."""
    from bayesbox.classifier.signature import load_public_key
    from bayesbox.serve.store.base import open_database, store_url
    from bayesbox.serve.verify import verify_store

    key = None if public_key is None else load_public_key(public_key)
    database = open_database(store_url(folder, store))
    try:
        found = verify_store(database, public_key=key)
    finally:
        database.close()
    if as_json:
        log = {"holds": found.audit.holds, "records": found.audit.records, "head": found.audit.head}
        emit_json(
            {
                "holds": found.holds,
                "models": [each.to_json() for each in found.models],
                "audit": {**log, "faults": found.audit.faults},
            }
        )
    else:
        for model in found.models:
            counted = f"{model.events:,} events on {model.rows - model.events:,} rows of the base"
            kept = f"{model.snapshots:,} snapshots, {model.certificates:,} certificates"
            say(f"{'right' if model.holds else 'WRONG':<6} {model.name}: {counted}, {kept}, digest {model.counted}")
            for fault in model.faults:
                say(f"       {fault}")
        say(f"{'right' if found.audit.holds else 'WRONG':<6} audit log: {found.audit.records:,} records")
        for fault in found.audit.faults:
            say(f"       {fault}")
    if not found.holds:
        raise BadData(
            "the store does not hold what its events give",
            where=folder,
            remedy="Restore a back-up, or find out who changed it",
        )
