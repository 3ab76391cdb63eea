"""`redact` and `save(wait=)` of estimators."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import bayesbox as bb
from bayesbox.errors import BadOption, CannotForget, CannotRedact, ModelLocked
from bayesbox.file.lock import FileLock

X = {"zip": ["10115"] * 6 + ["80331", "80333"] + ["10117"] * 6, "age": [float(age % 5) for age in range(14)]}
Y = ["a", "b"] * 7


def test_a_redacted_model_is_that_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesbox.cli.main import run

    monkeypatch.chdir(tmp_path)
    clf = bb.NaiveBayes().fit(X, Y)
    clf.save("m.bayes")
    assert run(["redact", "m.bayes", "--min-count", "3", "-o", "r.bayes"]) == 0
    thinned = clf.redact(min_count=3)
    thinned.save("python.bayes")
    assert Path("python.bayes").read_bytes() == Path("r.bayes").read_bytes()
    assert "80331" in clf.book_["zip"].levels
    common = {"zip": ["10115", "10117"], "age": [3.0, 9.0]}
    assert thinned.predict_proba(common).tolist() == clf.predict_proba(common).tolist()
    with pytest.raises(CannotForget):
        thinned.forget({"zip": ["80331"], "age": [1.0]}, ["a"])


@pytest.mark.parametrize("model", [bb.AutoBayes(budget=1), bb.NaiveBayes(numeric="kernel")])
@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
def test_models_that_keep_more_are_refused(model: Any) -> None:
    with pytest.raises(CannotRedact):
        model.fit(X, Y).redact()


def test_save_waits_as_long_as_it_is_told(tmp_path: Path) -> None:
    clf = bb.NaiveBayes().fit(X, Y)
    path = tmp_path / "m.bayes"
    begin = time.monotonic()
    with FileLock(path), pytest.raises(ModelLocked):
        clf.save(path, wait=0.2)
    assert 0.2 <= time.monotonic() - begin < 5
    clf.save(path, wait=0)
    with pytest.raises(BadOption):
        clf.save(path, wait=-1)
