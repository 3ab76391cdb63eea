"""Strict JSON: one canonical form, and a reader that rejects anything else.

No NaN or infinity, no number beyond the range of doubles, no repeated key, no invalid Unicode.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from bayesbox.file.reader import Json

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"(?P<key>[ \t\r\n]*:)?|[{}]|NaN|-?Infinity|-?[0-9][-+0-9.eE]*', re.DOTALL)


def dumps(value: object) -> bytes:
    """A value as one line.

    >>> dumps({"a": [0.5, None, "\\u00e4"]})
    b'{"a": [0.5, null, "\\\\u00e4"]}'
    """
    return json.dumps(value, allow_nan=False).encode()


def document(value: Json) -> bytes:
    """A mapping with one line per key, and one per item of a list of mappings, for readability."""
    lines = [f" {json.dumps(key)}: {_item(item)}" for key, item in value.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _item(item: object) -> str:
    if isinstance(item, list) and item and all(isinstance(each, dict) for each in item):
        return "[\n  " + ",\n  ".join(json.dumps(each, allow_nan=False) for each in item) + "\n ]"
    return json.dumps(item, allow_nan=False)


def parse(data: bytes) -> Any:
    """The value of a UTF-8 text; ValueError if it is not strict JSON, with the position if known.

    >>> parse(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    json.decoder.JSONDecodeError: the key 'a' occurs twice: line 1 column 10 (char 9)
    """
    text = data.decode("utf-8")
    try:
        value = json.loads(text, parse_float=_float, parse_constant=_constant, object_pairs_hook=_pairs)
    except RecursionError:
        raise ValueError("the lists and mappings are nested too deeply") from None
    except Licence as error:
        raise json.JSONDecodeError(str(error), text, _place(text, error)) from None
    if "\\ud" in text.lower():  # an escape may be half of a surrogate pair
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


class Licence(ValueError):
    """Something that JSON, or Python's parser, allows and strict JSON does not."""


class Twice(Licence):
    """A repeated key."""


def _place(text: str, error: Licence) -> int:
    """The position of the first invalid number or repeated key."""
    twice = isinstance(error, Twice)
    keys: list[set[str]] = []
    for found in TOKEN.finditer(text):
        token = found[0]
        if token == "{":
            keys.append(set())
        elif token == "}":
            keys.pop()
        elif token[0] != '"':
            if not twice and not math.isfinite(float(token)):
                return found.start()
        elif found["key"]:
            key = json.loads(token[: -len(found["key"])], strict=False)
            if twice and key in keys[-1]:
                return found.start()
            keys[-1].add(key)
    return 0


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Licence(f"the number {text} is too large")
    return value


def _constant(text: str) -> NoReturn:
    raise Licence(f"{text} is not a JSON number")


def _pairs(pairs: list[tuple[str, Any]]) -> Json:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise Twice(f"the key {key!r} occurs twice")
            seen.add(key)
    return result
