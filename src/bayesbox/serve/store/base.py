"""The interface of a store, independent of the database.

    store = open_store("sqlite:///models/store.db")
    state = store.attach("people", classifier, data)
    store.learn("people", [Event("visit-17", {"age": 34}, "yes")])
    store.forget("people", ["visit-17"])

All methods may be called by many threads at once. A method that changes something returns after the commit: its result
survives a power failure.
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
"""The status of an event: newly counted; already counted; or forgotten before, so not counted."""


@dataclass(frozen=True)
class Event:
    """One row with its label, under an id chosen by the client, which makes repeated requests harmless.

    Unknown columns, such as a customer number, are stored with the event but not counted.
    """

    id: str
    row: Mapping[str, object]
    label: object
    weight: float = 1.0


@dataclass(frozen=True)
class LearnResult:
    """The status of each event, and the model after all of them: its last event, digest and rows."""

    statuses: list[str]
    sequence: int
    digest: str
    rows: int


@dataclass(frozen=True)
class ModelState:
    """A model as of an event number. It is immutable, so threads may predict with it while others learn.

    `digest` is that of the tallies, `rows` their number of rows, including those of the base. `base_changed` is whether
    the model file differs from the one in the store; `stale` names the derived parts that are older than the tallies.
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
    """A token as stored: by its SHA-256, never in plain text."""

    id: str
    sha256: str
    scopes: tuple[str, ...]
    expires: float | None
    label: str
    created: float
    revoked: float | None = None

    def is_valid(self, now: float) -> bool:
        """Whether it is valid at this time."""
        return self.revoked is None and (self.expires is None or now < self.expires)


class Store(ABC):
    """Events, tallies, certificates, tokens and the audit log of the models of one service."""

    # -- models --------------------------------------------------------------------------------------------------

    @abstractmethod
    def attach(self, name: str, model: AnyClassifier, data: bytes, *, rows: str | None = None) -> ModelState:
        """Serve a model with these file contents.

        The first time, the file is recorded as the base of the model. Later the recorded base is served, and
        `base_changed` is whether the file differs. `rows` is a file of the rows that the base was trained on: with it,
        all derived parts can be retrained.
        """

    @abstractmethod
    def reload(self, name: str, model: AnyClassifier, data: bytes, *, by: str | None = None) -> ModelState:
        """Replace the base with this file; the learned events are counted on top of it."""

    @abstractmethod
    def names(self) -> list[str]:
        """The models in the store, attached by this process or not."""

    @abstractmethod
    def current(self, name: str) -> ModelState:
        """The current model: with all events of this process, and those of other processes within a second."""

    @abstractmethod
    def at(self, name: str, sequence: int) -> ModelState:
        """The model as of an event number, without events forgotten since."""

    # -- learning and forgetting -----------------------------------------------------------------------------------

    @abstractmethod
    def learn(self, name: str, events: Sequence[Event], *, by: str | None = None) -> LearnResult:
        """Count these events, all or none, and return after the commit; concurrent callers share one commit.

        `EventConflict` if an id is known with another row, label or weight; `BadData` if a row cannot be counted. `by`
        identifies the caller, such as the id of a token, for the audit log.
        """

    @abstractmethod
    def submit(self, name: str, events: Sequence[Event], *, by: str | None = None) -> Future[LearnResult]:
        """The same without waiting: a future that has the result after the commit."""

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
        """Remove these events, all or none, and return the certificate, which has a "number".

        `key` is a column and a value: all events whose row has it. `UnknownEvents` if an id was never learned, or is
        already forgotten.
        """

    @abstractmethod
    def retrain(self, name: str) -> bool:
        """Retrain the derived parts now; False if there are none, or something was forgotten meanwhile."""

    @abstractmethod
    def certificate(self, name: str, number: int) -> dict[str, Any]:
        """One certificate; `UnknownRecord` if there is no such number."""

    @abstractmethod
    def certificates(self, name: str) -> list[dict[str, Any]]:
        """All certificates of a model, oldest first."""

    # -- the audit log ---------------------------------------------------------------------------------------------

    @abstractmethod
    def audit(self, name: str | None, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """The records of the audit log after the number `after`, oldest first: of one model, or of all."""

    @abstractmethod
    def record(self, action: str, name: str | None, details: Mapping[str, Any]) -> None:
        """Append a record to the audit log."""

    # -- tokens ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def add_token(self, sha256: str, scopes: Sequence[str], expires: float | None, label: str) -> str:
        """Store a token by its SHA-256 in hex; returns its id. `expires` is in seconds since 1970."""

    @abstractmethod
    def tokens(self) -> list[TokenRecord]:
        """All tokens, oldest first, including revoked and expired ones."""

    @abstractmethod
    def revoke(self, id: str) -> None:
        """Revoke a token; `UnknownRecord` if there is no such id."""

    @abstractmethod
    def token(self, sha256: str) -> TokenRecord | None:
        """The token with this SHA-256, valid or not."""

    # -- running -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def lag(self) -> float:
        """The seconds that the oldest pending change has waited for its commit; 0 if there is none."""

    @abstractmethod
    def close(self) -> None:
        """Commit pending changes, then close the database. Later calls raise `StoreFailed`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_store(url: str, *, retrain_every: int = RETRAIN_EVERY) -> Store:
    """The store at a URL: sqlite:///models/store.db (three slashes and a path), or postgresql://host/database.

    A store that does not exist is created. `retrain_every` is the number of events after which derived parts, such as a
    calibration, are retrained in the background, as they are after a forget; 0 for never.
    """
    module, place = _place(url)
    store: Store = module.open_at(place, retrain_every=retrain_every)
    return store


def open_database(url: str) -> Database:
    """The database of the store at a URL, read-only; it is not created."""
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
    """The default URL of the store of a folder of models.

    >>> store_url("models"), store_url("models", "postgresql://localhost/bayes")
    ('sqlite:///models/store.db', 'postgresql://localhost/bayes')
    """
    return given or f"sqlite:///{os.path.join(folder, 'store.db')}"


def _place(url: str) -> tuple[Any, str]:
    """The module that opens a URL, and its argument."""
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
    except ImportError as error:  # it is installed, but a library that it needs is missing or incompatible
        raise StoreFailed(
            f"{package} cannot be loaded: {error}", remedy=f"Install it again: pip install --force-reinstall {package}"
        ) from None
    return importlib.import_module(f"bayesbox.serve.store.{name}")
