"""Names that a model cannot have on Windows, and names that differ by case where the file system does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadOption
from bayesbox.file.names import require_name


@pytest.mark.parametrize(
    "name",
    [
        *("CON", "nul.bayes", "com1.bayes", "LPT9", "models\\Aux.bayes", "prn .bayes", "COM².bayes"),
        *("a:b.bayes", "what?.bayes", "model.", "model ", "tab\t.bayes"),
    ],
)
def test_names_that_windows_does_not_take(name: str) -> None:
    with refusal(BadOption, where=name, exit_code=2):
        require_name(name, windows=True)
    require_name(name, windows=False)


@pytest.mark.parametrize("name", ["console.bayes", "com.bayes", "com10.bayes", "C:\\models\\m.bayes", ".bayes", "null"])
def test_names_that_windows_takes(name: str) -> None:
    require_name(name, windows=True)


def test_a_name_in_another_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that does not tell the case of letters finds a file by either name and lists it by one."""
    model = bb.NaiveBayes().fit([[1], [2]], ["a", "b"])
    model.save(tmp_path / "people.bayes")
    model.save(tmp_path / "People.bayes")  # two files here
    listed = os.listdir

    def without_case(folder: str) -> list[str]:
        return [name for name in listed(folder) if name != "People.bayes"]

    monkeypatch.setattr(os, "listdir", without_case)
    with refusal(BadOption, where="People.bayes", found="people.bayes", exit_code=2):
        model.save(tmp_path / "People.bayes")
    model.save(tmp_path / "people.bayes")
    model.save(tmp_path / "other.bayes")
