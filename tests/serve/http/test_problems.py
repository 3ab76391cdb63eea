"""Errors are problems of RFC 9457 that name the field and the row."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.serve.http.conftest import Serve, Served

from bayesbox import _core

PREDICT = "/v1/models/people/predict"


@pytest.mark.parametrize(
    ("path", "body", "field", "row", "pointer"),
    [
        (PREDICT, {"rows": [{}, {"age": "old"}]}, "age", 1, "#/rows/1/age"),
        (PREDICT, {"rows": [{"age": 3}, {"age": [1]}]}, "age", 1, "#/rows/1/age"),
        (PREDICT, {"rows": [{"age": {"a": 1}}]}, "age", 0, "#/rows/0/age"),
        (PREDICT, {"rows": [{"joined": "soon"}]}, "joined", 0, "#/rows/0/joined"),
        (PREDICT, {"rows": [{"agee": 1}]}, "age", 0, None),
        (PREDICT, {"rows": ["text"]}, None, 0, "#/rows/0"),
        (PREDICT, {"rows": [{}, 3]}, None, 1, "#/rows/1"),
        (PREDICT, {"rows": {}}, "rows", None, "#/rows"),
        (PREDICT, {}, "rows", None, "#/rows"),
        (PREDICT, {"rows": [], "explane": 1}, "explane", None, "#/explane"),
        (PREDICT, {"rows": [], "explain": -1}, "explain", None, "#/explain"),
        ("/v1/models/people/explain", {"row": {"age": "old"}}, "age", 0, None),
        ("/v1/models/people/what-if", {"row": {}, "changes": {"age": []}}, "age", None, "#/changes/age"),
        ("/v1/models/mail/predict", {"rows": ["a", {"txt": "b"}]}, "text", 1, "#/rows/1/text"),
        ("/v1/models/alarm/predict", {"rows": [{}], "targets": ["Z"]}, None, None, None),
        ("/v1/models/alarm/ask", {"row": {}}, "target", None, "#/target"),
        ("/v1/models/weather/predict", {"sequences": [["walk"], ["fly"]]}, None, None, None),
    ],
)
def test_field_and_row_are_named(
    served: Served, path: str, body: Any, field: str | None, row: int | None, pointer: str | None
) -> None:
    if "fly" in json.dumps(body):
        assert served.ask("POST", path, body).status in (200, 422)  # a symbol that is not known is no value
        return
    found = served.ask("POST", path, body)
    assert found.status == 422, found.body
    assert found.headers["content-type"] == "application/problem+json"
    problem = found.json
    assert {"type", "title", "status", "detail", "instance"} <= set(problem)
    assert problem["status"] == 422
    assert problem.get("field") == field
    assert problem.get("row") == row
    if pointer is not None:
        assert problem["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize(
    ("inputs", "field", "row"),
    [
        ([{"name": "agee", "shape": [1], "datatype": "FP64", "data": [1]}], "agee", None),
        ([{"name": "age", "shape": [2], "datatype": "FP64", "data": [1]}], "age", None),
        ([{"name": "age", "shape": [1, 2], "datatype": "FP64", "data": [1, 2]}], "age", None),
        ([{"name": "age", "shape": [-1], "datatype": "FP64", "data": [1]}], "age", None),
        ([{"name": "age", "shape": [2], "datatype": "INT64", "data": [1, "x"]}], "age", 1),
        ([{"name": "age", "shape": [2], "datatype": "FP64", "data": [1, "x"]}], "age", 1),
        ([{"name": "age", "shape": [1], "datatype": "FP65", "data": [1]}], "age", None),
        ([{"name": "age", "shape": [1], "datatype": "FP64", "data": [1]}] * 2, "age", None),
        ([], "inputs", None),
        (
            [
                {"name": "age", "shape": [1], "datatype": "FP64", "data": [1]},
                {"name": "car", "shape": [2], "datatype": "BYTES", "data": ["a", "b"]},
            ],
            "car",
            None,
        ),
    ],
)
def test_tensors_that_do_not_fit_are_named(served: Served, inputs: Any, field: str, row: int | None) -> None:
    found = served.ask("POST", "/v2/models/people/infer", {"inputs": inputs})
    assert found.status == 422, found.body
    assert found.json["field"] == field
    assert found.json.get("row") == row


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 5, b'{"rows": [NaN]}', b'{"rows": [{"age": 1e999}]}'])
def test_what_is_not_json_is_refused(served: Served, body: bytes) -> None:
    assert served.ask("POST", PREDICT, body).status in (400, 422)


def test_limits_of_size(serve: Serve) -> None:
    found = serve(body=2000, rows=5)
    assert found.ask("POST", PREDICT, {"rows": [{}] * 5}).status == 200
    too_many = found.ask("POST", PREDICT, {"rows": [{}] * 6})
    assert (too_many.status, too_many.json["type"]) == (422, "urn:bayesbox:problem:too-many-rows")
    large = json.dumps({"rows": [{"car": "x" * 3000}]}).encode()
    assert found.ask("POST", PREDICT, large).status == 413
    assert found.ask("POST", PREDICT, headers={"content-length": "5000"}).status == 413
    said = found.ask("POST", PREDICT, chunks=[large[:1500], large[1500:]])  # without a length
    assert said.status == 413
    assert said.headers["connection"] == "close"


def test_a_gzip_bomb_is_not_inflated(served: Served) -> None:
    import gzip

    bomb = gzip.compress(b" " * (1 << 24))
    assert len(bomb) < 1 << 20
    assert served.ask("POST", PREDICT, bomb, headers={"content-encoding": "gzip"}).status == 413
    assert served.ask("POST", PREDICT, bomb[:100], headers={"content-encoding": "gzip"}).status == 400
    assert served.ask("POST", PREDICT, b"{}", headers={"content-encoding": "gzip"}).status == 400
    assert served.ask("POST", PREDICT, b"{}", headers={"content-encoding": "br"}).status == 415


@pytest.mark.parametrize("depth", [33, 100, 10_000, 400_000])
def test_deep_bodies_are_refused(served: Served, depth: int) -> None:
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        if depth * len(opening) > 900_000:
            continue
        body = b'{"rows": [{"age": ' + opening * depth + b"1" + closing * depth + b"}]}"
        found = served.ask("POST", PREDICT, body[: (1 << 20) - 1])
        assert found.status == 422
        assert found.json["type"] == "urn:bayesbox:problem:too-deep"


def test_depth_within_the_limit_is_another_problem(serve: Serve) -> None:
    body = {"rows": [{"age": [[[1]]]}]}
    assert serve().ask("POST", PREDICT, body).json["type"].endswith("wrong-shape")
    assert serve(depth=5).ask("POST", PREDICT, body).json["type"].endswith("too-deep")


def test_slow_senders_get_408(serve: Serve) -> None:
    found = serve(seconds=0.2)
    body = json.dumps({"rows": [{}]}).encode()
    slow = found.ask("POST", PREDICT, chunks=[body[:5], body[5:9], body[9:]], wait=0.15)
    assert slow.status == 408
    assert slow.headers["connection"] == "close"
    assert found.service.in_flight == 0


def test_requests_at_a_time_are_limited(serve: Serve) -> None:
    import asyncio

    from tests.serve.http.asgi import asked
    from tests.serve.http.conftest import token_of

    found = serve(in_flight=3)
    body = json.dumps({"rows": [{}]}).encode()

    async def all_at_once() -> list[int]:
        token = token_of("predict")
        slow = [
            asked(found.service, "POST", PREDICT, token=token, chunks=[body[:5], body[5:]], wait=0.05) for _ in range(8)
        ]
        health = asked(found.service, "GET", "/v2/health/ready")
        return [each.status for each in await asyncio.gather(*slow, health)]

    statuses = asyncio.run(all_at_once())
    assert sorted(statuses[:-1]) == [200] * 3 + [429] * 5
    assert statuses[-1] == 200


def test_a_defect_is_logged_and_not_told(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from bayesbox.serve.http.logs import ServiceLog

    lines = io.StringIO()
    found = serve(ServiceLog("problems", lines))
    monkeypatch.setattr(found.service.handlers, "_simple", {"models": lambda call: 1 // 0})
    answer = found.ask("GET", "/v1/models")
    assert answer.status == 500
    assert "division" not in answer.json["detail"]
    found.service.tick()
    logged = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert "ZeroDivisionError" in logged[0]["traceback"]
    assert logged[0]["id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        (PREDICT, {"row": {"age": 1}}, "unknown field `row`; the fields are rows, proba, explain"),
        (PREDICT, [], "must be of type object, got array"),
        (PREDICT, {"proba": True}, "the field `rows` is required"),
        ("/v1/models/peopel/predict", {"rows": []}, "model `peopel` not found; did you mean `people`?"),
        ("/v1/model/people", {}, "route not found; /openapi.json lists all routes"),
    ],
)
def test_slips_are_named_with_what_was_meant(served: Served, path: str, body: Any, detail: str) -> None:
    assert served.ask("POST", path, body).json["detail"] == detail


EXPLAIN = "/v1/models/people/explain"


def replace_explain(found: Served, run: Callable[[Any], Any]) -> None:
    """Let the model answer `explain` by this function."""
    model = found.service.folder.models["people"]
    actions = {**model.actions, "explain": replace(model.actions["explain"], run=run)}
    model.__dict__["actions"] = actions


def test_a_question_that_takes_too_long_is_stopped(serve: Serve) -> None:
    found = serve(seconds=0.2)
    ended = threading.Event()

    def endless(_: Any) -> Any:
        try:
            while True:
                _core.poll()
                time.sleep(0.005)
        finally:
            ended.set()

    replace_explain(found, endless)
    assert found.ask("POST", EXPLAIN, {"row": {}}).status == 408
    assert ended.wait(10)
    assert found.post(PREDICT, {"rows": [{}]})["answers"]  # the thread works for others again


def test_work_that_cannot_be_stopped_counts_as_under_way(serve: Serve) -> None:
    found = serve(seconds=0.2, in_flight=1)
    go = threading.Event()
    answer = found.service.folder.models["people"].actions["explain"].run

    def deaf(body: Any) -> Any:
        go.wait(30)
        return answer(body)

    replace_explain(found, deaf)
    assert found.ask("POST", EXPLAIN, {"row": {}}).status == 408
    assert found.ask("POST", PREDICT, {"rows": [{}]}).status == 429
    go.set()
    deadline = time.monotonic() + 10
    while found.ask("POST", PREDICT, {"rows": [{}]}).status != 200:
        assert time.monotonic() < deadline
    assert found.ask("POST", EXPLAIN, {"row": {}}).status == 200
