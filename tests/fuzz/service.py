"""Requests drawn from the service's own description, right ones and damaged ones: no answer is a defect.

python -m tests.fuzz.service [REQUESTS] [SEED]

Half of the bodies fit the schema of their route, half are damaged. Every status must be one that the description names,
every answer must fit the schema that it names, and none may be 500.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
from tests.serve.http.asgi import Answered, asked
from tests.serve.http.models import make_folder

from bayesbox.errors import DataWarning
from bayesbox.serve.http.server import default_store
from bayesbox.serve.http.service import Service
from bayesbox.serve.models.folder import ModelFolder
from bayesbox.serve.store.base import open_store

STRINGS = (
    "",
    "a",
    "true",
    "sports",
    "van",
    "2015-03-12",
    "31.5",
    "nan",
    "-0",
    "x" * 300,
    "\u0000",
    "é\u2028",
    "\ud83d\ude00",
    "p3",
)
NUMBERS = (0, 1, -1, 0.5, 31.5, 1e300, -1e300, 5e-324, 2**53 + 1, 10**30, -(10**19), 1e16)
HOSTILE: tuple[Any, ...] = (None, True, [], {}, [[]], [{}], {"a": []}, "", -1, 1e308, 10**400, "x" * 2000, [None] * 50)
RAW = (
    b"",
    b"null",
    b"[]",
    b"{",
    b'{"rows":',
    b"\xff",
    b'{"a":1e999}',
    b'{"rows":[{"age":' + b"[" * 5000,
    b"0" * 1000,
    b'"\\ud800"',
)


class Drawer:
    """Draws values of a JSON schema."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def value(self, schema: Any, depth: int = 0) -> Any:
        """A value that fits."""
        draw = self.draw
        if not schema:
            return draw.choice((None, 1, "a", True))
        for several in ("oneOf", "anyOf"):
            if several in schema and "properties" not in schema:
                return self.value(draw.choice(schema[several]), depth)
        if "enum" in schema:
            return draw.choice(schema["enum"])
        kinds = schema.get("type", ["string", "number", "boolean", "null"])
        kind = kinds if isinstance(kinds, str) else draw.choice(kinds)
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            most = min(schema.get("maxItems", 4), 4)
            return [
                self.value(schema.get("items"), depth + 1) for _ in range(draw.randint(schema.get("minItems", 0), most))
            ]
        if kind == "null":
            return None
        if kind == "boolean":
            return draw.random() < 0.5
        if kind == "integer":
            return draw.randint(schema.get("minimum", -5), min(schema.get("maximum", 7), 7))
        if kind == "number":
            found = draw.choice((*NUMBERS, draw.gauss(40, 20)))
            low = schema.get("minimum", schema.get("exclusiveMinimum"))
            return abs(found) + ("exclusiveMinimum" in schema) if low is not None else found
        if schema.get("examples") and draw.random() < 0.7:
            return draw.choice(schema["examples"])
        text = draw.choice(STRINGS)
        return text or "a" if schema.get("minLength") else text

    def _object(self, schema: Any, depth: int) -> dict[str, Any]:
        needed = set(schema.get("required", ()))
        found = {
            name: self.value(each, depth + 1)
            for name, each in schema.get("properties", {}).items()
            if name in needed or self.draw.random() < 0.6
        }
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and self.draw.random() < 0.5:
            found[self.draw.choice(STRINGS)] = self.value(extra, depth + 1)
        return found

    def damaged(self, value: Any) -> Any:
        """A value with something wrong somewhere in it."""
        draw = self.draw
        if isinstance(value, dict) and value and draw.random() < 0.8:
            name = draw.choice(list(value))
            chance = draw.random()
            if chance < 0.2:
                return {key: each for key, each in value.items() if key != name}
            if chance < 0.3:
                return {**value, draw.choice(STRINGS): draw.choice(HOSTILE)}
            return {**value, name: self.damaged(value[name])}
        if isinstance(value, list) and value and draw.random() < 0.8:
            place = draw.randrange(len(value))
            return [self.damaged(each) if k == place else each for k, each in enumerate(value)]
        return draw.choice(HOSTILE)


def operations(description: Any) -> list[tuple[str, str, Any]]:
    """Method, path and operation of each."""
    return [
        (method.upper(), path, each) for path, item in description["paths"].items() for method, each in item.items()
    ]


def check(found: Answered, operation: Any, description: Any, where: str) -> None:
    """The status is one that is described, and the answer fits."""
    allowed = operation["responses"]
    if str(found.status) not in allowed:
        raise AssertionError(f"{where}: status {found.status} is not described: {found.body[:300]!r}")
    content = allowed[str(found.status)]["content"]
    media = found.headers["content-type"].partition(";")[0]
    if media not in content:
        raise AssertionError(f"{where}: {media} is not described")
    if media.endswith("json"):
        schema = {**content[media]["schema"], "components": description["components"]}
        jsonschema.validate(found.json, schema, cls=jsonschema.Draft202012Validator)


def one_request(drawer: Drawer, method: str, operation: Any) -> tuple[bytes, str]:
    """The bytes of a body and what it is."""
    draw = drawer.draw
    if method != "POST" or "requestBody" not in operation:
        return b"", "empty"
    body = drawer.value(operation["requestBody"]["content"]["application/json"]["schema"])
    chance = draw.random()
    if chance < 0.5:
        return json.dumps(body).encode(), "right"
    if chance < 0.9:
        return json.dumps(drawer.damaged(body)).encode(), "damaged"
    if chance < 0.95:
        data = bytearray(json.dumps(body).encode())
        data[draw.randrange(len(data))] = draw.randrange(256)
        return bytes(data), "bytes"
    return draw.choice(RAW), "raw"


async def fuzz(service: Service, requests: int, seed: int) -> Counter[tuple[str, int]]:
    """So many requests; how many of each sort got which status."""
    draw = random.Random(seed)
    drawer = Drawer(draw)
    description = (await asked(service, "GET", "/openapi.json")).json
    every = operations(description)
    found: Counter[tuple[str, int]] = Counter()
    for number in range(requests):
        method, path, operation = draw.choice(every)
        body, sort = one_request(drawer, method, operation)
        path = path.replace("{n}", draw.choice(("1", "2", "0", "99999999999999999999", "x", "-1", "1.5")))
        if path.endswith("/audit") and draw.random() < 0.5:
            path += draw.choice(("?after=1", "?limit=2", "?limit=x", "?after=-1", "?limit=99999", "?after=1&after=2"))
        where = f"request {number} of seed {seed}: {method} {path} {body[:300]!r}"
        answer = await asked(service, method, path, body)
        check(answer, operation, description, where)
        found[sort, answer.status] += 1
    return found


def run(requests: int, seed: int) -> Counter[tuple[str, int]]:
    """Fuzz a service of its own."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        folder = Path(name)
        make_folder(folder)
        with open_store(default_store(name)) as store:
            service = Service(ModelFolder(name, store), None)
            try:
                return asyncio.run(fuzz(service, requests, seed))
            finally:
                service.close()


def main(requests: int = 10_000, seed: int = 0) -> None:
    found = run(requests, seed)
    for (sort, status), count in sorted(found.items()):
        print(f"{sort}: {status} {count:,}")
    print(f"{requests:,} requests from the description of the service: no defect")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
