"""Real servers for the tests, started once a session: PostgreSQL."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A PostgreSQL server of its own: `get_uri()` is its address, `psql(text)` runs statements."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package's own
        import pgserver

        server = pgserver.get_server(tmp_path_factory.mktemp("postgres"))
    yield server
    server.cleanup()
