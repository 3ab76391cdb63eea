"""What a recipe registers when it is imported is known to its own tests only."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest
from tests.registries import Entries, enter, foreign, remove

REGISTERED: list[Entries] = []
"""What each recipe has registered."""

Report = pytest.CollectReport


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Report, Report]:
    report = yield
    found = foreign()
    REGISTERED.append(found)
    remove(found)
    return report


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    for entries in REGISTERED:
        enter(entries)
    yield
    remove(foreign())
