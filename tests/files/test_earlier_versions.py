"""Files of earlier versions: each loads, answers as it did, and saves to the same digest."""

from __future__ import annotations

import json
import pathlib
import re
import warnings
from typing import Any

import numpy as np
import pytest
from tests.files import examples

import bayesbox as bb
from bayesbox.file import container

HERE = pathlib.Path(__file__).parent
VERSIONS = sorted(path.name for path in HERE.iterdir() if (path / "answers.json").exists())
SAVED = {version: json.loads((HERE / version / "answers.json").read_text()) for version in VERSIONS}
CASES = [(version, name) for version in VERSIONS for name in sorted(SAVED[version])]


def load(path: pathlib.Path) -> Any:
    """A model as a user would load it."""
    if path.suffix == ".json":
        return bb.read_network(path)
    if path.name.startswith("hmm-"):
        return bb.HiddenMarkovModel.load(path)
    return bb.load(path)


def file_of(version: str, name: str) -> pathlib.Path:
    return HERE / version / (f"{name}.json" if name in examples.NETWORKS else f"{name}.bayes")


def test_there_are_files_of_every_version_and_kind() -> None:
    """No folder is empty or has lost a file, and 0.1 has every kind that there was."""
    assert "0.1" in VERSIONS
    for version in VERSIONS:
        files = {path.stem for path in (HERE / version).iterdir()} - {"answers"}
        assert files == set(SAVED[version])
    every = {*examples.TABLES, *examples.TEXTS, *examples.CHAINS, *examples.NETWORKS}
    assert all(set(SAVED[version]) <= every for version in VERSIONS)
    assert len(SAVED["0.1"]) == 30
    assert set(SAVED["0.2"]) == every


@pytest.mark.parametrize(("version", "name"), CASES)
def test_an_earlier_file_answers_as_it_did(version: str, name: str) -> None:
    model = load(file_of(version, name))
    saved, found = SAVED[version][name], examples.answers(name, model)
    if name in examples.NETWORKS:
        assert {node: list(states) for node, states in found.items()} == {
            node: list(states) for node, states in saved["answers"].items()
        }
        found, wanted = ([list(states.values()) for states in each.values()] for each in (found, saved["answers"]))
        for some, others in zip(found, wanted, strict=True):
            np.testing.assert_allclose(some, others, rtol=0, atol=1e-12)
    else:
        np.testing.assert_allclose(found, saved["answers"], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("version", "name"), [case for case in CASES if case[1] not in examples.NETWORKS])
def test_an_earlier_file_saves_to_the_same_digest(version: str, name: str, tmp_path: pathlib.Path) -> None:
    model = load(file_of(version, name))
    digest = SAVED[version][name]["digest"]
    assert examples.digest(name, model) == digest
    model.save(tmp_path / f"{name}.bayes")
    again = load(tmp_path / f"{name}.bayes")
    assert examples.digest(name, again) == digest
    assert examples.answers(name, again) == examples.answers(name, model)


FITTED = {"auto", "hmm-learned", "hmm-numbers", "naive-kernel", "naive-selected", "text-auto"}
"""Examples with numbers that were fitted in doubles, whose last digits are those of the machine."""


def without_version(data: bytes) -> dict[str, Any]:
    """The members of a file, and of the files in it, but for the version that wrote them."""
    members: dict[str, Any] = {}
    for name, content in container.unpack(data).items():
        if name == "model.json":
            members[name] = re.sub(rb'^ "bayesbox": "[^"]*",$', b"", content, count=1, flags=re.MULTILINE)
            members[name] = re.sub(
                rb'^ "constants": "ignored",?\n', b"", members[name], flags=re.MULTILINE
            )  # since 0.2
            members[name] = re.sub(rb'"unseen": "(smooth|ignore)"', b"", members[name])  # another default since 0.2
            members[name] = re.sub(rb",\n}", b"\n}", members[name])
        else:
            members[name] = without_version(content) if name.endswith(".bayes") else content
    return members


def saved_now(name: str, model: Any, folder: pathlib.Path) -> Any:
    """What is compared of the file that a model is saved to now."""
    path = folder / (f"{name}.json" if name in examples.NETWORKS else f"{name}.bayes")
    if name == "network":
        model.write(path)
        return path.read_bytes()
    model.save(path)
    return without_version(path.read_bytes())


@pytest.mark.parametrize("name", sorted(SAVED["0.1"]))
def test_the_bytes_of_a_file_are_those_that_0_1_saved(name: str, tmp_path: pathlib.Path) -> None:
    """All but the version: of the example learned again, and of the file loaded and saved again."""
    earlier = file_of("0.1", name)
    wanted = earlier.read_bytes() if name == "network" else without_version(earlier.read_bytes())
    assert saved_now(name, load(earlier), tmp_path) == wanted
    if name not in FITTED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert saved_now(name, examples.made(name), tmp_path) == wanted


def test_an_earlier_network_goes_on_learning() -> None:
    """The counts behind its tables were read with it."""
    network = bb.read_network(file_of("0.1", "network"))
    rows = {"outlook": ["sunny"], "wet": ["True"], "zip": ["10"], "play": ["yes"]}
    before = network.posteriors()["play"]["yes"]
    assert network.fit(rows).posteriors()["play"]["yes"] != before


@pytest.mark.parametrize("name", ["naive", "aode", "text"])
def test_an_earlier_file_forgets_and_learns_again(name: str) -> None:
    model = load(file_of("0.1", name))
    rows, labels = examples.notes() if name == "text" else examples.table()
    some = rows[:5] if isinstance(rows, list) else {column: values[:5] for column, values in rows.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.forget(some, labels[:5])
        assert model.book_.digest() != SAVED["0.1"][name]["digest"]
        model.partial_fit(some, labels[:5])
    assert model.book_.digest() == SAVED["0.1"][name]["digest"]
