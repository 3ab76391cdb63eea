"""Mutants of model files of every kind: a hundred here; `python tests/fuzz/model_files.py` tries as many as wanted."""

import itertools
import json

import pytest
from tests.fuzz import model_files

from bayesbox.file import container


def test_undamaged_files_answer():
    for path in sorted(model_files.FOLDER.iterdir()):
        if path.name != "answers.json":
            assert model_files.outcome(path, path.stem) == "an answer"


def test_mutants_are_whole_archives_and_the_same_for_the_same_seed():
    path = model_files.FOLDER / "kdb.bayes"
    some, again, others = (list(itertools.islice(model_files.mutants(path, seed), 20)) for seed in (1, 1, 2))
    assert some == again != others
    assert all("manifest.json" not in container.unpack(data) for data in some)


def test_the_digest_is_that_of_the_changed_tallies():
    """Of every kind with tallies: what lies behind the check of the digest is reached."""
    for path in sorted(model_files.FOLDER.glob("*.bayes")):
        members = container.unpack(path.read_bytes())
        document = json.loads(members["model.json"])
        right = document["digest"]
        members["model.json"] = json.dumps({**document, "digest": "0" * 64}).encode()
        model_files.reseal(members)
        assert json.loads(members["model.json"])["digest"] == right or path.stem in ("naive-given", "optimal")


def test_a_failure_is_seen_and_its_file_kept(tmp_path, monkeypatch):
    """The gate itself: an error that is not one of bayesbox fails."""

    def fail(*_):
        raise KeyError("wet")

    monkeypatch.setattr(model_files, "ASKED", [fail])
    with pytest.raises(AssertionError, match="KeyError"):
        model_files.try_many(200, seed=0, folder=tmp_path, only=["naive"])
    assert len(list(tmp_path.glob("naive-0-*.bayes"))) == 1


@pytest.mark.parametrize("seed", range(2))
def test_every_mutant_is_refused_or_answers(seed, tmp_path):
    found = model_files.try_many(62, seed=seed, folder=tmp_path)
    assert sum(found.values()) == 62
    assert any(name.endswith("an answer") for name in found)
    assert any(name.endswith("refused") for name in found)
