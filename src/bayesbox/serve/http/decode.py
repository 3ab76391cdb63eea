"""Bodies of requests: decompressed within the limit, decoded into their types; errors name the position."""

from __future__ import annotations

import difflib
import re
import zlib
from typing import Any, TypeVar

import msgspec

from bayesbox.serve.http.limits import ServiceLimits
from bayesbox.serve.http.problems import Problem

T = TypeVar("T")

TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
_DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoder_of(shape: type[T]) -> msgspec.json.Decoder[T]:
    """The decoder of a type, cached."""
    found = _DECODERS.get(shape)
    if found is None:
        found = _DECODERS[shape] = msgspec.json.Decoder(shape)
    return found


def decode(data: bytes, shape: type[T], limits: ServiceLimits) -> T:
    """The decoded body of a request; a Problem if it is not JSON, nested too deeply, or of another shape."""
    try:
        return decoder_of(shape).decode(data)
    except RecursionError:
        raise _too_deep(limits) from None
    except msgspec.ValidationError as error:
        if depth_of(data, limits.depth) > limits.depth:
            raise _too_deep(limits) from None
        raise _misfit(data, str(error), shape) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if depth_of(data, limits.depth) > limits.depth:
            raise _too_deep(limits) from None
        raise _not_json(data, error, shape) from None


def _too_deep(limits: ServiceLimits) -> Problem:
    return Problem(422, f"the body is nested deeper than {limits.depth} levels", kind="too-deep")


def depth_of(data: bytes, most: int) -> int:
    """The nesting depth of lists and objects, counted up to `most`.

    >>> depth_of(b'{"rows": [{"a": "[["}]}', 32)
    3
    """
    depth = deepest = 0
    for match in TOKENS.finditer(data):
        first = match.group()[0]
        if first in b"[{":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > most:
                break
        elif first in b"]}":
            depth -= 1
    return deepest


EXAMPLES = {
    "rows": '{"rows": [{...}]}',
    "row": '{"row": {...}}',
    "events": '{"events": [{"id": "...", "row": {...}, "label": "..."}]}',
    "ids": '{"ids": ["..."]}',
    "sequences": '{"sequences": [[...]]}',
    "inputs": '{"inputs": [{"name": "...", "shape": [1], "datatype": "FP64", "data": [...]}]}',
}
"""What to send, by the first field of a body that has one of these."""


def _example(shape: Any) -> str:
    names = [each.encode_name for each in msgspec.structs.fields(shape)]
    found = next((text for name, text in EXAMPLES.items() if name in names), "{...}")
    return f"Send an object such as {found}"


def _not_json(data: bytes, error: Exception, shape: Any) -> Problem:
    if not data:
        what = "the body is empty"
    elif isinstance(error, UnicodeDecodeError):
        what = "the body is not UTF-8"
    else:
        what = f"the body is not valid JSON: {str(error).removeprefix('JSON is malformed: ')}"
    return Problem(400, f"{what}. {_example(shape)}", kind="not-json")


PLACE = re.compile(r" - at `(?:key in )?\$(?P<place>[^`]*)`$")


def _misfit(data: bytes, message: str, shape: Any) -> Problem:
    """The problem of a body of another shape; the position is computed here, as the decoder does not name the item."""
    found = PLACE.search(message)
    what = message if found is None else message[: found.start()]
    path = "" if found is None else found["place"]
    try:
        body = msgspec.json.decode(data)
    except msgspec.ValidationError:  # a number beyond the range of doubles
        return Problem(422, what, kind="wrong-shape")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # the shape was wrong before the end was reached
        return _not_json(data, error, shape)
    where, row, field = _located(body, path, what)
    what = _in_words(what, [] if row is not None else [each.encode_name for each in msgspec.structs.fields(shape)])
    if where == "#":
        what = f"the body {what}. {_example(shape)}"
    about = {"detail": what, "pointer": where, "field": field, "row": row}
    where = f"row {row}: " if row is not None else ""
    named = f"`{field}`: " if field is not None and f"`{field}`" not in what else ""
    return Problem(422, f"{where}{named}{what}", kind="wrong-shape", errors=[about])


def _in_words(what: str, fields: list[str]) -> str:
    """The decoder's message in our words; `fields` are those of the body, if it is about the body itself.

    >>> _in_words("Expected `object`, got `array`", [])
    'must be of type object, got array'
    """
    unknown = re.fullmatch(r"Object contains unknown field `([^`]*)`", what)
    if unknown:
        near = difflib.get_close_matches(unknown[1], fields, n=1)
        guess = f". Did you mean `{near[0]}`?" if near else ""
        return f"unknown field `{unknown[1]}`" + (f"; the fields are {', '.join(fields)}{guess}" if fields else "")
    missing = re.fullmatch(r"Object missing required field `([^`]*)`", what)
    if missing:
        return f"the field `{missing[1]}` is required"
    types = re.fullmatch(r"Expected `([^`]*)`, got `([^`]*)`", what)
    if types:
        return f"must be of type {types[1].replace(' | ', ' or ')}, got {types[2]}"
    return what


def _located(body: Any, path: str, what: str) -> tuple[str, int | None, str | None]:
    """The pointer, the row and the field of the first invalid value, as far as known."""
    parts = re.findall(r"\.([^.\[]+)|\[(\.\.\.|\d+)\]", path)
    missing = re.search(r"(?:missing required|contains unknown) field `([^`]*)`", what)
    trail: list[str] = []
    row: int | None = None
    field: str | None = None
    value = body
    for name, item in parts:
        if name:
            trail.append(name)
            field = name
            value = value.get(name) if isinstance(value, dict) else None
        elif isinstance(value, list):
            place = int(item) if item.isdigit() else _first_bad(value, what)
            row = place if row is None else row
            field = None
            trail.append(str(place))
            value = value[place] if place < len(value) else None
        elif isinstance(value, dict):
            bad = _bad_key(value)
            if bad is None:
                break
            trail.append(bad)
            field, value = bad, value[bad]
    if missing:
        field = missing[1]
        trail.append(field)
    return "#" + "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in trail), row, field


def _first_bad(items: list[Any], what: str) -> int:
    """The invalid item of a list: the first that is not a scalar or object of scalars, or lacks a required field."""
    needed = re.search(r"missing required field `([^`]*)`", what)
    unknown = re.search(r"contains unknown field `([^`]*)`", what)
    for place, item in enumerate(items):
        if needed and isinstance(item, dict) and needed[1] not in item:
            return place
        if unknown and isinstance(item, dict) and unknown[1] in item:
            return place
        if not needed and not unknown and (not isinstance(item, dict) or _bad_key(item) is not None):
            return place
    return 0


def _bad_key(found: dict[str, Any]) -> str | None:
    """The first value of an object that is, or contains, a list or an object."""
    for name, value in found.items():
        if isinstance(value, list) or (isinstance(value, dict) and (not value or _bad_key(value) is not None)):
            return name
    for name, value in found.items():
        if isinstance(value, dict):
            return name
    return None


def inflate(data: bytes, encoding: bytes, limits: ServiceLimits) -> bytes:
    """The decompressed body; a Problem if it exceeds the limit."""
    if encoding in (b"", b"identity"):
        return data
    if encoding != b"gzip":
        raise Problem(415, "Content-Encoding must be gzip or identity", headers=[(b"accept-encoding", b"gzip")])
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        found = inflater.decompress(data, limits.body + 1)
    except zlib.error:
        raise Problem(400, "the body is not gzip", kind="not-gzip") from None
    if len(found) > limits.body:
        raise too_large(limits)
    if not inflater.eof:
        raise Problem(400, "the gzip body is cut off", kind="not-gzip")
    return found


def too_large(limits: ServiceLimits) -> Problem:
    """The problem of a body beyond the limit; the connection is closed, since the rest may still be arriving."""
    remedy = "Send fewer rows per request, or start the service with --max-body"
    what = f"the body is larger than {limits.body} bytes. {remedy}"
    return Problem(413, what, kind="too-large", headers=[(b"connection", b"close")])
