"""Authorization: tokens with scopes, looked up by their SHA-256, with a rate limit each."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable

from bayesbox.serve.http.problems import Problem
from bayesbox.serve.store.base import Store, TokenRecord

ANY, OPEN = "any", "open"  # any token; no token needed
REMEMBERED = 1.0  # seconds until a token is looked up again, which bounds the delay of a revocation
MOST_REMEMBERED = 10_000


def sha256_of_token(token: bytes) -> str:
    """The SHA-256 of a token, which the store has."""
    return hashlib.sha256(token).hexdigest()


class TokenBucket:
    """A rate limit in requests per second, with bursts of up to one second."""

    __slots__ = ("rate", "room", "since")

    def __init__(self, rate: float, now: float) -> None:
        self.rate, self.room, self.since = rate, max(rate, 1.0), now

    def take(self, now: float) -> float:
        """Admit one request; returns the seconds to wait if the rate is exceeded, else 0."""
        self.room = min(self.room + (now - self.since) * self.rate, max(self.rate, 1.0))
        self.since = now
        if self.room >= 1.0:
            self.room -= 1.0
            return 0.0
        return (1.0 - self.room) / self.rate


class TokenCheck:
    """Looks up tokens in the store and enforces their rate limits."""

    def __init__(self, store: Store, rate: float = 0.0, *, clock: Callable[[], float] = time.time) -> None:
        self.store = store
        self.rate = rate
        self.clock = clock
        self._known: dict[str, tuple[float, TokenRecord | None]] = {}
        self._buckets: dict[str, TokenBucket] = {}

    def allow(self, header: bytes | None, scope: str) -> str:
        """The id of a token that has the scope; a Problem (401, 403, 429) otherwise."""
        record = self._record(header)
        if scope != ANY and scope not in record.scopes:
            detail = f"the token lacks the scope `{scope}`. Create one with it: bayes token create DIR --scope {scope}"
            challenge = f'Bearer error="insufficient_scope", scope="{scope}"'.encode()
            raise Problem(403, detail, kind="missing-scope", headers=[(b"www-authenticate", challenge)], scope=scope)
        if self.rate:
            self._limit(record.id)
        return record.id

    def remembers(self, header: bytes | None) -> bool:
        """Whether a token is cached."""
        found = self._known.get(sha256_of_token(_sent(header) or b""))
        return header is None or (found is not None and self.clock() - found[0] <= REMEMBERED)

    def look_up(self, header: bytes | None) -> None:
        """Look up a token in the store, which may be slow."""
        token = _sent(header)
        if token is not None:
            digest = sha256_of_token(token)
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            self._known[digest] = self.clock(), self.store.token(digest)

    def _record(self, header: bytes | None) -> TokenRecord:
        if header is None:
            raise _unauthorized("a token is required: send the header Authorization: Bearer TOKEN", b"Bearer")
        token = _sent(header)
        if token is None:
            raise _unauthorized("the Authorization header must have the form: Bearer TOKEN", b"Bearer")
        if not self.remembers(header):
            self.look_up(header)
        digest = sha256_of_token(token)
        record = self._known[digest][1]
        # compare the hash again, in constant time
        if record is None or not hmac.compare_digest(record.sha256, digest) or not record.is_valid(self.clock()):
            raise _invalid()
        return record

    def _limit(self, id: str) -> None:
        now = self.clock()
        bucket = self._buckets.get(id)
        if bucket is None:
            bucket = self._buckets[id] = TokenBucket(self.rate, now)
        wait = bucket.take(now)
        if wait:
            after = str(max(int(wait + 0.999), 1)).encode()
            raise Problem(
                429, f"more than {self.rate:g} requests per second", kind="rate", headers=[(b"retry-after", after)]
            )


def _sent(header: bytes | None) -> bytes | None:
    """The token in a header; None if it has another form."""
    kind, _, token = (header or b"").partition(b" ")
    return token.strip() if kind.lower() == b"bearer" and token.strip() else None


def _unauthorized(detail: str, challenge: bytes) -> Problem:
    return Problem(401, detail, headers=[(b"www-authenticate", challenge)])


def _invalid() -> Problem:
    what = "the token is not valid: mistyped, expired or revoked. Create one: bayes token create DIR --scope SCOPE"
    return _unauthorized(what, b'Bearer error="invalid_token"')
