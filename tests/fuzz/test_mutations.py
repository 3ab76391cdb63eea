"""Damaged files: some thousands here; `make fuzz` tries a hundred thousand."""

import pytest
from tests.fuzz import mutations

from bayesbox.errors import BadData


@pytest.mark.parametrize("seed", range(4))
def test_every_damaged_file_gets_an_answer(seed, tmp_path):
    found = mutations.try_many(500, seed=seed, folder=tmp_path)
    assert sum(found.values()) == 500
    assert {"csv: a model", "jsonl: a model", "csv: BadRow", "jsonl: BadRow"} <= set(found)


def test_undamaged_files_give_models(tmp_path):
    for kind, text in mutations.KINDS.items():
        path = tmp_path / f"whole.{kind}"
        path.write_bytes(text)
        assert mutations.outcome(path) == "a model"


def test_a_refusal_without_its_place_is_seen(tmp_path, monkeypatch):
    """The gate itself: a refusal that does not name the file fails."""

    def refuse(*_):
        raise BadData("something is wrong")

    monkeypatch.setattr(mutations, "train", refuse)
    with pytest.raises(AssertionError):
        mutations.try_many(1, seed=0, folder=tmp_path)


def test_a_value_before_the_first_object(tmp_path):
    """Arrow's JSON reader crashes on this text; it never gets to see it."""
    path = tmp_path / "null.jsonl"
    path.write_bytes(b"null, " + mutations.KINDS["jsonl"])
    assert mutations.outcome(path) == "BadRow"
