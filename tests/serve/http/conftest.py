"""A folder of models, a store, tokens of every scope, and the service over them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.serve.http.asgi import Answered, ask
from tests.serve.http.models import make_folder

from bayesbox.errors import DataWarning
from bayesbox.serve.http.limits import ServiceLimits
from bayesbox.serve.http.logs import ServiceLog
from bayesbox.serve.http.server import default_store
from bayesbox.serve.http.service import Service
from bayesbox.serve.http.tokens import TokenCheck
from bayesbox.serve.models.folder import ModelFolder
from bayesbox.serve.store.base import Store, open_store

SCOPES = ("predict", "learn", "forget", "admin")


@dataclass
class Served:
    """A service with its models as the library has them."""

    service: Service
    store: Store
    models: dict[str, Any]
    folder: Path

    def ask(self, method: str, path: str, body: Any = None, *, scope: str | None = "predict", **given: Any) -> Answered:
        """A request with the token of a scope."""
        token = None if scope is None else token_of(scope)
        return ask(self.service, method, path, body, token=token, **given)

    def post(self, path: str, body: Any, *, scope: str | None = "predict", **given: Any) -> Any:
        """The JSON of a request that is answered."""
        found = self.ask("POST", path, body, scope=scope, **given)
        assert found.status == 200, found.body
        return found.json


def token_of(scope: str) -> str:
    return f"bb_{scope}-token-of-the-tests"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The models, in a folder that tests of a module share."""
    found = tmp_path_factory.mktemp("models")
    return found, make_folder(found)


Serve = Callable[..., Served]


@pytest.fixture(scope="module")
def serve(folder: tuple[Path, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Makes services over the folder, each with a store of its own."""
    made: list[Served] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)

        def make(log: ServiceLog | None = None, tokens: bool = True, at: int | None = None, **limits: Any) -> Served:
            store = open_store(default_store(str(tmp_path_factory.mktemp("store"))))
            for scope in SCOPES:
                store.add_token(hashlib.sha256(token_of(scope).encode()).hexdigest(), [scope], None, scope)
            bounds = ServiceLimits(**limits)
            check = TokenCheck(store, bounds.rate) if tokens else None
            service = Service(ModelFolder(str(folder[0]), store, at=at), check, limits=bounds, log=log)
            made.append(Served(service, store, folder[1], folder[0]))
            return made[-1]

        yield make
        for each in made:
            each.service.close()
            each.store.close()


@pytest.fixture(scope="module")
def served(serve: Serve) -> Served:
    """One that the tests of a module share."""
    return serve()
