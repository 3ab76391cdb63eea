"""The container: a plain zip whose bytes follow from its members, read without trust."""

import hashlib
import io
import json
import os
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusal import refusal

from bayesbox.errors import BadModelFile, SourceUnavailable
from bayesbox.file import container
from bayesbox.file.container import pack, read, unpack
from bayesbox.file.strict_json import document, dumps, parse

MEMBERS = {"model.json": b'{"format": 1}', "counts.arrow": bytes(range(256)), "empty.arrow": b""}
WHOLE = pack(MEMBERS)

names = st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}\.[a-z]{1,5}", fullmatch=True).filter(
    lambda name: name != "manifest.json"
)


def refused(data: bytes) -> str:
    with pytest.raises(BadModelFile) as caught:
        unpack(data, name="m.bayes")
    assert caught.value.remedy
    return str(caught.value)


@given(st.dictionaries(names, st.binary(max_size=40), max_size=5))
def test_members_come_back_and_zipfile_agrees(members: dict[str, bytes]) -> None:
    data = pack(members)
    assert unpack(data) == members
    assert list(unpack(data)) == list(members)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [*members, "manifest.json"]
        assert all(archive.read(name) == content for name, content in members.items())
        manifest = json.loads(archive.read("manifest.json"))
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert manifest == {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(data: bytes) -> None:
    refused(data)
    refused(b"PK\3\4" + data)
    refused(WHOLE[:-22] + data)


@pytest.mark.parametrize(
    "name", ["../evil.json", "/etc/x.json", "a/b.json", "A.json", "", ".json", "a", "manifest.json", "a.json\0"]
)
def test_names_that_a_member_cannot_have(name: str) -> None:
    with pytest.raises(ValueError, match="a member cannot be named"):
        pack({name: b""})


# -- archives that are valid zips, but not ours ----------------------------------------------------------------------


def forged(
    members: list[tuple[str, bytes]], *, manifest: bytes | None = None, sizes: dict[str, int] | None = None
) -> bytes:
    """A zip in our form, with whatever names, order and sizes are asked for."""
    listed = [*members]
    if manifest is None:
        manifest = dumps({name: hashlib.sha256(content).hexdigest() for name, content in members}) + b"\n"
    if manifest:
        listed.append(("manifest.json", manifest))
    pieces, entries, position = [], [], 0
    for name, content in listed:
        size = (sizes or {}).get(name, len(content))
        entry = container._Entry(name, zlib.crc32(content), size, position)
        pieces += [entry.header(), content]
        entries.append(entry.entry())
        position += 30 + len(name) + len(content)
    directory = b"".join(entries)
    return b"".join([*pieces, directory, container._end(len(entries), len(directory), position)])


def test_the_forger_works() -> None:
    assert forged(list(MEMBERS.items())) == WHOLE


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..\\x.json", "c:x.json", "a.json/", "b\n.json", "x" * 90 + ".json"]
)
def test_paths_are_no_names(name: str) -> None:
    assert "unknown member" in refused(forged([(name, b"x")]))


def test_a_name_twice() -> None:
    assert "entry 2: two members have the same name" in refused(forged([("a.json", b"x"), ("a.json", b"y")]))


def test_a_manifest_that_is_missing_or_not_last() -> None:
    assert "the last member is not manifest.json" in refused(forged([("a.json", b"x")], manifest=b""))
    first = forged([("manifest.json", dumps({}) + b"\n"), ("a.json", b"x")], manifest=b"")
    assert "the last member is not manifest.json" in refused(first)


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"a.json": "0" * 64},
        {"a.json": hashlib.sha256(b"x").hexdigest().upper()},
        {"a.json": hashlib.sha256(b"x").hexdigest(), "b.json": "0" * 64},
    ],
)
def test_a_manifest_that_does_not_fit(manifest: dict[str, str]) -> None:
    message = refused(forged([("a.json", b"x")], manifest=dumps(manifest) + b"\n"))
    assert message.startswith("m.bayes, manifest.json: the checksums do not match the members")


def test_content_with_another_sha_under_the_right_crc() -> None:
    """CRC-32 is no protection against intent: the manifest is."""
    manifest = dumps({"a.json": hashlib.sha256(b"x").hexdigest()}) + b"\n"
    assert "m.bayes, manifest.json" in refused(forged([("a.json", b"y")], manifest=manifest))
    assert unpack(forged([("a.json", b"x")], manifest=manifest)) == {"a.json": b"x"}


@pytest.mark.parametrize("size", [0, 1, 255, 257, 2**31, 2**32 - 1])
def test_sizes_that_are_not_true(size: int) -> None:
    tracemalloc.start()
    try:
        refused(forged(list(MEMBERS.items()), sizes={"counts.arrow": size}))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("count", [0, 3, 5, 65535])
@pytest.mark.parametrize("field", [8, 10])
def test_counts_of_members_that_are_not_true(count: int, field: int) -> None:
    end = bytearray(WHOLE[-22:])
    end[field : field + 2] = struct.pack("<H", count)
    refused(WHOLE[:-22] + bytes(end))
    end[8:12] = struct.pack("<HH", count, count)
    refused(WHOLE[:-22] + bytes(end))


def test_a_zip_bomb_is_never_inflated() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", bytes(50_000_000))
    bomb = file.getvalue()
    assert len(bomb) < 100_000
    tracemalloc.start()
    try:
        assert "the entry is not that of a model" in refused(bomb)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


ENTRY = WHOLE.index(b"PK\1\2")  # of the first member, whose header is at 0


@pytest.mark.parametrize(
    ("what", "header", "entry", "value"),
    [
        ("version that wrote it", None, 4, 20),
        ("system that wrote it", None, 5, 3),
        ("version needed", 4, 6, 20),
        ("names in UTF-8", 7, 9, 8),
        ("a descriptor after the content", 6, 8, 8),
        ("encryption", 6, 8, 1),
        ("deflate", 8, 10, 8),
        ("time", 10, 12, 99),
        ("date", 12, 14, 99),
        ("disk", None, 34, 1),
        ("internal attributes", None, 36, 1),
        ("permissions", None, 40, 99),
    ],
)
def test_liberties_that_zip_allows_are_refused(what: str, header: int | None, entry: int, value: int) -> None:
    """The directory and the header agree with each other, but not with what we write."""
    data = bytearray(WHOLE)
    data[ENTRY + entry] = value
    if header is not None:
        data[header] = value
    assert "entry 1: the entry is not that of a model" in refused(bytes(data))


def test_a_comment_or_an_extra_field_is_refused() -> None:
    comment = WHOLE[:-2] + struct.pack("<H", 5) + b"hello"
    with zipfile.ZipFile(io.BytesIO(comment)) as archive:
        assert archive.comment == b"hello"
    assert "end record" in refused(comment)
    last = WHOLE.rindex(b"PK\1\2")
    entry = WHOLE[last:-22]
    size, start = struct.unpack("<II", WHOLE[-10:-2])
    end = WHOLE[-22:-10] + struct.pack("<II", size + 4, start) + b"\0\0"
    for length in (30, 32):  # of the extra field, of the comment
        longer = entry[:length] + struct.pack("<H", 4) + entry[length + 2 :] + b"\x99\x99\0\0"
        forgery = WHOLE[:last] + longer + end
        with zipfile.ZipFile(io.BytesIO(forgery)) as archive:
            assert archive.testzip() is None
        assert "entry 4: the entry is not that of a model" in refused(forgery)


def test_bytes_between_members_are_refused() -> None:
    """Zip readers go by the directory and do not mind what lies between."""
    hidden = b"hidden"
    size, start = struct.unpack("<II", WHOLE[-10:-2])
    directory = WHOLE[start : start + size]
    end = WHOLE[-22:-10] + struct.pack("<II", size, start + len(hidden)) + b"\0\0"
    forgery = WHOLE[:start] + hidden + directory + end
    with zipfile.ZipFile(io.BytesIO(forgery)) as archive:
        assert archive.testzip() is None
    assert "the members do not fill the file" in refused(forgery)


# -- reading ---------------------------------------------------------------------------------------------------------


def test_reading(tmp_path: Any) -> None:
    path = tmp_path / "m.bayes"
    path.write_bytes(WHOLE)
    assert read(path) == WHOLE
    with refusal(SourceUnavailable, where="absent"):
        read(tmp_path / "absent")


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Any) -> None:
    path = tmp_path / "large.bayes"
    with open(path, "wb") as file:
        file.truncate(container.LIMIT + 1)  # a hole: it takes no space
    tracemalloc.start()
    try:
        with refusal(BadModelFile, where="large.bayes", found=1073741825):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_an_endless_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "LIMIT", 10_000)
    with refusal(BadModelFile, where="/dev/zero", found=10001):
        read("/dev/zero")
    with refusal(BadModelFile, where="model", found=10937):
        unpack(WHOLE + bytes(10_000))


# -- JSON ------------------------------------------------------------------------------------------------------------

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_json_comes_back_with_its_types(value: Any) -> None:
    assert repr(parse(dumps(value))) == repr(value)
    assert repr(parse(document({"value": value, "list": [{"value": value}] * 2}))) == repr(
        {"value": value, "list": [{"value": value}] * 2}
    )


def test_pairs_of_surrogates_are_characters() -> None:
    assert parse(dumps("\U0001f600")) == "\U0001f600"
    with pytest.raises(ValueError, match="surrogates"):
        parse(b'"\\uD83D"')


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_written(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps(value)
    with pytest.raises(ValueError, match="not JSON compliant"):
        document({"a": [{"b": value}]})


def test_reading_takes_memory_by_the_size_of_the_file(tmp_path: Path) -> None:
    """Not by the largest that a file may have: a gigabyte was asked for, whatever the file."""
    path = tmp_path / "m.bayes"
    path.write_bytes(WHOLE)
    tracemalloc.start()
    try:
        assert read(path) == WHOLE
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_pipe_is_read_to_its_end() -> None:
    """Its size is not known beforehand."""
    out, into = os.pipe()
    try:
        os.write(into, WHOLE)
        os.close(into)
        assert read(f"/dev/fd/{out}") == WHOLE
    finally:
        os.close(out)
