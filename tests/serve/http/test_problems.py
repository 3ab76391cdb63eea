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


LEARN, FORGET = "/v1/models/people/learn", "/v1/models/people/forget"
MISTAKES: list[tuple[str, str, Any, int, str, list[str]]] = [
    # the route and the method
    ("POST", "/v1/models/people/predikt", {}, 404, "no-route", ["POST /v1/models/people/predict"]),
    ("POST", "/v1/models/people/predict/", {}, 404, "no-route", ["POST /v1/models/people/predict?"]),
    ("POST", "/predict", {}, 404, "no-route", ["POST /v1/models/{m}/predict"]),
    ("GET", "/docs", None, 404, "no-route", ["/openapi.json"]),
    ("GET", "/v1/model/people", None, 404, "no-route", ["GET /v2/models/people"]),
    ("GET", PREDICT, None, 405, "method-not-allowed", ["requires POST"]),
    ("PUT", PREDICT, {"rows": []}, 405, "method-not-allowed", ["requires POST"]),
    ("GET", "/v1/models/alarm/predict?query=P(A)", None, 405, "method-not-allowed", ["requires POST"]),
    ("POST", "/v1/models/peopel/predict", {"rows": []}, 404, "no-model", ["`peopel`", "did you mean `people`?"]),
    ("POST", "/v1/models/people.bayes/predict", {"rows": []}, 404, "no-model", ["did you mean `people`?"]),
    ("POST", "/v1/models/sales/predict", {"rows": []}, 404, "no-model", ["/v1/models lists all models"]),
    # the body
    ("POST", PREDICT, b"", 400, "not-json", ["the body is empty", '{"rows": [{...}]}']),
    ("POST", PREDICT, b'{"rows": [{"age": 39,}]}', 400, "not-json", ["trailing comma", "byte 21"]),
    ("POST", PREDICT, b"age,car\n39,suv\n", 400, "not-json", ["not valid JSON", '{"rows": [{...}]}']),
    ("POST", PREDICT, b'{"rows": [{"car": "\xe9"}]}', 400, "not-json", ["not UTF-8"]),
    ("POST", PREDICT, [{"age": 39}], 422, "wrong-shape", ["the body must be", "got array", '{"rows": [{...}]}']),
    ("POST", PREDICT, {"age": 39}, 422, "wrong-shape", ["`age`", "the fields are rows, proba, explain"]),
    ("POST", PREDICT, {"row": {"age": 1}}, 422, "wrong-shape", ["`row`", "Did you mean `rows`?"]),
    ("POST", PREDICT, {"proba": True}, 422, "wrong-shape", ["the field `rows` is required"]),
    ("POST", PREDICT, {"rows": [{}], "explain": "all"}, 422, "wrong-shape", ["`explain`", "type int", "got str"]),
    ("POST", PREDICT, {"rows": [{}] * 1500}, 422, "too-many-rows", ["at most 1000", "1500", "--max-rows"]),
    ("POST", PREDICT, b" " * (1 << 20) + b"{}", 413, "too-large", ["1048576 bytes", "--max-body"]),
    ("POST", "/v2/models/people/infer", {"rows": [{}]}, 422, "wrong-shape", ["`inputs` is required"]),
    # rows, nodes and sequences
    ("POST", PREDICT, {"rows": [{"Age": 39}]}, 422, "unknown-column", ["Is `Age` the column `age`?"]),
    ("POST", PREDICT, {"rows": [{"age": "old"}]}, 422, "bad-data", ["row 0", "`age` must be a number", "'old'"]),
    ("POST", "/v1/models/people/explain", {"row": {}, "against": "rich"}, 422, "unknown-choice", ["high, low"]),
    ("POST", "/v1/models/people/explain", {"rows": [{}]}, 422, "wrong-shape", ["Did you mean `row`?"]),
    ("POST", "/v1/models/alarm/predict", {"rows": [{"Z": "t"}]}, 422, "unknown-node", ["no node `Z`", "Choose"]),
    ("POST", "/v1/models/alarm/ask", {"row": {}}, 422, "wrong-shape", ["the field `target` is required"]),
    ("POST", "/v1/models/weather/predict", {"rows": [{}]}, 422, "wrong-shape", ["the fields are sequences"]),
    # learning and forgetting
    ("POST", LEARN, {"rows": [{"age": 1}]}, 422, "wrong-shape", ["`rows`", "the fields are events"]),
    ("POST", LEARN, {"events": [{"row": {}, "label": "low"}]}, 422, "wrong-shape", ["row 0", "`id` is required"]),
    ("POST", LEARN, {"events": [{"id": "a", "row": {}}]}, 422, "wrong-shape", ["row 0", "`label` is required"]),
    ("POST", LEARN, {"events": []}, 422, "no-events", ["must not be empty"]),
    ("POST", "/v1/models/alarm/learn", {"events": []}, 404, "no-action", ["does not support learn", "predict"]),
    ("POST", "/v1/models/weather/explain", {"row": {}}, 404, "no-action", ["supports predict"]),
    ("POST", FORGET, {"ids": ["nobody"]}, 404, "unknown-events", ["'nobody'", "Nothing was changed"]),
    ("POST", FORGET, {}, 422, "no-events", ["ids", "key"]),
    ("POST", FORGET, {"ids": "visit-1"}, 422, "wrong-shape", ["`ids`", "array"]),
    ("GET", "/v1/models/people/certificates/99", None, 404, "unknown-record", ["certificate 99 not found"]),
    ("POST", "/v1/models/other/reload", b"", 404, "unknown-record", ["`other`", "other.bayes"]),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "kind", "words"), MISTAKES)
def test_a_mistake_is_answered_by_what_to_send(
    served: Served, method: str, path: str, body: Any, status: int, kind: str, words: list[str]
) -> None:
    last = path.rpartition("/")[2].partition("?")[0]
    scope = {"learn": "learn", "forget": "forget", "99": "forget", "reload": "admin"}.get(last, "predict")
    found = served.ask(method, path, body, scope=scope)
    assert found.status == status, found.body
    assert found.json["type"] == f"urn:bayesbox:problem:{kind}"
    assert not [word for word in words if word not in found.json["detail"]], found.json["detail"]


def test_a_token_that_is_not_enough_names_the_command(served: Served) -> None:
    for scope, status, word in ((None, 401, "Authorization: Bearer"), ("predict", 403, "--scope learn")):
        found = served.ask("POST", LEARN, {"events": []}, scope=scope)
        assert found.status == status
        assert word in found.json["detail"]


def test_an_unseen_level_of_a_sequence_is_noted(served: Served) -> None:
    answer = served.post("/v1/models/weather/predict", {"sequences": [["walk", None], ["walk", "fly"]]})
    assert answer["notes"] == ["row 1, step 1: `0` has the unseen level 'fly'"]
    assert "notes" not in served.post("/v1/models/weather/predict", {"sequences": [["walk"]]})


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
