"""`StreamTrainer`: every batch counts once, wherever the process was killed and however often a batch comes again."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.export.cases import people
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, SourceUnavailable
from bayesbox.estimators import stream

ROWS = people(240, 5)
KINDS = {"zip": "category", "visits": "count", "member": "flag"}
ONE = bb.train(ROWS, target="risk", model=bb.NaiveBayes(columns=KINDS)).book_.digest()


class Killed(BaseException):
    """The end of the process."""


def trainer(folder: Path, **options: Any) -> bb.StreamTrainer:
    return bb.StreamTrainer(folder, target="risk", **{"model": bb.NaiveBayes(columns=KINDS), **options})


def batches(cuts: list[int]) -> list[pa.Table]:
    places = [0, *sorted(cuts), ROWS.num_rows]
    return [ROWS.slice(first, last - first) for first, last in itertools.pairwise(places)]


@given(cuts=st.lists(st.integers(1, 239), max_size=4), repeats=st.lists(st.integers(1, 3), min_size=5, max_size=5))
def test_a_batch_that_comes_again_counts_once(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], repeats: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("stream")
    for number, batch in enumerate(batches(cuts)):
        for _ in range(repeats[number]):
            trainer(folder)(batch, number)  # each time by a process that knows nothing but the folder
    assert trainer(folder).model().book_.digest() == ONE
    assert bb.load(folder / stream.MODEL).book_.digest() == ONE
    assert len(os.listdir(folder)) == 2


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", range(6))
def test_killed_at_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, done: bool) -> None:
    """The process ends before or after each of its writes in turn: two files and what is removed, in two batches."""
    taken = 0

    def deadly(write: Any) -> Any:
        def once(*given: Any, **options: Any) -> Any:
            nonlocal taken
            taken += 1
            if taken - 1 == step and not done:
                raise Killed
            result = write(*given, **options)
            if taken - 1 == step:
                raise Killed
            return result

        return once

    with monkeypatch.context() as patch:
        patch.setattr(stream, "save", deadly(stream.save))
        patch.setattr(stream.StreamTrainer, "_remove_older", deadly(stream.StreamTrainer._remove_older))
        parts, number = batches([90, 150]), 0
        while number < 2:
            try:
                trainer(tmp_path)(parts[number], number)
            except Killed:
                continue  # a new process begins with the batch that was not committed
            number += 1
    assert taken > step
    trainer(tmp_path)(parts[2], 2)
    assert trainer(tmp_path).model().book_.digest() == ONE
    assert bb.load(tmp_path / stream.MODEL).book_.digest() == ONE


def test_other_rows_under_a_number_are_refused(tmp_path: Path) -> None:
    first, second, third = batches([90, 150])
    learner = trainer(tmp_path)
    learner(first, 4)
    learner(second, 7)
    with refusal(BadData, what="other rows", remedy="new folder"):
        learner(third, 7)
    with refusal(BadData, what="batch 4 after batch 7", where=str(tmp_path)):
        learner(first, 4)
    learner(third.slice(0, 0), 8)  # without a row
    assert learner.last_batch == 7
    for number in (-1, 1.5, True):
        with refusal(BadOption, found=number):
            learner(third, number)  # type: ignore[arg-type]
    learner(third, 9)
    assert learner.model().book_.digest() == ONE


def test_what_a_stream_can_be_added_to(tmp_path: Path) -> None:
    first, rest = batches([120])
    base = bb.train(first, target="risk", model=bb.TAN(columns=KINDS))
    learner = trainer(tmp_path / "tree", model=base)
    learner(rest, 0)
    assert learner.model().book_.class_counts.to_doubles().sum() == ROWS.num_rows
    assert base.book_.class_counts.to_doubles().sum() == first.num_rows
    for model in (bb.TAN(columns=KINDS), bb.FullBayes(columns={**KINDS, "visits": "real"})):
        with refusal(BadOption, what="more from rows than counts", remedy="fitted"):
            trainer(tmp_path / "derived", model=model)(first, 0)
    assert trainer(tmp_path / "derived").last_batch is None
    with refusal(BadOption, what="more from rows than counts"):
        trainer(tmp_path, model=bb.NaiveBayes(select="forward"))
    with refusal(BadOption, found="naive"):
        trainer(tmp_path, model="naive")
    with refusal(BadData, what="no batch"):
        trainer(tmp_path / "empty").model()
    (tmp_path / "file").write_text("")
    with refusal(SourceUnavailable, where="file"):
        trainer(tmp_path / "file")


def test_documents(tmp_path: Path) -> None:
    rows = pa.table({"note": ["red rose", "blue iris", "red tulip", "blue"], "kind": ["p", "q", "p", "q"]})
    learner = bb.StreamTrainer(tmp_path, target="kind", text="note", model=bb.TextClassifier())
    for number in (0, 1, 1):
        learner(rows.slice(2 * number, 2), number)
    assert learner.model().book_.digest() == bb.TextClassifier().fit(rows["note"], rows["kind"]).book_.digest()
    assert repr(learner) == f"StreamTrainer({str(tmp_path)!r}, target='kind')"
