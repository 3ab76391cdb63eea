"""Damage to texts, bytes and JSON that keeps most of the structure, so that mutants get past the first check.

swap or repeat words and lines of the text itself, put one name or number in the place of another, hostile numbers,
and now and then plain damage to bytes
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

NUMBERS = [
    b"0", b"1", b"-1", b"-0.0", b"0.5", b"1e-400", b"5e-324", b"1e308", b"1e309", b"nan", b"inf", b"-inf", b"0,5", b"2",
    b"255", b"65536", b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808",
    b"-9223372036854775808", b"1e999", b"9" * 400, b"0x10", b"1_000", b"00", b"+1", b"1.", b".5", b"1e",
]  # fmt: skip
TOKENS = [
    b",", b'"', b"'", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xff\xfe", b"{", b"}",
    b"[", b"]", b"(", b")", b"<", b">", b"/", b"&", b"&lt;", b"<!--", b"-->", b"<![CDATA[", b":", b";", b"=", b"|",
    b"%", b"#", b"\\", b"\\u0000", b"\\ud800", b"\t", b" ", b"null", b"true", b"//", b"/*", b"*/", b"\x1b",
    b"\xe2\x80\xa8", b"\xf0\x9f\x90\x91",
]  # fmt: skip
WORDS = re.compile(rb"[A-Za-z_][\w-]*|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\s+|.", re.DOTALL)
_NUMBER = re.compile(rb"[-+]?\d")


def damaged_bytes(original: bytes, chance: random.Random, tokens: Sequence[bytes] = TOKENS) -> bytes:
    """One change that knows nothing of the structure."""
    text = bytearray(original)
    place = chance.randrange(len(text) + 1)
    change = chance.randrange(6)
    if change == 0 and place < len(text):
        text[place] ^= 1 << chance.randrange(8)
    elif change == 1:
        del text[place : place + chance.randrange(1, 12)]
    elif change == 2:
        text[place:place] = chance.choice(tokens)
    elif change == 3:
        text[place:place] = text[chance.randrange(len(text) + 1) :][: chance.randrange(1, 40)]
    elif change == 4:
        text[place:place] = chance.randbytes(chance.randrange(1, 6))
    else:
        del text[place:]
    return bytes(text)


def damaged_words(original: bytes, chance: random.Random) -> bytes:
    """One change to the words, numbers and signs of a text."""
    words = WORDS.findall(original)
    if not words:
        return original
    names = [i for i, word in enumerate(words) if word[:1].isalpha()]
    numbers = [i for i, word in enumerate(words) if _NUMBER.match(word)]
    change = chance.randrange(8)
    place = chance.randrange(len(words))
    if change == 0 and numbers:
        words[chance.choice(numbers)] = chance.choice(NUMBERS)
    elif change == 1 and len(numbers) > 1:
        one, other = chance.choice(numbers), chance.choice(numbers)
        words[one], words[other] = words[other], words[one]
    elif change in (2, 3) and len(names) > 1:
        words[chance.choice(names)] = words[chance.choice(names)]
    elif change == 4:
        del words[place]
    elif change == 5:
        words.insert(place, chance.choice(words))
    elif change == 6:
        words.insert(place, chance.choice(TOKENS))
    else:
        stop = place + chance.choice([2, 5, 20])
        words[place:stop] = words[place:stop] * chance.choice([0, 2, 3])
    return b"".join(words)


def damaged_lines(original: bytes, chance: random.Random) -> bytes:
    """One change to the lines of a text: one repeated, removed, moved, cut or very long."""
    lines = original.splitlines(keepends=True)
    if not lines:
        return original
    place = chance.randrange(len(lines))
    change = chance.randrange(5)
    if change == 0:
        lines.insert(chance.randrange(len(lines) + 1), lines[place])
    elif change == 1:
        del lines[place]
    elif change == 2:
        lines.insert(chance.randrange(len(lines)), lines.pop(place))
    elif change == 3:
        lines[place] = lines[place][: chance.randrange(len(lines[place]) + 1)]
    else:
        repeated = chance.choice([b"[", b"(", b"{", b'"', b"<a>", b"x", b"0 ", b" ", b",", b"\xc3\xa9"])
        lines[place] = lines[place].rstrip(b"\r\n") + repeated * chance.choice([50, 1000, 30_000]) + b"\n"
    return b"".join(lines)


def damaged(original: bytes, chance: random.Random) -> bytes:
    """A text after one to four changes, most of which leave it nearly well formed."""
    ways: list[Callable[[bytes, random.Random], bytes]] = [damaged_words, damaged_words, damaged_lines, damaged_bytes]
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        original = chance.choice(ways)(original, chance)
    return original


# -- documents of JSON ------------------------------------------------------------------------------------------------

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 0.5, -0.0, 5e-324, 1e308, 2**31, 2**53 + 1, 2**63, -(2**63), 10**400, "", "0",
    "a", "\0", "é", "\ud800", "nan", "x" * 5000, [], {}, [[]], [None], {"": None}, [0, 1], ["a", "a"],
]  # fmt: skip


def damaged_json(value: Any, chance: random.Random, *, most_changes: int = 3) -> Any:
    """A document with one to so many of its values or keys changed; the one that is given is left as it is."""
    value = json.loads(json.dumps(value))
    for _ in range(chance.randrange(most_changes) + 1):
        if not isinstance(value, (dict, list)):
            return value
        _change_below(value, chance)
    return value


def _change_below(holder: list[Any] | dict[str, Any], chance: random.Random) -> None:
    """Walk down to a place, which is the nearer the leaves the oftener, and change it."""
    while True:
        keys: list[Any] = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            break
        key = chance.choice(keys)
        below = holder[key]
        if isinstance(below, (dict, list)) and below and chance.random() < 0.85:
            holder = below
            continue
        _change_at(holder, key, chance)
        return
    if isinstance(holder, list):
        holder.append(copy.deepcopy(chance.choice(VALUES)))


def _change_at(holder: Any, key: Any, chance: random.Random) -> None:
    change = chance.randrange(6)
    old = holder[key]
    if change == 0:
        del holder[key]
    elif change == 1 and isinstance(holder, list):
        holder.insert(chance.randrange(len(holder) + 1), old)
    elif change == 1:
        holder[chance.choice(["", "name", "kind", key + "s"])] = old
    elif change == 2 and len(holder) > 1:  # the value of a neighbour: of a right type, mostly
        other = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        holder[key], holder[other] = holder[other], old
    elif change == 3 and isinstance(old, (int, float)):
        holder[key] = chance.choice([old + 1, old - 1, -old, old * 2, old + 2**31, 0, 1e-9])
    elif change == 4:
        nested: Any = old
        for _ in range(chance.choice([1, 3, 200])):
            nested = [nested]
        holder[key] = nested
    else:
        holder[key] = copy.deepcopy(chance.choice(VALUES))
