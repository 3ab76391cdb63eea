"""The certificate of a forgetting: what the tallies were, what was taken out, what they are now.

    digest before = digest of (tallies now + tallies of the rows)

Whoever has the rows that are left can train on them alone and compare: the digest must be the one after. Anybody can
write such a file, so `check` says of every statement whether it was checked, and by what it could be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from bayesbox.classifier.signature import Signature, is_signed_by, sign
from bayesbox.errors import BadData
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from bayesbox.file.reader import Json

FORMAT = "bayesbox certificate 2"
FIRST_FORMAT = "bayesbox certificate 1"
"""That of 0.1, which knows no signature."""
HEX = frozenset("0123456789abcdef")
FIELDS = {"format", "before", "rows", "after", "count", "derived"}


class Outcome(StrEnum):
    """What became of checking a statement."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Statement:
    """Something that a certificate states: whether it was checked, and where it was not, what would check it.

    `binds` is one about the rows or the signer; the others hold of any certificate that was made to fit a model.
    """

    name: str
    outcome: Outcome
    needs: str = ""
    binds: bool = False


@dataclass(frozen=True)
class Certificate:
    """SHA-256 digests of the tallies before, of the rows taken out, and after; how many rows these were.

    `derived` names what was learned from the rows and is not a tally, so that subtracting does not undo it.
    """

    before: str
    rows: str
    after: str
    count: int
    derived: tuple[str, ...] = ()
    signature: Signature | None = None

    def text(self) -> str:
        """The certificate as JSON."""
        signature = None if self.signature is None else self.signature.to_json()
        return json.dumps({**self._fields(), "signature": signature}, indent=2) + "\n"

    def _fields(self) -> Json:
        return {
            "format": FORMAT,
            "before": self.before,
            "rows": self.rows,
            "after": self.after,
            "count": self.count,
            "derived": list(self.derived),
        }

    def signed_bytes(self) -> bytes:
        """What a signature signs: all but the signature, as JSON in ASCII with sorted keys and without spaces."""
        return json.dumps(self._fields(), sort_keys=True, separators=(",", ":")).encode("ascii")

    def signed(self, key: Ed25519PrivateKey) -> Certificate:
        """The same, signed."""
        return replace(self, signature=sign(self.signed_bytes(), key))

    @classmethod
    def of(cls, before: Book, taken: Book, after: Book, count: int, derived: tuple[str, ...] = ()) -> Certificate:
        """The certificate of taking `taken` out of `before`."""
        return cls(before.digest(), taken.digest(), after.digest(), count, derived)

    @classmethod
    def from_text(cls, text: str, *, where: str) -> Certificate:
        """A certificate read back; anything else is refused."""
        try:
            fields = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            raise BadData("not a certificate: this is not JSON", where=f"{where}{line}") from None
        if not isinstance(fields, dict) or set(fields) != _fields_of(fields.get("format")):
            raise BadData("this is not a certificate of a forgetting", where=where, remedy=f"Its format is {FORMAT!r}")
        for name in ("before", "rows", "after"):
            if not (isinstance(fields[name], str) and len(fields[name]) == 64 and set(fields[name]) <= HEX):
                raise BadData(f"`{name}` must be a SHA-256 digest in hex", where=where, found=fields[name])
        if isinstance(fields["count"], bool) or not isinstance(fields["count"], int) or fields["count"] < 0:
            raise BadData("`count` must be a number of rows", where=where, found=fields["count"])
        derived = fields["derived"]
        if not isinstance(derived, list) or not all(isinstance(item, str) for item in derived):
            raise BadData("`derived` must be a list of names", where=where, found=derived)
        try:
            signature = None if fields.get("signature") is None else Signature.from_json(fields["signature"])
        except ValueError as error:
            raise BadData(str(error), where=where) from None
        return cls(fields["before"], fields["rows"], fields["after"], fields["count"], tuple(derived), signature)

    def check(
        self,
        *,
        model: Book,
        rows: Book | None = None,
        rest: Book | None = None,
        count: int | None = None,
        public_key: Ed25519PublicKey | None = None,
    ) -> tuple[Statement, ...]:
        """Every statement of the certificate: of the model after, of the rows taken out, of those that are left.

        `count` is how many rows were taken out, where it is known.
        """
        after = model if rest is None else rest
        return (
            self._check_signature(public_key),
            _statement("the model has the tallies after", model.digest() == self.after),
            _statement(
                "the rows are those taken out",
                None if rows is None else rows.digest() == self.rows and count in (None, self.count),
                needs="--rows DATA, the rows that were taken out",
                binds=True,
            ),
            _statement(
                "training on the rest gives the tallies after",
                None if rest is None else rest.digest() == self.after,
                needs="--rest DATA, the rows that are left",
                binds=True,
            ),
            _statement(
                "the rest and the rows give the tallies before",
                None if rows is None else (after + rows).digest() == self.before,
                needs="--rows DATA, the rows that were taken out",
            ),
        )

    def _check_signature(self, key: Ed25519PublicKey | None) -> Statement:
        if self.signature is None:
            needs = "a certificate that was signed: bayes forget --key"
            return _statement("the certificate is signed by this key", None if key is None else False, needs=needs)
        signed = None if key is None else is_signed_by(self.signature, self.signed_bytes(), key)
        needs = "--public-key FILE, from whoever signed it"
        return _statement("the certificate is signed by this key", signed, needs=needs, binds=True)


def _fields_of(form: object) -> set[str] | None:
    """The fields of a certificate of this format; None where there is no such format."""
    return {FORMAT: FIELDS | {"signature"}, FIRST_FORMAT: FIELDS}.get(str(form))


def _statement(name: str, holds: bool | None, *, needs: str = "", binds: bool = False) -> Statement:
    if holds is None:
        return Statement(name, Outcome.NOT_CHECKED, needs, binds)
    return Statement(name, Outcome.RIGHT if holds else Outcome.WRONG, binds=binds)


def is_wrong(statements: Iterable[Statement]) -> bool:
    """Whether one of these was checked and does not hold."""
    return any(statement.outcome is Outcome.WRONG for statement in statements)


def is_bound(statements: Iterable[Statement]) -> bool:
    """Whether one was checked that not every certificate made up for the model fulfils."""
    return any(statement.binds and statement.outcome is Outcome.RIGHT for statement in statements)
