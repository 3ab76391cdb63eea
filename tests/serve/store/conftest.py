"""Every test of a store runs on each database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serve.store.cases import NAME, base

from bayesbox.serve.store.base import Store, open_store

Open = Callable[[], Store]


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store is."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server = request.getfixturevalue("postgres")
    server.execute("DROP SCHEMA IF EXISTS bayesbox CASCADE")
    return str(server.address)


@pytest.fixture
def open_it(address: str) -> Iterator[Open]:
    """Opens the same store again and again, with the model attached; all are closed in the end."""
    opened: list[Store] = []

    def open_again(**options: Any) -> Store:
        store = open_store(address)
        opened.append(store)
        store.attach(NAME, *base(**options))
        return store

    yield open_again
    for store in opened:
        store.close()


@pytest.fixture
def store(open_it: Open) -> Store:
    return open_it()
