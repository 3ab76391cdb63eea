"""JSON without licence: one way to write a document, and a reader that refuses what that way would not write.

No NaN or infinity, no number too large for a double, no key twice, no text that is not Unicode.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def dumps(value: Any) -> bytes:
    """A value as one line.

    >>> dumps({"a": [0.5, None, "\\u00e4"]})
    b'{"a": [0.5, null, "\\\\u00e4"]}'
    """
    return json.dumps(value, allow_nan=False).encode()


def document(value: dict[str, Any]) -> bytes:
    """A mapping with a line for each key, and one for each item of a list of mappings, for people to read."""
    lines = [f" {json.dumps(key)}: {_item(item)}" for key, item in value.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _item(item: Any) -> str:
    if isinstance(item, list) and item and all(isinstance(each, dict) for each in item):
        return "[\n  " + ",\n  ".join(json.dumps(each, allow_nan=False) for each in item) + "\n ]"
    return json.dumps(item, allow_nan=False)


def parse(data: bytes) -> Any:
    """The value of a text in UTF-8; ValueError where it is not strictly JSON.

    >>> parse(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' occurs twice
    """
    text = data.decode("utf-8")
    try:
        value = json.loads(text, parse_float=_float, parse_constant=_constant, object_pairs_hook=_pairs)
    except RecursionError:
        raise ValueError("the lists and mappings are nested too deep") from None
    if "\\ud" in text.lower():  # an escape may be half of a pair, which is no character
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text} is too large")
    return value


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key!r} occurs twice")
            seen.add(key)
    return result
