"""`bayes key`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, note
from bayesbox.errors import BadOption


@click.command(
    "key",
    cls=options.Verb,
    short_help="Make a pair of keys to sign certificates with.",
    examples=("bayes key company",),
    notes="The keys are Ed25519 in PEM format, as openssl genpkey -algorithm ed25519 makes them too. "
    "Keys of --json: private_key, public_key (the names of the files).",
)
@click.argument("name")
@options.json_option
def command(name: str, as_json: bool) -> None:
    """Make a pair of keys: NAME.pem, which signs and is kept secret, and NAME.pub.pem, which checks and is published.

    `bayes forget --key NAME.pem` signs the certificate of a forgetting, and `bayes verify --public-key NAME.pub.pem`
    checks it. Files that are there already are not overwritten.
    """
    from bayesbox.classifier.signature import new_key_pair

    private, public = Path(f"{name}.pem"), Path(f"{name}.pub.pem")
    for path in (private, public):
        if os.path.lexists(path):
            raise BadOption("this file is there already, and a key is not overwritten", where=str(path))
    secret, open_part = new_key_pair()
    _write(private, secret, mode=0o600)
    _write(public, open_part, mode=0o644)
    if as_json:
        emit_json({"private_key": str(private), "public_key": str(public)})
        return
    note(f"private key in {private}: keep it secret; bayes forget --key {private} signs with it")
    note(f"public key in {public}: give it to whoever checks; bayes verify --public-key {public}")


def _write(path: Path, data: bytes, *, mode: int) -> None:
    """A new file, which nobody else may read from its first byte on where its mode says so."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, mode), "wb") as file:
        file.write(data)
