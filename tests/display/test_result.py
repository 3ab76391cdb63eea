"""What every result can do: one line, a table, HTML, a frame."""

from __future__ import annotations

import importlib
import math
import pickle
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import bayesbox
from bayesbox.display import frame
from bayesbox.display.blocks import Bar, Block, PictureBlock, TableBlock, TextBlock
from bayesbox.display.html import as_html, page
from bayesbox.display.picture import Picture
from bayesbox.display.result import Result
from bayesbox.display.text import WIDTH, as_text
from bayesbox.errors import MissingExtra

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4"/></svg>'


@dataclass(frozen=True, repr=False)
class Weights(Result):
    """A result as the recipe of the architecture page has it."""

    weights: Mapping[str, float]

    def _headline(self) -> str:
        return f"Weights({', '.join(self.weights)})"

    def _title(self) -> str:
        return "weights of the columns"

    def _blocks(self) -> Sequence[Block]:
        longest = max(map(abs, self.weights.values()))
        rows = [[name, value, Bar(value / longest)] for name, value in self.weights.items()]
        return [TableBlock(["column", "weight", ""], rows), TextBlock("all of them"), PictureBlock(self.svg())]

    def _frame(self) -> Mapping[str, Sequence[Any]]:
        return {"column": list(self.weights), "weight": list(self.weights.values())}

    def svg(self) -> str:
        return SVG


def subclasses(of: type) -> Iterator[type]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)


def test_a_result_prints_shows_and_becomes_a_frame() -> None:
    found = Weights({"age": 1.0, "<car>": -0.25})
    assert repr(found) == "Weights(age, <car>)"
    assert str(found).splitlines() == [
        "weights of the columns",
        "",
        "  column   weight",
        "  age      1.0000  ####################",
        "  <car>   -0.2500  -----",
        "",
        "all of them",
    ]
    html = found._repr_html_()
    assert "<td>&lt;car&gt;</td>" in html
    assert SVG in html
    assert 'class="bar below"' in html
    assert "<script" not in html
    assert "<car>" not in html
    assert found.to_frame()["weight"].tolist() == [1.0, -0.25]


def test_no_dataclass_hides_the_one_line() -> None:
    """A dataclass writes a repr of all its fields, unless it is told not to."""
    for module in pkgutil.walk_packages(bayesbox.__path__, "bayesbox."):
        try:
            importlib.import_module(module.name)
        except MissingExtra:
            continue
        except ModuleNotFoundError as error:
            if str(error.name).startswith("bayesbox"):  # else an extra is not installed
                raise
    assert {each.__name__ for each in subclasses(Result) if "__repr__" in vars(each)} == set()


def test_without_pandas_a_frame_is_an_arrow_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "find_spec", lambda name: None)
    assert Weights({"age": 1.0}).to_frame().equals(pa.table({"column": ["age"], "weight": [1.0]}))


def test_a_column_of_several_types_becomes_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "find_spec", lambda name: None)
    assert frame.frame_of({"value": [1, "a", None]})["value"].to_pylist() == ["1", "a", None]


def test_a_long_line_is_cut() -> None:
    found = Weights({"x" * 200: 1.0})
    assert len(repr(found)) == WIDTH - 4 + len("...)")


def lines_of(*blocks: Block) -> list[str]:
    return as_text("", blocks).splitlines()


def test_a_wide_table_fits_the_page() -> None:
    texts = TableBlock(["name", "said"], [["a" * 70, "b" * 90], ["c", "d"]])
    assert max(map(len, lines_of(texts))) <= WIDTH
    assert any(line.endswith("...") for line in lines_of(texts))
    numbers = TableBlock(["row", *(f"column {place}" for place in range(30))], [["first", *range(30)]])
    lines = lines_of(numbers)
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) == 8
    assert all(line.startswith(("  row", "  first")) for line in lines)
    assert sum(line.count("column") for line in lines) == 30


def test_rows_that_are_not_shown_are_counted() -> None:
    many = TableBlock(["n"], [[place] for place in range(60)], most=50)
    assert lines_of(many)[-1] == "  ... 10 more rows"
    assert "... 10 more rows" in as_html("", [many])
    assert lines_of(TableBlock(["n"], [[0], [1]], most=1))[-1] == "  ... 1 more row"
    assert lines_of(TableBlock(["n"], [[0], [1]], most=2))[-1] == "  1"


def test_cells_cannot_break_out_of_their_line() -> None:
    table = TableBlock(["na\nme"], [["a\tb\x1b[31m\nc"]], caption="<b>")
    assert lines_of(table) == ["<b>", "  na me", "  a b [31m c"]
    html = as_html("<i>", [table, TextBlock("x < y"), TextBlock("a  b\n c", fixed=True)])
    assert "\x1b" not in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert "x &lt; y" in html
    assert "<pre>a  b\n c</pre>" in html


def test_bars_have_a_length_and_a_sign() -> None:
    assert [str(Bar(share)) for share in (0.5, -0.1, 0, math.nan, 7)] == ["#" * 10, "--", "", "", "#" * 20]


class _Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_well_formed() -> None:
    parser = _Balance()
    parser.feed(page("all", Weights({"age": 1.0})._repr_html_()))
    assert parser.open == []


def test_a_picture_is_its_text(tmp_path: Path) -> None:
    picture = Picture(SVG, "a square")
    assert picture == SVG
    assert str(picture) == SVG
    assert f"{picture}" == SVG
    assert type(picture.svg()) is str
    assert repr(picture) == "<Picture: a square>"
    assert picture._repr_svg_() == SVG
    assert SVG in picture._repr_html_()
    again = pickle.loads(pickle.dumps(picture))
    assert again == picture
    assert again.caption == "a square"
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == SVG
