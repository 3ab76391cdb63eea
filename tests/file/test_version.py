"""`save` over a file that is no longer the one that was loaded: refused, unless it is asked for."""

from __future__ import annotations

import copy
import hashlib
import pickle
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import ModelChanged, ModelLocked
from bayesbox.file.load import load
from bayesbox.file.lock import FileLock

X, Y = {"age": [25, 20, 45, 31], "car": ["suv", "van", "suv", "van"]}, ["L", "H", "H", "L"]
TEXTS = ["red car", "blue van", "red van", "blue car"]
STEPS, STATES = [["walk", "shop"], ["shop", "walk", "walk"]], [["dry", "wet"], ["wet", "dry", "dry"]]


def naive() -> Any:
    return bb.NaiveBayes().fit(X, Y)


def documents() -> Any:
    return bb.TextClassifier().fit(TEXTS, Y)


def chain() -> Any:
    return bb.HiddenMarkovModel().fit(STEPS, STATES)


def optimal() -> Any:
    return bb.BayesOptimal([naive(), naive()])


def arcs() -> Any:
    return bb.TAN().fit(X, Y)


KINDS: list[Callable[[], Any]] = [naive, documents, chain, optimal, arcs]


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.bayes"


def change(path: Path) -> None:
    """Another writer: the model learns the rows once more."""
    bb.load(path).partial_fit(X, Y).save(path)


@pytest.mark.parametrize("make", KINDS)
def test_every_kind_of_model(make: Callable[[], Any], path: Path) -> None:
    make().save(path)
    loaded, before = bb.load(path), sha256(path)
    naive().partial_fit(X, Y).save(path)  # a fresh fit overwrites, as ever
    found = sha256(path)
    assert found != before
    with refusal(ModelChanged, path=str(path), expected=before, found=found, exit_code=74):
        loaded.save(path)
    assert sha256(path) == found
    loaded.save(path.parent / "other.bayes")  # another file is nobody's loss
    loaded.save(path, overwrite=True)
    assert sha256(path) == before
    loaded.save(path)  # it is now the one that was saved
    change_of = naive().partial_fit(X, Y)
    change_of.save(path)
    with refusal(ModelChanged, expected=before):
        loaded.save(path)


def test_a_loaded_model_goes_on_learning_and_saving(path: Path) -> None:
    naive().save(path)
    loaded = bb.load(path)
    for _ in range(3):
        loaded.partial_fit(X, Y).save(path)
    assert bb.load(path).book_.n.sum() == 16


def test_a_file_that_is_gone(path: Path) -> None:
    naive().save(path)
    loaded, before = bb.load(path), sha256(path)
    path.unlink()
    with refusal(ModelChanged, expected=before, found=None):
        loaded.save(path)
    assert not path.exists()
    loaded.save(path, overwrite=True)
    assert path.exists()


def test_other_names_of_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    naive().save(path)
    (path.parent / "link.bayes").symlink_to(path)
    monkeypatch.chdir(path.parent)
    by_link, by_name = bb.load("link.bayes"), bb.load("./m.bayes")
    change(path)
    for loaded in (by_link, by_name):
        with refusal(ModelChanged):
            loaded.save(path)
        with refusal(ModelChanged):
            loaded.save("link.bayes")


def test_what_comes_from_a_loaded_model(path: Path) -> None:
    naive().save(path)
    loaded, fresh = bb.load(path), naive()
    change(path)
    for made in (copy.copy(loaded), loaded + fresh, fresh + loaded, loaded.with_prior({"L": 0.5, "H": 0.5})):
        with refusal(ModelChanged):
            made.save(path)
    clone(loaded).fit(X, Y).save(path)
    change(path)
    loaded.fit(X, Y).save(path)  # learned anew


def test_merged_chains(path: Path) -> None:
    chain().save(path)
    loaded = bb.HiddenMarkovModel.load(path)
    bb.load(path).partial_fit(STEPS, STATES).save(path)
    with refusal(ModelChanged):
        (chain() + loaded).save(path)
    loaded.fit(STEPS, STATES).save(path)


@pytest.mark.parametrize("make", KINDS)
def test_it_is_not_pickled_and_not_compared(make: Callable[[], Any], path: Path) -> None:
    make().save(path)
    loaded = bb.load(path)
    assert b"m.bayes" not in pickle.dumps(loaded)
    assert pickle.dumps(loaded) == pickle.dumps(load_afresh(path))
    again = pickle.loads(pickle.dumps(loaded))
    naive().partial_fit(X, Y).save(path)
    again.save(path)  # it has been elsewhere, and knows of no file


def load_afresh(path: Path) -> Any:
    """The same model from a file of another name."""
    other = path.parent / "other.bayes"
    other.write_bytes(path.read_bytes())
    return bb.load(other)


def test_saving_waits_for_a_writer_and_loading_does_not(path: Path) -> None:
    naive().save(path)
    with FileLock(path):
        loaded = bb.load(path)
        saving = threading.Thread(target=lambda: loaded.partial_fit(X, Y).save(path))
        saving.start()
        saving.join(0.3)
        assert saving.is_alive()
        assert bb.load(path).book_.n.sum() == 4
    saving.join(10)
    assert bb.load(path).book_.n.sum() == 8


def test_a_lock_that_is_never_let_go(path: Path) -> None:
    naive().save(path)
    with FileLock(path, verb="forget"), refusal(ModelLocked, verb="forget", waited=0.05):
        naive().save(path, wait=0.05)


SAVE = """
    import sys
    import bayesbox as bb
    from bayesbox.errors import ModelChanged
    path, done = sys.argv[1], 0
    while done < 20:
        loaded = bb.load(path)
        loaded.partial_fit({"age": [25], "car": ["suv"]}, ["L"])
        try:
            loaded.save(path)
        except ModelChanged:
            continue
        done += 1
"""


def test_processes_that_try_again_lose_nothing(path: Path) -> None:
    naive().save(path)
    processes = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(SAVE), str(path)]) for _ in range(3)]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    assert bb.load(path).book_.n.sum() == 64


def test_no_map_of_the_file_is_held(path: Path) -> None:
    """Windows could not replace a file that is mapped."""
    naive().save(path)
    loaded, model = bb.load(path), load(path)
    loaded.predict(X)
    assert model.book.n.sum() == 4
    assert str(path) not in Path("/proc/self/maps").read_text()
    assert str(path) not in [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]


def test_threads_that_save_one_model(path: Path) -> None:
    naive().save(path)
    loaded, failed = bb.load(path), []

    def learn_and_save() -> None:
        try:
            for _ in range(5):
                loaded.partial_fit(X, Y).save(path)
        except ModelChanged as error:
            failed.append(error)

    threads = [threading.Thread(target=learn_and_save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert bb.load(path).book_.n.sum() == 84
