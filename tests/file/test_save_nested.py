"""Crafted files of models that hold models, trees and counts of columns together: refused when they are loaded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fuzz import model_files

from bayesbox import _core
from bayesbox.errors import BadModelFile
from bayesbox.file import arrow, container
from bayesbox.file.load import from_bytes
from bayesbox.file.save import to_bytes

FILES = Path(__file__).parent.parent / "files" / "0.1"


def changed(name: str, change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> bytes:
    """An example whose document and members were changed, its checksums right."""
    members = container.unpack((FILES / f"{name}.bayes").read_bytes())
    document = json.loads(members["model.json"])
    change(document, members)
    members["model.json"] = json.dumps(document).encode()
    return container.pack(members)


def refused(data: bytes, where: str) -> None:
    with pytest.raises(BadModelFile) as caught:
        from_bytes(data, name="m.bayes")
    assert caught.value.exit_code == 4
    assert caught.value.where is not None
    assert where in caught.value.where


def trees(document: dict[str, Any]) -> dict[str, Any]:
    return next(model for model in document["derived"]["models"] if "child" in model)


def replaced(members: dict[str, bytes], written: dict[str, Any], change: Callable[[np.ndarray], None]) -> None:
    """Change one array of the pool where it lies."""
    with pa.ipc.open_file(pa.BufferReader(members["pool-whole.arrow"])) as reader:
        whole = reader.read_all()["value"].to_numpy().copy()
    change(whole[written["at"] : written["at"] + int(np.prod(written["shape"]))])
    members["pool-whole.arrow"] = arrow.write({"value": pa.array(whole)})


def ladder(nodes: int) -> dict[str, np.ndarray]:
    """Nodes of which every two neighbours share their children: 1.6^nodes ways lead to the last."""
    inner = nodes - 2
    return {
        "root": np.array([0]),
        "column": np.array([0] * inner + [-1, -1]),
        "threshold": np.ones(nodes, dtype=np.int64),
        "child": np.array([*range(1, inner + 1), -1, -1]),
        "missing_left": np.zeros(nodes, dtype=np.int64),
        "words": np.empty(0, dtype=np.int64),
        "words_of": np.array([0]),
    }


def test_nodes_that_share_children_are_not_a_tree() -> None:
    with pytest.raises(ValueError, match="two parents"):
        _core.Forest.of(**ladder(200))
    _core.Forest.of(**ladder(3))
    for roots in ([0, 0], [0, 1], []):
        with pytest.raises(ValueError, match="trees"):
            _core.Forest.of(**{**ladder(3), "root": np.array(roots, dtype=np.int64)})


def test_a_tree_deeper_than_any_that_is_grown() -> None:
    depth = 1 << 17
    nodes = 2 * depth + 1
    column = np.zeros(nodes, dtype=np.int64)
    column[2::2] = -1
    column[-2:] = -1
    child = np.where(column < 0, -1, np.arange(nodes) + np.where(np.arange(nodes) == 0, 1, 2))
    arrays = ladder(3) | {name: np.zeros(nodes, dtype=np.int64) for name in ("threshold", "missing_left")}
    with pytest.raises(ValueError, match="trees"):
        _core.Forest.of(**arrays | {"column": column, "child": child})


def test_a_file_whose_trees_share_nodes() -> None:
    def share(document: dict[str, Any], members: dict[str, bytes]) -> None:
        def first_child(child: np.ndarray) -> None:
            asked = np.flatnonzero(child >= 0)
            child[asked[1]] = child[asked[2]]

        replaced(members, trees(document)["child"], first_child)

    refused(changed("auto", share), "m.bayes, ")


def test_counts_near_the_largest_integer_do_not_overflow() -> None:
    codes = np.array([[0, 1]], dtype=np.uint16)
    counts = np.full((3, 2), 2**62)
    asked = _core.Forest.of(**ladder(3)).ask(codes, counts, 1.0)
    np.testing.assert_allclose(asked, 0.5, rtol=1e-12)


def test_no_pool_within_a_pool() -> None:
    whole = (FILES / "auto.bayes").read_bytes()

    def nest(_: dict[str, Any], members: dict[str, bytes]) -> None:
        name = next(name for name in members if name.endswith(".bayes"))
        members[name] = whole

    refused(changed("auto", nest), "pool-")


def test_no_average_within_an_average_or_a_pool() -> None:
    whole = (FILES / "optimal.bayes").read_bytes()

    def nest(_: dict[str, Any], members: dict[str, bytes]) -> None:
        name = next(name for name in members if name.endswith(".bayes"))
        members[name] = whole

    refused(changed("optimal", nest), "m.bayes")
    refused(changed("auto", nest), "pool-")


@pytest.mark.parametrize("outer", ["auto", "optimal"])
@pytest.mark.parametrize("inner", ["text", "naive-given", "naive-free-text"])
def test_members_of_other_classes_columns_or_subjects(outer: str, inner: str) -> None:
    def exchange(_: dict[str, Any], members: dict[str, bytes]) -> None:
        name = next(name for name in members if name.endswith(".bayes"))
        members[name] = (FILES / f"{inner}.bayes").read_bytes()

    refused(changed(outer, exchange), "m.bayes")


@pytest.mark.parametrize(
    "change",
    [
        lambda pool: pool["classes"].__setitem__(0, "perhaps"),
        lambda pool: pool["classes"].__setitem__(0, pool["classes"][1]),
        lambda pool: pool["axes"][0].__setitem__("name", "nowhere"),
        lambda pool: pool["axes"][0].__setitem__("name", pool["axes"][1]["name"]),
        lambda pool: pool.__setitem__("judged", [True]),
        lambda pool: pool.__setitem__("judged", [["a", 1.0, 1.0, "x"]]),
        lambda pool: pool.__setitem__("pooled", [1.0]),
        lambda pool: pool.__setitem__("rows", 2**70),
    ],
)
def test_pools_that_do_not_fit_their_model(change: Callable[[dict[str, Any]], None]) -> None:
    refused(changed("auto", lambda document, _: change(document["derived"])), "m.bayes, ")


@pytest.mark.parametrize("name", ["kdb", "tan", "aode"])
def test_columns_counted_together_that_have_no_tally_of_their_own(name: str) -> None:
    def drop(_: dict[str, Any], members: dict[str, bytes]) -> None:
        with pa.ipc.open_file(pa.BufferReader(members["counts.arrow"])) as reader:
            table = reader.read_all()
        first = table["column"][0].as_py()
        kept = table.filter(pa.array([each != first for each in table["column"].to_pylist()])).combine_chunks()
        members["counts.arrow"] = arrow.write({each: kept[each].chunk(0) for each in kept.column_names})

    members = container.unpack(changed(name, drop))
    model_files.reseal(members)
    refused(container.pack(members), "m.bayes, ")


def test_parents_that_were_not_counted() -> None:
    def swap(document: dict[str, Any], _: dict[str, bytes]) -> None:
        parents = document["derived"]["parents"]
        name = next(name for name in sorted(parents) if parents[name])
        parents[name] = []

    refused(changed("kdb", swap), "m.bayes, ")


def test_words_without_their_places() -> None:
    def move(document: dict[str, Any], _: dict[str, bytes]) -> None:
        document["rules"]["occurrence"] = "position"

    refused(changed("text", move), "m.bayes, words.arrow")


def test_the_examples_are_taken_as_they_are() -> None:
    for name in ("auto", "optimal", "kdb", "tan", "aode", "text-position"):
        data = changed(name, lambda *_: None)
        assert to_bytes(from_bytes(data))
