"""A source of somebody else is found by its data, by the scheme of an address or by the ending of a name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.errors import SourceUnavailable
from bayesbox.source.base import Batch, Source
from bayesbox.source.files.open import file_columns, open_source
from bayesbox.source.registry import KINDS, kind_of_data, register_source, source_from, unregister_source


class Pairs(Source):
    """Lines of `age class`, the format of nobody."""

    def __init__(self, path: str) -> None:
        self.path, self.name = path, path

    def batches(self) -> Iterator[Batch]:
        rows = [line.split() for line in Path(self.path).read_text().splitlines()]
        ages, risks = zip(*rows, strict=True)
        yield Batch(("age", "risk"), (pa.array([float(age) for age in ages]), pa.array(risks)), len(rows))


class Herd:
    """Data of a type that nobody knows."""


class HerdSource(Source):
    name = "the herd"
    names = ("age", "risk")

    def __init__(self, herd: object) -> None:
        self.herd = herd

    def batches(self) -> Iterator[Batch]:
        yield Batch(self.names, (pa.array([25.0, 20.0, 45.0]), pa.array(["L", "H", "H"])), 3)


@pytest.fixture
def registered() -> Iterator[None]:
    register_source("pairs", extensions=["pairs"])(Pairs)
    register_source("herd", accepts=lambda data: isinstance(data, Herd), schemes=["herd"])(HerdSource)
    yield
    unregister_source("pairs")
    unregister_source("herd")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "people.pairs"
    path.write_text("25 L\n20 H\n45 H\n")
    return path


@pytest.mark.usefixtures("registered")
def test_a_model_of_any_kind_of_source_is_that_of_the_same_frame(pairs: Path) -> None:
    expected = bb.train({"age": [25.0, 20.0, 45.0], "risk": ["L", "H", "H"]}, target="risk").book_
    for data in (pairs, str(pairs), "herd://meadow", Herd(), HerdSource(None)):
        assert bb.train(data, target="risk").book_ == expected


@pytest.mark.usefixtures("registered")
def test_several_are_read_one_after_another(pairs: Path, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("risk,age\nL,7\n")
    source = open_source([pairs, "herd://meadow", tmp_path / "more.csv"])
    batches = list(source.batches())
    assert [(batch.names, batch.rows, batch.first_row) for batch in batches] == [
        (("age", "risk"), 3, 0),
        (("age", "risk"), 3, 3),
        (("age", "risk"), 1, 6),
    ]
    assert batches[2]["age"].to_pylist() == [7.0]
    (tmp_path / "others.csv").write_text("age,car\n7,suv\n")
    with pytest.raises(bb.BadData) as refused:
        list(open_source([pairs, tmp_path / "others.csv"]).batches())
    assert (refused.value.where, refused.value.found) == (str(tmp_path / "others.csv"), ["age", "car"])


@pytest.mark.usefixtures("registered")
def test_the_command_reads_it(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "m.bayes")
    assert run(["train", str(pairs), "-t", "risk", "-o", model]) == 0
    assert run(["predict", model, "herd://meadow"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert run(["train", str(pairs), "-t", "risk", "-o", model, "--na", "?"]) == 2


@pytest.mark.usefixtures("registered")
def test_columns_are_named_without_the_rows(pairs: Path) -> None:
    assert list(file_columns(pairs)) == ["age", "risk"]
    assert list(file_columns("herd://meadow")) == ["age", "risk"]


def test_what_is_registered_must_be_found_by_something() -> None:
    with pytest.raises(bb.BadOption):
        register_source("nothing")
    with pytest.raises(bb.BadOption):
        register_source("sql", schemes=["sql"])


def test_every_kind_can_be_opened() -> None:
    assert all(callable(kind.opener()) for kind in KINDS.values())
    assert kind_of_data({"age": [25]}).name == "frame"
    source = HerdSource(None)
    assert source_from(source) is source


def test_an_address_that_no_kind_claims_is_a_file_that_is_not_there() -> None:
    with pytest.raises(SourceUnavailable):
        list(open_source("nowhere://x").batches())
