"""The certificate of a forget: digests of the tallies before, of the removed rows, and after.

    digest before = digest of (tallies now + tallies of the rows)

Anyone who has the remaining rows can train on them alone and compare the digest with the one after. Anyone can write
such a file, so `check` reports for each statement whether it was checked, and what would check it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from bayesbox.classifier.signature import Signature, is_signed_by, sign
from bayesbox.display.result import Result
from bayesbox.errors import BadData
from bayesbox.tally.book import Book
from bayesbox.tally.ledger import Ledger

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from bayesbox.file.reader import Json

FORMAT = "bayesbox certificate 2"
FIRST_FORMAT = "bayesbox certificate 1"
"""The format of 0.1, without ledgers and signatures."""
WRITTEN_BY = "Pass the file that bayes forget --certificate wrote"
HEX = frozenset("0123456789abcdef")
FIELDS = {"format", "before", "rows", "after", "count", "derived"}


class Outcome(StrEnum):
    """The outcome of checking a statement."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Statement:
    """One statement of a certificate: whether it was checked and, if not, what would check it.

    `binds` marks statements about the rows or the signer; the others hold for any certificate made up for a model.
    """

    name: str
    outcome: Outcome
    needs: str = ""
    binds: bool = False


@dataclass(frozen=True)
class CertifiedLedger:
    """The ledger of the removed rows, and the digests of the ledgers before and after: they identify each row."""

    before: str
    rows: Ledger
    after: str

    def to_json(self) -> Json:
        """The ledgers as JSON for a certificate."""
        return {"before": self.before, "rows": self.rows.text(), "after": self.after}

    @classmethod
    def from_json(cls, written: object) -> CertifiedLedger:
        """The ledgers from the JSON of a certificate; ValueError if it is not valid."""
        if not isinstance(written, dict) or set(written) != {"before", "rows", "after"}:
            raise ValueError("`ledger` must have before, rows and after")
        for name in ("before", "after"):
            if not _is_digest(written[name]):
                raise ValueError(f"`{name}` of `ledger` must be a SHA-256 digest in hex")
        if not isinstance(written["rows"], str):
            raise ValueError("`rows` of `ledger` must be a text")
        return cls(written["before"], Ledger.from_text(written["rows"]), written["after"])


@dataclass(frozen=True, repr=False)
class Certificate(Result):
    """The certificate of a forget: SHA-256 digests of the tallies before, of the removed rows, and after; the row
    count.

    `derived` lists what was learned from the rows but is not a tally, so that subtraction does not undo it. With a
    ledger, the certificate identifies the rows themselves.
    """

    before: str
    rows: str
    after: str
    count: int
    derived: tuple[str, ...] = ()
    ledger: CertifiedLedger | None = None
    signature: Signature | None = None

    def text(self) -> str:
        """The certificate as JSON."""
        signature = None if self.signature is None else self.signature.to_json()
        return json.dumps({**self._fields(), "signature": signature}, indent=2) + "\n"

    def _headline(self) -> str:
        return f"Certificate({self.count:,} rows forgotten, {self.before[:8]}... to {self.after[:8]}...)"

    def _title(self) -> str:
        return f"certificate of forgetting {self.count:,} row{'' if self.count == 1 else 's'}"

    def _frame(self) -> Mapping[str, Sequence[object]]:
        facts = {
            "digest before": self.before,
            "digest of the rows": self.rows,
            "digest after": self.after,
            "rows": f"{self.count:,}",
            "not undone": ", ".join(self.derived) or "nothing",
            "ledger": "yes" if self.ledger is not None else "no",
            "signed": "yes" if self.signature is not None else "no",
        }
        return {"": list(facts), "value": list(facts.values())}

    def _fields(self) -> Json:
        return {
            "format": FORMAT,
            "before": self.before,
            "rows": self.rows,
            "after": self.after,
            "count": self.count,
            "derived": list(self.derived),
            "ledger": None if self.ledger is None else self.ledger.to_json(),
        }

    def signed_bytes(self) -> bytes:
        """The bytes to sign: everything except the signature, as ASCII JSON with sorted keys and without spaces."""
        return json.dumps(self._fields(), sort_keys=True, separators=(",", ":")).encode("ascii")

    def signed(self, key: Ed25519PrivateKey) -> Certificate:
        """A signed copy."""
        return replace(self, signature=sign(self.signed_bytes(), key))

    @classmethod
    def of(cls, before: Book, taken: Book, after: Book, count: int, derived: tuple[str, ...] = ()) -> Certificate:
        """The certificate of subtracting `taken` from `before`."""
        ledger = None
        if before.ledger is not None and taken.ledger is not None and after.ledger is not None:
            ledger = CertifiedLedger(before.ledger.digest(), taken.ledger, after.ledger.digest())
        return cls(before.digest(), taken.digest(), after.digest(), count, derived, ledger)

    @classmethod
    def from_text(cls, text: str, *, where: str) -> Certificate:
        """A certificate parsed from JSON; anything else is an error."""
        try:
            fields = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            what = "this is not the certificate of a forget: it is not valid JSON"
            raise BadData(what, where=f"{where}{line}", remedy=WRITTEN_BY) from None
        if not isinstance(fields, dict) or set(fields) != _fields_of(fields.get("format")):
            raise BadData("this is not the certificate of a forget", where=where, remedy=WRITTEN_BY)
        for name in ("before", "rows", "after"):
            if not _is_digest(fields[name]):
                raise BadData(f"`{name}` must be a SHA-256 digest in hex", where=where, found=fields[name])
        if isinstance(fields["count"], bool) or not isinstance(fields["count"], int) or fields["count"] < 0:
            raise BadData("`count` must be a number of rows", where=where, found=fields["count"])
        derived = fields["derived"]
        if not isinstance(derived, list) or not all(isinstance(item, str) for item in derived):
            raise BadData("`derived` must be a list of names", where=where, found=derived)
        try:
            ledger = None if fields.get("ledger") is None else CertifiedLedger.from_json(fields["ledger"])
            signature = None if fields.get("signature") is None else Signature.from_json(fields["signature"])
        except ValueError as error:
            raise BadData(str(error), where=where) from None
        digests = fields["before"], fields["rows"], fields["after"]
        return cls(*digests, fields["count"], tuple(derived), ledger, signature)

    def check(
        self,
        *,
        model: Book,
        rows: Book | None = None,
        rest: Book | None = None,
        rest_ledger: Ledger | None = None,
        count: int | None = None,
        public_key: Ed25519PublicKey | None = None,
    ) -> tuple[Statement, ...]:
        """Check each statement of the certificate: on the model after, the removed rows, and the remaining rows.

        `count` is the number of removed rows, if known; `rest_ledger` the ledger of the remaining rows.
        """
        after = model if rest is None else rest
        return (
            self._check_signature(public_key),
            _statement("the model has the tallies after", model.digest() == self.after),
            _statement(
                "the rows are those taken out",
                None if rows is None else rows.digest() == self.rows and count in (None, self.count),
                needs="--rows DATA, the removed rows",
                binds=True,
            ),
            _statement(
                "training on the rest gives the tallies after",
                None if rest is None else rest.digest() == self.after,
                needs="--rest DATA --retrain, the remaining rows"
                if self.ledger is not None
                else "--rest DATA, the remaining rows",
                binds=True,
            ),
            _statement(
                "the rest and the rows give the tallies before",
                None if rows is None else (after + rows).digest() == self.before,
                needs="--rows DATA, the removed rows",
            ),
            *self._check_ledger(model.ledger, None if rows is None else rows.ledger, rest_ledger),
        )

    def _check_ledger(self, model: Ledger | None, rows: Ledger | None, rest: Ledger | None) -> Iterator[Statement]:
        stated = self.ledger
        if stated is None:
            return
        yield _statement("the model has the ledger after", model is not None and model.digest() == stated.after)
        before = None if model is None else (model + stated.rows).digest() == stated.before
        yield _statement(
            "the ledgers after and of the rows give the one before",
            before,
            needs="a model with a ledger: bayes train --ledger",
        )
        yield _statement(
            "the rows are, row by row, those taken out",
            None if rows is None else rows == stated.rows,
            needs="--rows DATA, the removed rows",
            binds=True,
        )
        yield _statement(
            "the rest are, row by row, the rows of the model",
            None if rest is None else rest.digest() == stated.after,
            needs="--rest DATA, the remaining rows",
            binds=True,
        )

    def _check_signature(self, key: Ed25519PublicKey | None) -> Statement:
        if self.signature is None:
            needs = "a signed certificate: bayes forget --key"
            return _statement("the certificate is signed by this key", None if key is None else False, needs=needs)
        signed = None if key is None else is_signed_by(self.signature, self.signed_bytes(), key)
        needs = "--public-key FILE, from the signer"
        return _statement("the certificate is signed by this key", signed, needs=needs, binds=True)


def _is_digest(text: object) -> bool:
    return isinstance(text, str) and len(text) == 64 and set(text) <= HEX


def _fields_of(form: object) -> set[str] | None:
    """The fields of a certificate of this format; None if the format is unknown."""
    return {FORMAT: FIELDS | {"ledger", "signature"}, FIRST_FORMAT: FIELDS}.get(str(form))


def _statement(name: str, holds: bool | None, *, needs: str = "", binds: bool = False) -> Statement:
    if holds is None:
        return Statement(name, Outcome.NOT_CHECKED, needs, binds)
    return Statement(name, Outcome.RIGHT if holds else Outcome.WRONG, binds=binds)


def is_wrong(statements: Iterable[Statement]) -> bool:
    """Whether any statement was checked and does not hold."""
    return any(statement.outcome is Outcome.WRONG for statement in statements)


def is_bound(statements: Iterable[Statement]) -> bool:
    """Whether any checked statement would fail for a certificate made up for the model."""
    return any(statement.binds and statement.outcome is Outcome.RIGHT for statement in statements)
