"""The contract of a store: what the service asks of it, whatever database is behind it.

    store = open_store("sqlite:///models/store.db")
    state = store.attach("people", classifier, data)
    store.learn("people", [Event("visit-17", {"age": 34}, "yes")])
    store.forget("people", ["visit-17"])

All methods may be called by many threads at once. A method that changes something returns after the commit: what it
has answered survives a power cut.
"""

from __future__ import annotations

import importlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from bayesbox.errors import BadOption, MissingExtra, StoreFailed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.serve.store.database import Database

RETRAIN_EVERY = 1_000  # events
LEARNED, KNOWN, FORGOTTEN = "learned", "known", "forgotten"
"""What became of an event: it was counted; it had been before; it was forgotten before, and counts no more."""


@dataclass(frozen=True)
class Event:
    """One row with its label, under an id that the client chose: the id is what makes a repeated request harmless.

    Columns that the model does not know, such as the number of a customer, are kept with the event and not counted.
    """

    id: str
    row: Mapping[str, object]
    label: object
    weight: float = 1.0


@dataclass(frozen=True)
class LearnResult:
    """What became of each event, and the model that has all of them: its last event, its digest and its rows."""

    statuses: list[str]
    sequence: int
    digest: str
    rows: int


@dataclass(frozen=True)
class ModelState:
    """A model as of one event number. It never changes, so that threads may answer from it while others learn.

    `digest` is that of the tallies, `rows` how many rows they count, those of the base included. `base_changed` says
    that the model file is no longer the one that the store has recorded; `stale` names, in words, what was learned from
    rows, is not a tally, and is older than the tallies.
    """

    name: str
    sequence: int
    digest: str
    rows: int
    classifier: AnyClassifier
    base_digest: str
    base_changed: bool = False
    stale: tuple[str, ...] = ()


@dataclass(frozen=True)
class TokenRecord:
    """A token as it is stored: by its SHA-256, never as it is sent."""

    id: str
    sha256: str
    scopes: tuple[str, ...]
    expires: float | None
    label: str
    created: float
    revoked: float | None = None

    def is_valid(self, now: float) -> bool:
        """Whether it is accepted at this time."""
        return self.revoked is None and (self.expires is None or now < self.expires)


class Store(ABC):
    """Events, tallies, certificates, tokens and the audit log of the models of one service."""

    # -- models --------------------------------------------------------------------------------------------------

    @abstractmethod
    def attach(self, name: str, model: AnyClassifier, data: bytes, *, rows: str | None = None) -> ModelState:
        """Serve a model, whose file has these bytes.

        At first sight the file is recorded as the base of the model. Later the recorded base is served, and
        `base_changed` says whether the file is another one. `rows` is a file of the rows that the base was trained on:
        with it, all that is derived can be trained again.
        """

    @abstractmethod
    def reload(self, name: str, model: AnyClassifier, data: bytes, *, by: str | None = None) -> ModelState:
        """Take this file as the base from now on; the events that were learned are counted on top of it."""

    @abstractmethod
    def names(self) -> list[str]:
        """The models that the store holds, attached by this process or not."""

    @abstractmethod
    def current(self, name: str) -> ModelState:
        """The model now: with all that this process has learned, and what other processes have within a second."""

    @abstractmethod
    def at(self, name: str, sequence: int) -> ModelState:
        """The model as of an event number, without what was forgotten since."""

    # -- learning and forgetting -----------------------------------------------------------------------------------

    @abstractmethod
    def learn(self, name: str, events: Sequence[Event], *, by: str | None = None) -> LearnResult:
        """Count these events, all or none, and return after the commit; concurrent callers share one commit.

        `EventConflict` where an id is known with another row, label or weight; `BadData` where a row cannot be counted.
        `by` is who asked, such as the id of a token, for the audit log.
        """

    @abstractmethod
    def submit(self, name: str, events: Sequence[Event], *, by: str | None = None) -> Future[LearnResult]:
        """The same without waiting: the result comes after the commit."""

    @abstractmethod
    def forget(
        self,
        name: str,
        ids: Sequence[str] = (),
        *,
        key: tuple[str, object] | None = None,
        signer: Ed25519PrivateKey | None = None,
        by: str | None = None,
    ) -> dict[str, Any]:
        """Take these events out, all or none, and return the certificate, which has a "number".

        `key` is a column and a value: all events whose row has it. `UnknownEvents` where an id was never learned, or
        is forgotten already.
        """

    @abstractmethod
    def retrain(self, name: str) -> bool:
        """Learn again what is derived, now rather than when it is due; False if nothing is, or something was
        forgotten meanwhile."""

    @abstractmethod
    def certificate(self, name: str, number: int) -> dict[str, Any]:
        """One certificate; `UnknownRecord` if there is none of that number."""

    @abstractmethod
    def certificates(self, name: str) -> list[dict[str, Any]]:
        """All certificates of a model, oldest first."""

    # -- the audit log ---------------------------------------------------------------------------------------------

    @abstractmethod
    def audit(self, name: str | None, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """Records of the audit log beyond the number `after`, oldest first: of one model, or of all."""

    @abstractmethod
    def record(self, action: str, name: str | None, details: Mapping[str, Any]) -> None:
        """Append a record to the audit log."""

    # -- tokens ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def add_token(self, sha256: str, scopes: Sequence[str], expires: float | None, label: str) -> str:
        """Keep a token by its SHA-256 in hex; the id it is revoked by. `expires` is in seconds since 1970."""

    @abstractmethod
    def tokens(self) -> list[TokenRecord]:
        """All tokens, oldest first, those revoked or expired included."""

    @abstractmethod
    def revoke(self, id: str) -> None:
        """Refuse a token from now on; `UnknownRecord` if there is none of this id."""

    @abstractmethod
    def token(self, sha256: str) -> TokenRecord | None:
        """The token of this SHA-256, valid or not."""

    # -- running -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def lag(self) -> float:
        """Seconds that the oldest waiting change has waited for its commit; 0 if none waits."""

    @abstractmethod
    def close(self) -> None:
        """Commit pending changes, then close the database. Later calls raise `StoreFailed`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_store(url: str, *, retrain_every: int = RETRAIN_EVERY) -> Store:
    """The store at an address: sqlite:///models/store.db (three slashes and a path), or postgresql://host/database.

    A store that is not there yet is made. `retrain_every` is after how many events what is derived from rows, such as a
    calibration, is learned again in the background; it also is after a forgetting. 0 is for never.
    """
    module, place = _place(url)
    store: Store = module.open_at(place, retrain_every=retrain_every)
    return store


def open_database(url: str) -> Database:
    """The database of the store at an address, to be looked at; one that is not there is not made."""
    module, place = _place(url)
    database: Database = module.look_at(place)
    try:
        with database.reading() as transaction:
            importlib.import_module("bayesbox.serve.store.formats").require_current(transaction)
    except BaseException:
        database.close()
        raise
    return database


def store_url(folder: str, given: str | None = None) -> str:
    """The address of the store of a folder of models, where no other is given.

    >>> store_url("models"), store_url("models", "postgresql://localhost/bayes")
    ('sqlite:///models/store.db', 'postgresql://localhost/bayes')
    """
    return given or f"sqlite:///{os.path.join(folder, 'store.db')}"


def _place(url: str) -> tuple[Any, str]:
    """The module that opens an address, and what it takes of it."""
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return _module("sqlite", "apsw"), rest[1:]
    if scheme in ("postgresql", "postgres"):
        return _module("postgres", "psycopg"), url
    raise BadOption(
        "a store must be at sqlite:///PATH or postgresql://HOST/DATABASE",
        found=url.split("@")[-1],  # never a password
    )


def _module(name: str, package: str) -> Any:
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingExtra(package, "serve") from None
    except ImportError as error:  # it is there, and a library that it needs is not, or does not fit
        raise StoreFailed(
            f"{package} cannot be loaded: {error}", remedy=f"Install it again: pip install --force-reinstall {package}"
        ) from None
    return importlib.import_module(f"bayesbox.serve.store.{name}")
