"""The certificate of a forgetting: what the tallies were, what was taken out, what they are now.

    digest before = digest of (tallies now + tallies of the rows)

Whoever has the rows that are left can train on them alone and compare: the digest must be the one after.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bayesbox.errors import BadData
from bayesbox.tally.book import Book

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

FORMAT = "bayesbox certificate 1"
HEX = frozenset("0123456789abcdef")


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

    def text(self) -> str:
        """The certificate as JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def of(cls, before: Book, taken: Book, after: Book, count: int, derived: tuple[str, ...] = ()) -> Certificate:
        """The certificate of taking `taken` out of `before`."""
        return cls(before.digest(), taken.digest(), after.digest(), count, derived)

    @classmethod
    def from_text(cls, text: str, *, where: str) -> Certificate:
        """A certificate read back; anything else is refused."""
        try:
            fields = json.loads(text)
        except json.JSONDecodeError as error:
            raise BadData("this is no certificate: not JSON", where=f"{where}, line {error.lineno}") from None
        names = {"format", "before", "rows", "after", "count", "derived"}
        if not isinstance(fields, dict) or fields.get("format") != FORMAT or set(fields) != names:
            raise BadData("this is no certificate of a forgetting", where=where, remedy=f"Its format is {FORMAT!r}")
        for name in ("before", "rows", "after"):
            if not (isinstance(fields[name], str) and len(fields[name]) == 64 and set(fields[name]) <= HEX):
                raise BadData(f"`{name}` is no digest", where=where, found=fields[name])
        if isinstance(fields["count"], bool) or not isinstance(fields["count"], int) or fields["count"] < 0:
            raise BadData("`count` is no number of rows", where=where, found=fields["count"])
        derived = fields["derived"]
        if not isinstance(derived, list) or not all(isinstance(item, str) for item in derived):
            raise BadData("`derived` is no list of names", where=where, found=derived)
        return cls(fields["before"], fields["rows"], fields["after"], fields["count"], tuple(derived))

    def check(
        self,
        *,
        model: Book | None = None,
        rows: Book | None = None,
        rest: Book | None = None,
        count: int | None = None,
    ) -> Mapping[str, Any]:
        """Which statements hold, by name: of the model after, of the rows taken out, of those that are left.

        `count` is how many rows were taken out, where it is known.
        """
        found: Json = {}
        if model is not None:
            found["the model has the tallies after"] = model.digest() == self.after
        if rows is not None:
            found["the rows are those taken out"] = rows.digest() == self.rows and count in (None, self.count)
        if rest is not None:
            found["training on the rest gives the tallies after"] = rest.digest() == self.after
        if rows is not None and (rest is not None or model is not None):
            after = rest if rest is not None else model
            assert after is not None
            found["the rest and the rows give the tallies before"] = (after + rows).digest() == self.before
        return found
