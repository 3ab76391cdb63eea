"""Sources around other sources: what they forward, and where they count."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

import bayesbox as bb
from bayesbox.classifier.row_sample import Sampled
from bayesbox.source.base import Batch, Skipped, Source
from bayesbox.source.wrapped import Chained, Narrowed, Recorded, WrappedSource, peek


class Counted(Source):
    """A source that is unlike the defaults in every way."""

    name = "counted"
    names = ("x",)
    untyped = True
    rereadable = False
    progress = 0.25  # type: ignore[assignment]
    skipped = Skipped(3)  # type: ignore[assignment]

    def batches(self) -> Iterator[Batch]:
        yield Batch(("x",), (pa.array([1, 2]),), 2)
        yield Batch(("x",), (pa.array([3]),), 1, 2)


WRAPPERS: list[Callable[[Source], WrappedSource]] = [
    WrappedSource,
    Recorded,
    lambda source: Narrowed(source, ["x"]),
    lambda source: Sampled(source, 10),
    lambda source: peek(source)[1],
]


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_wrappers_answer_as_what_they_wrap(wrap: Callable[[Source], WrappedSource]) -> None:
    wrapped = wrap(Counted())
    for member in ("name", "names", "untyped", "rereadable", "progress", "skipped"):
        assert getattr(wrapped, member) == getattr(Counted(), member), member
    assert wrapped.parts(2) is None
    assert wrapped.reduce(lambda batch: batch.rows, threads=2) == 3


def test_the_defaults() -> None:
    source = Source()
    assert (source.name, source.names, source.untyped, source.rereadable, source.remote) == (
        "data",
        (),
        False,
        True,
        False,
    )
    assert (source.progress, source.skipped.count, source.parts(2)) == (None, 0, None)
    with pytest.raises(NotImplementedError):
        source.batches()


def test_a_chain_adds_up_what_its_sources_skipped() -> None:
    chain = Chained([Counted(), Counted()])
    assert (chain.skipped.count, chain.rereadable) == (6, False)
    assert [batch.first_row for batch in chain.batches()] == [0, 2, 3, 5]


class Elsewhere(Source):
    """Documents that are counted where they are."""

    name = "elsewhere"
    names = ("text", "class")
    remote = True

    def batches(self) -> Iterator[Batch]:
        texts = ["red rose", "blue sky", "red tulip", "blue sea"] * 10
        yield Batch(self.names, (pa.array(texts), pa.array(["p", "q"] * 20)), 40)

    def reduce(self, function: Callable[[Batch], Any], *, threads: int = 1) -> Any:
        (batch,) = self.batches()
        return pickle.loads(pickle.dumps(function))(batch)


@pytest.mark.parametrize("calibration", [None, "temperature"])
def test_documents_elsewhere_are_brought_here_where_they_are_judged(calibration: str | None) -> None:
    """Calibration needs the documents, and so it reads them, though they can be counted where they are."""
    model = bb.TextClassifier(calibration=calibration)
    trained = bb.train(Elsewhere(), target="class", text="text", model=model)
    (batch,) = Elsewhere().batches()
    here = bb.TextClassifier(calibration=calibration).fit(batch["text"], batch["class"])
    assert trained.book_.digest() == here.book_.digest()
    assert (trained.predict_proba(["red sky"]) == here.predict_proba(["red sky"])).all()
