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
    short_help="Create a key pair for signing certificates.",
    examples=("bayes key company", "bayes key keys/company --json"),
    notes="The keys are Ed25519 in PEM format, like those of openssl genpkey -algorithm ed25519. Keys of --json: "
    "private_key, public_key (the file names).",
)
@click.argument("name")
@options.json_option
def command(name: str, as_json: bool) -> None:
    """Create a key pair: NAME.pem signs and must be kept secret, NAME.pub.pem verifies and can be published.

    Sign the certificate of a forget with bayes forget --key NAME.pem, and check it with bayes verify --public-key
    NAME.pub.pem. Existing files are not overwritten.
    """
    from bayesbox.classifier.signature import new_key_pair

    private, public = Path(f"{name}.pem"), Path(f"{name}.pub.pem")
    for path in (private, public):
        if os.path.lexists(path):
            raise BadOption("this file already exists, and keys are never overwritten", where=str(path))
    secret, open_part = new_key_pair()
    _write(private, secret, mode=0o600)
    _write(public, open_part, mode=0o644)
    if as_json:
        emit_json({"private_key": str(private), "public_key": str(public)})
        return
    note(f"private key written to {private}: keep it secret; sign with bayes forget --key {private}")
    note(f"public key written to {public}: give it to those who verify, with bayes verify --public-key {public}")


def _write(path: Path, data: bytes, *, mode: int) -> None:
    """Write a new file, with its mode set before the first byte is written."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, mode), "wb") as file:
        file.write(data)
