"""JSON lines: typed values as they stand, absent keys missing, the slow way and the fast way alike."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.refusal import refusal

from bayesbox.errors import BadData, BadRow, KindContradiction
from bayesbox.schema.levels import level_text
from bayesbox.source.files import jsonl, nesting
from bayesbox.source.files.open import open_source


def write(folder: Path, rows: list[Any], name: str = "people.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_of(path: Path, **options: Any) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for batch in open_source(path, **options).batches():
        for name, column in zip(batch.names, batch.columns, strict=True):
            column.validate(full=True)
            columns.setdefault(name, []).extend(column.to_pylist())
    return {
        name: [None if isinstance(value, float) and math.isnan(value) else value for value in values]
        for name, values in columns.items()
    }


PEOPLE = [
    {"age": 25, "car": "suv", "young": True},
    {"car": None, "age": 40.5},
    {"young": False, "car": "sports"},
]


def test_kinds(tmp_path: Path) -> None:
    batch = next(open_source(write(tmp_path, PEOPLE)).batches())
    assert batch.names == ("age", "car", "young")
    coded = pa.dictionary(pa.int32(), pa.string())
    assert [column.type for column in batch.columns] == [pa.float64(), coded, pa.bool_()]
    assert batch["age"].to_pylist() == [25.0, 40.5, None]
    assert batch["car"].to_pylist() == ["suv", None, "sports"]
    assert batch["young"].to_pylist() == [True, None, False]


def test_line_by_line_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, PEOPLE)
    fast = list(open_source(path).batches())
    monkeypatch.setattr(jsonl.JsonRows, "_parse", lambda *_: None)
    slow = list(open_source(path).batches())
    for one, other in zip(fast, slow, strict=True):
        assert one.names == other.names
        for column, same in zip(one.columns, other.columns, strict=True):
            assert column.equals(same)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, 0, None], ["1", "0", None]),
        ([1.0, 0.5, 3], ["1", "0.5", "3"]),
        ([True, False], ["true", "false"]),
        (["yes", "no"], ["yes", "no"]),
        (["yes", 1, 2.5, True], ["yes", "1", "2.5", "true"]),
        ([12345678901234567890, 1], ["12345678901234567890", "1"]),
        ([9007199254740993, 1.5], ["9007199254740993", "1.5"]),
        (["2024-05-01", "2024-05-02"], ["2024-05-01", "2024-05-02"]),
    ],
)
def test_declared_text(tmp_path: Path, values: list[Any], texts: list[str | None]) -> None:
    path = write(tmp_path, [{"label": value, "age": 1} for value in values])
    assert rows_of(path, text=frozenset({"label"}))["label"] == texts


def test_mixed_values_are_texts(tmp_path: Path) -> None:
    assert rows_of(write(tmp_path, [{"zip": "02134"}, {"zip": 2134}]))["zip"] == ["02134", "2134"]


def test_numbers(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text('{"age": 1}\n{"age": 123456789012345678901234567890}\n{"age": 1e400}\n{"age": NaN}\n')
    assert rows_of(path)["age"] == [1.0, 123456789012345678901234567890.0, math.inf, None]
    path.write_text('{"age": -0.0}\n{"age": 0.1}\n{"age": ' + "9" * 400 + "}\n")
    assert rows_of(path)["age"] == [0.0, 0.1, math.inf]


def test_missing_words(tmp_path: Path) -> None:
    rows = [{"age": 1, "car": "suv", "size": "?"}, {"age": "?", "car": "?", "size": "?"}]
    path = write(tmp_path, rows)
    assert rows_of(path, na=["?"]) == {"age": [1.0, None], "car": ["suv", None], "size": [None, None]}
    batch = next(open_source(path, na=["?"]).batches())
    assert batch["size"].type == pa.null()


def test_the_empty_text_is_a_value(tmp_path: Path) -> None:
    assert rows_of(write(tmp_path, [{"car": ""}, {"car": "suv"}]))["car"] == ["", "suv"]


def test_blank_lines_marks_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "people.ndjson"
    path.write_bytes(b'\xef\xbb\xbf\r\n\n{"age": 1}\r\n\r\n  {"age": 2}  \r\n{"age": 3}')
    assert rows_of(path)["age"] == [1.0, 2.0, 3.0]


@pytest.mark.usefixtures("small_blocks")
def test_a_column_is_undecided_until_its_first_value(tmp_path: Path) -> None:
    rows: list[Any] = [{"age": index, "car": None} for index in range(50)]
    batches = list(open_source(write(tmp_path, [*rows, {"car": "suv"}, *rows])).batches())
    assert batches[0]["car"].type == pa.null()
    assert batches[-1]["car"].type == pa.dictionary(pa.int32(), pa.string())
    assert [value for batch in batches for value in batch["car"].to_pylist() if value] == ["suv"]


@pytest.mark.parametrize(("first", "later"), [(1, "one"), (1, True), (True, "yes"), (True, 1), (1.5, "nan")])
@pytest.mark.usefixtures("small_blocks")
def test_contradictions(tmp_path: Path, first: Any, later: Any) -> None:
    rows = [{"age": first}] * 50 + [{"age": later}]
    with refusal(KindContradiction, column="age", where="line 51, column `age`"):
        rows_of(write(tmp_path, rows))


def test_declared_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, [{"age": None}, {"age": 3}])
    assert rows_of(path, number=frozenset({"age"}))["age"] == [None, 3.0]
    with refusal(KindContradiction, column="car", where="line 1, column `car`", found="suv"):
        rows_of(write(tmp_path, [{"car": "suv"}]), number=frozenset({"car"}))


@pytest.mark.parametrize("text", ["", "\n\n", "{}\n{}\n"])
def test_nothing_in_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text(text)
    with refusal(BadData, where="people.jsonl"):
        rows_of(path)


cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
)
names = st.sampled_from(["age", "car", "size", "a b", "é"])


@given(st.lists(st.dictionaries(names, cells), min_size=1, max_size=10))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@pytest.mark.usefixtures("small_blocks")
def test_any_rows_as_texts(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """Every value of every type comes out as its text where the columns are declared text."""
    known = sorted({name for row in rows for name in row})
    if not known:
        return
    rows = [dict.fromkeys(known), *rows]
    found = rows_of(write(tmp_path, rows), text=frozenset(known))
    for name in known:
        values = [row.get(name) for row in rows]
        assert found[name] == [None if value is None else level_text(value) for value in values]


DEEP = 20_000  # levels at which Arrow's reader ends the process


def nested(depth: int, between: str = "") -> str:
    return f"[{between}" * depth + "]" * depth


@pytest.mark.parametrize(
    "value",
    [
        nested(DEEP),
        nested(DEEP, '"]",'),  # a bracket in a string closes nothing
        nested(DEEP, " "),
        nested(DEEP, "1,"),
        "[" * DEEP,
        '{"a":' * DEEP + "1" + "}" * DEEP,
        '[{"a":' * DEEP + "1" + "}]" * DEEP,
    ],
    ids=["lists", "strings between", "spaces between", "numbers between", "never closed", "objects", "both"],
)
@pytest.mark.parametrize("ignored", [False, True])
def test_values_nested_without_end(tmp_path: Path, value: str, ignored: bool) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"x": "a", "y": "p"}\n{"x": ' + value + ', "y": "q"}\n{"x": "b", "y": "p"}\n')
    options: dict[str, Any] = {"unread": frozenset({"x"})} if ignored else {}
    with refusal(BadRow, where="line 2, column `x`"):
        rows_of(path, **options)
    source = open_source(path, bad_rows="skip", **options)
    assert [label for batch in source.batches() for label in batch["y"].to_pylist()] == ["p", "p"]
    assert source.skipped.count == 1


def test_brackets_in_strings_are_text(tmp_path: Path) -> None:
    texts = ["[" * 500, '\\"[' * 300, "\\" + "[" * 200, "[]" * 200, "{" * 300]
    path = write(tmp_path, [{"x": text, "y": 1} for text in texts])
    assert rows_of(path) == {"x": texts, "y": [1.0] * len(texts)}


def test_lists_that_are_not_read_may_be_nested(tmp_path: Path) -> None:
    deep = json.loads(nested(nesting.MOST_DEPTH - 1))
    rows = [{"x": deep, "y": 1}, {"x": [[]] * 500, "y": 2}]
    assert rows_of(write(tmp_path, rows), unread=frozenset({"x"}))["y"] == [1.0, 2.0]


@given(st.text(st.sampled_from('[]{}"\\ :,1a'), max_size=60), st.integers(0, 3))
def test_depth_is_that_of_a_walk(text: str, most: int) -> None:
    deepest = depth = 0
    inside = escaped = False
    for letter in text:
        if inside:
            inside = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            inside = True
        else:
            depth += (letter in "[{") - (letter in "]}")
            deepest = max(deepest, depth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "MOST_DEPTH", most)
        assert nesting.is_deep(text.encode()) == (deepest > most)
