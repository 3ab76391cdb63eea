"""`bayes token`."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, note, say, table
from bayesbox.errors import BadOption

if TYPE_CHECKING:
    from bayesbox.serve.store.base import Store, TokenRecord

SCOPES = ("predict", "learn", "forget", "admin")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
PREFIX = "bb_"


def duration(text: str) -> float:
    """Seconds of a time such as 90d, 12h or 1y.

    >>> duration("90d"), duration("12h")
    (7776000.0, 43200.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdwy])", text.strip())
    if found is None or not float(found[1]):
        raise BadOption("a time is written 90d, 12h, 30m or 1y", found=text)
    return float(found[1]) * UNITS[found[2]]


DURATION = options.Read("time", duration)


@click.command(
    "token",
    cls=options.Verb,
    short_help="Create, list or revoke the tokens of a service.",
    examples=(
        "bayes token create models --scope predict",
        "bayes token create models --scope predict --scope learn --expires 90d --label web --json",
        "bayes token list models",
        "bayes token revoke models --id 3f9a1c20",
    ),
    notes="Scopes: predict (models, infer, predict, explain, ask, what-if, drift, openapi), learn, forget (and "
    "certificates), admin (audit, reload). One scope does not include another. Keys of --json: create has token, id, "
    "scopes, expires, label; list has tokens (id, scopes, label, created, expires, revoked, valid); revoke has id, "
    "revoked. Times are in seconds since 1970.",
)
@click.argument("action", type=click.Choice(["create", "list", "revoke"]))
@click.argument("folder", metavar="DIR")
@click.option("--scope", "scopes", type=click.Choice(SCOPES), multiple=True, help="create: what it may do; repeat it.")
@click.option(
    "--expires",
    type=DURATION,
    metavar="TIME",
    help="create: expire after this time, such as 90d or 12h; never by default.",
)
@click.option("--label", default="", metavar="TEXT", help="create: whom or what it is for.")
@click.option("--id", "token_id", metavar="ID", help="revoke: the id of the token, as list prints it.")
@click.option("--store", metavar="URL", help="The store of the service; by default sqlite:///DIR/store.db.")
@options.json_option
def command(
    action: str,
    folder: str,
    scopes: tuple[str, ...],
    expires: float | None,
    label: str,
    token_id: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Create, list or revoke the tokens for requests to a service: Authorization: Bearer TOKEN.

    A token is printed once, when it is created; the store keeps its SHA-256. A running service accepts it immediately,
    and rejects a revoked one within a second.
    """
    from bayesbox.serve.http.server import default_store
    from bayesbox.serve.store.base import open_store

    if not Path(folder).is_dir():
        raise BadOption("DIR must be the folder of the service", found=folder, remedy="Pass the folder")
    if action == "create" and not scopes:
        raise click.UsageError("a token needs a scope: --scope predict")
    if action == "revoke" and token_id is None:
        raise click.UsageError("revoke needs the token: --id ID, as bayes token list prints it")
    if action != "create" and (scopes or expires is not None or label):
        raise click.UsageError(f"--scope, --expires and --label go with create, not with {action}")
    if action != "revoke" and token_id is not None:
        raise click.UsageError(f"--id applies to revoke, not to {action}")
    with open_store(store or default_store(folder)) as opened:
        if action == "create":
            _create(opened, scopes, expires, label, as_json=as_json)
        elif action == "list":
            _list(opened, as_json=as_json)
        else:
            assert token_id is not None
            opened.revoke(token_id)
            if as_json:
                emit_json({"id": token_id, "revoked": True})
            else:
                note(f"token {token_id} is revoked")


def _create(store: Store, scopes: tuple[str, ...], expires: float | None, label: str, *, as_json: bool) -> None:
    import hashlib
    import secrets

    token = PREFIX + secrets.token_urlsafe(32)
    until = None if expires is None else time.time() + expires
    chosen = [scope for scope in SCOPES if scope in scopes]
    made = store.add_token(hashlib.sha256(token.encode()).hexdigest(), chosen, until, label)
    if as_json:
        emit_json({"token": token, "id": made, "scopes": chosen, "expires": until, "label": label})
        return
    say(token)
    note(f"id {made}, {', '.join(chosen)}{_until(until)}. It is shown only now: keep it secret.")


def _until(expires: float | None) -> str:
    return "" if expires is None else f", until {_day(expires)}"


def _day(seconds: float | None) -> str:
    return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def _list(store: Store, *, as_json: bool) -> None:
    found = store.tokens()
    now = time.time()
    if as_json:
        emit_json({"tokens": [_facts(each, now) for each in found]})
        return
    rows = [
        [each.id, ", ".join(each.scopes), each.label, _day(each.created), _day(each.expires), _state(each, now)]
        for each in found
    ]
    table(["id", "scopes", "label", "created", "expires", "state"], rows)


def _state(token: TokenRecord, now: float) -> str:
    return "valid" if token.is_valid(now) else "revoked" if token.revoked is not None else "expired"


def _facts(token: TokenRecord, now: float) -> dict[str, object]:
    return {
        "id": token.id,
        "scopes": list(token.scopes),
        "label": token.label,
        "created": token.created,
        "expires": token.expires,
        "revoked": token.revoked,
        "valid": token.is_valid(now),
    }
