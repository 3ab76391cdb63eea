"""Damaged files: every flipped bit, every cut, anything added, is detected and named; nothing else is raised.

The counts of what was tried and detected are printed; `pytest -rP` shows them.
"""

import functools
import re

import pytest
from tests.file.save_examples import EXAMPLES, resealed, saved

from bayesbox.errors import BadModelFile
from bayesbox.file import container
from bayesbox.file.load import from_bytes
from bayesbox.file.save import to_bytes

SMALL = ["mixed", "weighted", "given"]
SECTION = re.compile(r"^m\.bayes(, (directory(, entry \d+)?|end record|[a-z0-9-]+\.[a-z]+))?: \w")


@functools.cache
def original(name: str) -> bytes:
    return saved(name)


def refusal(data: bytes) -> str | None:
    """What the loader says against a file, None if it takes it."""
    try:
        from_bytes(data, name="m.bayes")
    except BadModelFile as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", SMALL)
def test_every_flipped_bit_is_detected(name: str) -> None:
    data = bytearray(original(name))
    assert refusal(bytes(data)) is None
    detected = named = 0
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            message = refusal(bytes(data))
            data[place] ^= 1 << bit
            detected += message is not None
            named += bool(message and SECTION.match(message))
    print(f"{name}: {len(data)} bytes, {8 * len(data)} flips tried, {detected} detected, {named} named")
    assert detected == named == 8 * len(data)


@pytest.mark.parametrize("name", SMALL)
def test_every_byte_set_to_zero_or_all_ones_is_detected(name: str) -> None:
    data = bytearray(original(name))
    tried = 0
    for place, byte in enumerate(bytes(data)):
        for other in {0, 255} - {byte}:
            data[place] = other
            assert refusal(bytes(data)) is not None, place
            tried += 1
        data[place] = byte
    print(f"{name}: {tried} bytes overwritten, all detected")


@pytest.mark.parametrize("name", SMALL)
def test_every_cut_is_detected(name: str) -> None:
    data = original(name)
    assert all(refusal(data[:length]) for length in range(len(data)))
    assert all(refusal(data[start:]) for start in range(1, len(data) + 1))
    assert all(refusal(data[:place] + data[place + 1 :]) for place in range(len(data)))
    print(f"{name}: {len(data)} cuts at the end, at the start and inside each, all detected")


@pytest.mark.parametrize("extra", [b"\0", b"PK", b"x" * 22, b"PK\5\6" + bytes(18)])
@pytest.mark.parametrize("name", SMALL)
def test_what_is_added_is_detected(name: str, extra: bytes) -> None:
    data = original(name)
    assert refusal(data + extra)
    assert refusal(extra + data)
    assert all(refusal(data[:place] + extra + data[place:]) for place in range(0, len(data), 7))
    assert refusal(data + data)


@pytest.mark.parametrize("name", SMALL)
def test_swapped_blocks_are_detected(name: str) -> None:
    data = original(name)
    size = 64
    for place in range(0, len(data) - 2 * size, size):
        one, other = data[place : place + size], data[place + size : place + 2 * size]
        swapped = data[:place] + other + one + data[place + 2 * size :]
        assert swapped == data or refusal(swapped)


def test_damage_is_named_by_its_section() -> None:
    data = original("mixed")
    members = container.unpack(data)
    for member, content in members.items():
        place = data.index(content) + len(content) // 2
        damaged = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        message = refusal(damaged)
        assert message is not None
        assert message.startswith(f"m.bayes, {member}: the content of the member is damaged")
        assert "Use another copy" in message


# -- damage that comes with the right checksums: a faulty writer, or a forger ----------------------------------------


@pytest.mark.parametrize("member", ["classes.arrow", "counts.arrow", "moments.arrow"])
@pytest.mark.parametrize(("name", "step"), [("mixed", 1), ("weighted", 3)])
def test_tallies_under_new_checksums_are_refused_or_the_same(name: str, step: int, member: str) -> None:
    data = original(name)
    places = range(0, len(container.unpack(data)[member]), step)
    refused = 0
    for place in places:
        forged = resealed(data, lambda members: _flip(members, member, place, place % 8))  # noqa: B023
        if refusal(forged) is None:
            assert to_bytes(from_bytes(forged)) == data, place  # the padding of Arrow means nothing
        else:
            refused += 1
    print(f"{name}, {member}: {len(places)} flips under new checksums, {refused} refused, the others without effect")
    assert refused > len(places) // 2


@pytest.mark.parametrize(
    ("name", "member"), [("mixed", "model.json"), ("given", "prior.arrow"), ("given", "tables.arrow")]
)
def test_whatever_stands_under_new_checksums_is_refused_or_can_be_saved_again(name: str, member: str) -> None:
    data = original(name)
    for place in range(len(container.unpack(data)[member])):
        forged = resealed(data, lambda members: _flip(members, member, place, (3 * place) % 7))  # noqa: B023
        if refusal(forged) is None:
            once = to_bytes(from_bytes(forged))
            assert to_bytes(from_bytes(once)) == once


@pytest.mark.parametrize("name", EXAMPLES)
def test_cut_members_under_new_checksums_are_refused(name: str) -> None:
    data = original(name)
    for member, content in container.unpack(data).items():
        for length in range(0, len(content), 1 if member == "model.json" else 9):
            forged = resealed(data, lambda members: members.update({member: content[:length]}))  # noqa: B023
            if bytes(content[:length]).rstrip() != bytes(content).rstrip():
                assert refusal(forged), (member, length)


def _flip(members: dict[str, bytes], member: str, place: int, bit: int) -> None:
    content = bytearray(members[member])
    content[place] ^= 1 << bit
    members[member] = bytes(content)
