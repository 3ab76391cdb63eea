"""Stores of earlier formats are brought up to date; those of later ones, and packages that are not there, are named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.serve.store.cases import NAME, events, ids
from tests.serve.store.conftest import Open

from bayesbox.errors import MissingExtra, StoreFailed
from bayesbox.serve.store import formats
from bayesbox.serve.store.base import Store, open_database, open_store
from bayesbox.serve.store.durable import DurableStore
from bayesbox.serve.verify import verify_store

WITHOUT_FILES = "ALTER TABLE models DROP COLUMN file_sha256"
WITHOUT_COLUMNS = (
    WITHOUT_FILES,
    "ALTER TABLE models DROP COLUMN retrained",
    "ALTER TABLE certificates DROP COLUMN retrained",
)
WITH_NULLS = (
    *WITHOUT_COLUMNS,
    "ALTER TABLE models ADD COLUMN retrained BIGINT",
    "ALTER TABLE certificates ADD COLUMN retrained TEXT",
)
FIRST, SECOND = (f"UPDATE settings SET value = '{number}' WHERE name = 'format'" for number in (1, 2))
EARLIER = {"without columns": (1, *WITHOUT_COLUMNS, FIRST), "with nulls": (1, *WITH_NULLS, FIRST)}
EARLIER["without files"] = (2, WITHOUT_FILES, SECOND)


def change(store: Store, *statements: str) -> None:
    """Change the tables as another version has them."""
    assert isinstance(store, DurableStore)
    with store.database.writing() as transaction:
        for statement in statements:
            transaction.execute(statement)


def dump(store: Store, table: str) -> list[tuple[Any, ...]]:
    assert isinstance(store, DurableStore)
    with store.database.reading() as transaction:
        columns = sorted(transaction.columns(table))
        return transaction.query(f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1")


@pytest.mark.parametrize("earlier", EARLIER)
def test_a_store_of_an_earlier_format_goes_on(open_it: Open, address: str, earlier: str) -> None:
    number, *statements = EARLIER[earlier]
    store = open_it()
    some = events(30)
    store.learn(NAME, some[:20])
    certificate = store.forget(NAME, ids(some[:2]))
    before, kept = store.current(NAME), dump(store, "events")
    change(store, *map(str, statements))
    store.close()

    with pytest.raises(StoreFailed) as caught:
        open_database(address)
    assert f"format {number}" in str(caught.value)
    assert "bayes serve" in str(caught.value.remedy)

    again = open_it()
    assert dump(again, "events") == kept
    state = again.current(NAME)
    assert not state.base_changed
    assert (state.digest, state.sequence, state.rows) == (before.digest, before.sequence, before.rows)
    assert again.certificate(NAME, 1) == {**certificate, "retrained": None}
    assert again.learn(NAME, some[10:]).statuses == ["known"] * 10 + ["learned"] * 10
    record = again.audit(None)[-2]
    assert (record["action"], record["details"]) == ("upgrade", {"format": formats.FORMAT, "before": number})
    again.close()
    database = open_database(address)
    try:
        assert verify_store(database).holds
    finally:
        database.close()
    third = open_it()  # nothing is left to be brought up to date
    assert [each["action"] for each in third.audit(None)].count("upgrade") == 1


def test_a_step_that_fails_leaves_the_store_as_it_was(
    open_it: Open, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_it()
    store.learn(NAME, events(3))
    change(store, *WITHOUT_COLUMNS, FIRST)
    store.close()
    step = formats.STEPS[1]

    def broken(transaction: Any) -> None:
        step(transaction)
        raise StoreFailed("the disk is full")

    with monkeypatch.context() as patch:
        patch.setitem(formats.STEPS, 1, broken)
        with pytest.raises(StoreFailed):
            open_store(address)
    again = open_it()
    assert again.current(NAME).sequence == 3


@pytest.mark.parametrize("number", [formats.FORMAT + 1, 99])
def test_a_later_format_is_refused(open_it: Open, address: str, number: int) -> None:
    store = open_it()
    change(store, f"UPDATE settings SET value = '{number}' WHERE name = 'format'")
    store.close()
    for opened in (open_store, open_database):
        with pytest.raises(StoreFailed) as caught:
            opened(address)
        assert f"format {number}" in str(caught.value)
        assert "Upgrade bayesbox" in str(caught.value.remedy)


def test_there_is_a_step_to_every_format() -> None:
    assert sorted(formats.STEPS) == list(range(1, formats.FORMAT))


def test_a_package_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apsw", None)
    with pytest.raises(MissingExtra) as caught:
        open_store(f"sqlite:///{tmp_path}/store.db")
    assert "apsw" in str(caught.value)


def test_a_package_that_is_broken_is_not_called_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "apsw", raising=False)
    for name, text, error in (
        ("apsw", "raise ImportError('libz.so.1: cannot open shared object file')", StoreFailed),
        ("apsw", "import no_such_module_of_all", ModuleNotFoundError),
    ):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
        with pytest.raises(error) as caught:
            open_store(f"sqlite:///{tmp_path}/store.db")
        assert not isinstance(caught.value, MissingExtra)
        (tmp_path / f"{name}.py").unlink()


def test_an_error_of_our_own_modules_is_not_called_a_missing_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bayesbox.serve.store.sqlite", None)
    with pytest.raises(ModuleNotFoundError) as caught:
        open_store(f"sqlite:///{tmp_path}/store.db")
    assert not isinstance(caught.value, MissingExtra)


def test_a_store_without_its_settings_is_damaged(open_it: Open, address: str) -> None:
    store = open_it()
    change(store, "DELETE FROM settings WHERE name = 'hmac_key'")
    store.close()
    with pytest.raises(StoreFailed) as caught:
        open_store(address)
    assert "settings" in str(caught.value)
