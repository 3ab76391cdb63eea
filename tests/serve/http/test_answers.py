"""Every question gets the answer of the library, bit for bit."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest
from tests.serve.http.conftest import Served
from tests.serve.http.models import people

ROWS = [
    {"age": 31.5, "car": "sports", "married": True, "joined": "2015-03-12"},
    {"age": None, "car": "van"},
    {},
    {"age": 40, "car": "never seen", "married": 0, "person": "p3"},
]


def test_predict_is_that_of_the_library(served: Served) -> None:
    model = served.models["people"]
    found = served.post("/v1/models/people/predict", {"rows": ROWS})
    assert found["digest"] == model.book_.digest()
    for row, answer in zip(ROWS, found["answers"], strict=True):
        expected = model.predict_proba_one(row)
        assert answer["proba"] == expected
        assert answer["class"] == max(expected, key=expected.__getitem__)
    assert found["notes"] == ["row 3: `car` has the unseen level 'never seen'"]


def test_each_answer_has_the_digest_of_its_model(served: Served) -> None:
    for name, digest in (
        ("people", served.models["people"].book_.digest()),
        ("weather", served.models["weather"].digest()),
    ):
        assert served.ask("GET", f"/v2/models/{name}").headers["bayesbox-digest"] == digest


def test_labels_keep_their_type(served: Served) -> None:
    model = served.models["numbers"]
    rows = [{"car": "van", "married": False}, {"car": "sports", "married": True}]
    found = served.post("/v1/models/numbers/predict", {"rows": rows, "proba": False})
    assert [answer["class"] for answer in found["answers"]] == model.predict(rows).tolist()
    assert all(type(answer["class"]) is int and set(answer) == {"class"} for answer in found["answers"])


def test_numbers_may_come_as_texts(served: Served) -> None:
    one, other = ({"rows": [{"age": age, "car": ""}]} for age in (31.5, "31.5"))
    answers = [served.post("/v1/models/people/predict", body)["answers"] for body in (one, other)]
    assert answers[0] == answers[1]


def test_explanations_sum_to_the_log_odds(served: Served) -> None:
    row = ROWS[0]
    whole = served.post("/v1/models/people/explain", {"row": row})
    told = whole["prior_log_odds"] + sum(each["log_odds"] for each in whole["columns"])
    shares = sorted(whole["posterior"].values())
    assert told == pytest.approx(np.log(shares[-1] / shares[-2]), abs=1e-12)
    [answer] = served.post("/v1/models/people/predict", {"rows": [row], "explain": 2})["answers"]
    strongest = sorted(whole["columns"], key=lambda each: -abs(each["log_odds"]))[:2]
    assert [each["column"] for each in answer["explanation"]] == [each["name"] for each in strongest]
    assert [each["log_odds"] for each in answer["explanation"]] == [each["log_odds"] for each in strongest]


def test_explanations_of_empty_and_mixed_rows(served: Served) -> None:
    rows: list[dict[str, Any]] = [{}, {"car": 3}, {"car": "van"}, {"car": True, "age": 30}]
    found = served.post("/v1/models/people/predict", {"rows": rows, "explain": 3})["answers"]
    assert [len(answer["explanation"]) for answer in found] == [0, 0, 1, 1]
    for row, answer in zip(rows, found, strict=True):
        [alone] = served.post("/v1/models/people/predict", {"rows": [row], "explain": 3})["answers"]
        assert alone == answer


def test_ask_and_what_if_are_those_of_the_library(served: Served) -> None:
    model = served.models["people"]
    found = served.post("/v1/models/people/ask", {"row": {"age": 30}, "costs": {"car": 2}})
    assert found["questions"] == model.ask_next({"age": 30}, costs={"car": 2}).to_dict()["questions"]
    changed = served.post("/v1/models/people/what-if", {"row": ROWS[0], "changes": {"car": "van"}})
    assert changed["after"] == model.what_if(ROWS[0], {"car": "van"}).to_dict()["after"]


def test_documents(served: Served) -> None:
    model = served.models["mail"]
    texts = ["cheap pills", "the meeting", ""]
    found = served.post("/v1/models/mail/predict", {"rows": [{"text": texts[0]}, *texts[1:]], "explain": 1})
    shares = np.array([list(answer["proba"].values()) for answer in found["answers"]])
    assert (shares == model.predict_proba(texts)).all()
    assert found["answers"][0]["explanation"][0]["word"] == "cheap"
    assert served.post("/v1/models/mail/explain", {"row": texts[0]})["words"][0]["word"] == "cheap"
    assert served.ask("POST", "/v1/models/mail/ask", {"row": {}}).status == 404


def test_networks(served: Served) -> None:
    model = served.models["alarm"]
    rows: list[dict[str, Any]] = [{"J": "true"}, {"J": {"true": 0.9, "false": 0.2}, "E": None}, {}]
    found = served.post("/v1/models/alarm/predict", {"rows": rows, "targets": ["B", "A"]})
    for row, answer in zip(rows, found["answers"], strict=True):
        expected = model.posteriors({name: value for name, value in row.items() if value is not None})
        assert answer["posteriors"] == {node: dict(expected[node]) for node in ("B", "A")}
    asked = served.post("/v1/models/alarm/ask", {"row": {"J": "true"}, "target": "B"})
    assert asked["questions"] == model.ask_next({"J": "true"}, "B").to_dict()["questions"]
    refused = served.ask("POST", "/v1/models/alarm/predict", {"rows": [{}, {"J": "perhaps"}]})
    assert refused.status == 422
    assert refused.json["row"] == 1


def test_chains_decode_and_forecast(served: Served) -> None:
    model = served.models["weather"]
    steps = ["walk", None, "shop", "shop"]
    found = served.post("/v1/models/weather/predict", {"sequences": [steps, []], "forecast": 2})["answers"]
    assert found[0]["path"] == list(model.predict(steps))
    assert [list(step.values()) for step in found[0]["proba"]] == model.predict_proba(steps).tolist()
    assert found[0]["log_likelihood"] == model.score(steps)
    expected = model.forecast(steps, 2)
    assert [list(step["states"].values()) for step in found[0]["forecast"]] == expected.states.tolist()
    assert found[1]["path"] == []
    assert len(found[1]["forecast"]) == 2


def test_infer_is_predict_by_columns(served: Served) -> None:
    rows = people(60, seed=7)[0]
    names = ("age", "car", "married", "joined")
    types = {"age": "FP64", "car": "BYTES", "married": "BOOL", "joined": "BYTES"}
    inputs = [
        {"name": name, "shape": [60, 1], "datatype": types[name], "data": [row[name] for row in rows]} for name in names
    ]
    found = served.post("/v2/models/people/infer", {"id": "a-1", "inputs": inputs})
    assert found["id"] == "a-1"
    assert found["model_name"] == "people"
    labels, shares = found["outputs"]
    bare = [{name: row[name] for name in names} for row in rows]
    expected = served.post("/v1/models/people/predict", {"rows": bare})["answers"]
    assert labels["data"] == [answer["class"] for answer in expected]
    assert shares["shape"] == [60, 2]
    assert np.reshape(shares["data"], (60, 2)).tolist() == [list(answer["proba"].values()) for answer in expected]
    only = served.post("/v2/models/people/infer", {"inputs": inputs, "outputs": [{"name": "class"}]})
    assert [each["name"] for each in only["outputs"]] == ["class"]


def test_infer_of_networks_and_chains(served: Served) -> None:
    tensor = {"name": "J", "shape": [2], "datatype": "BYTES", "data": ["true", None]}
    outputs = {each["name"]: each for each in served.post("/v2/models/alarm/infer", {"inputs": [tensor]})["outputs"]}
    assert outputs["B"]["data"][:2] == list(served.models["alarm"].posteriors({"J": "true"})["B"].values())
    steps = {"name": "0", "shape": [3], "datatype": "BYTES", "data": ["walk", "shop", None]}
    steps["name"] = served.ask("GET", "/v2/models/weather").json["inputs"][0]["name"]
    states = served.post("/v2/models/weather/infer", {"inputs": [steps]})["outputs"][0]
    assert states["data"] == list(served.models["weather"].predict(["walk", "shop", None]))


def test_metadata_says_that_null_is_missing(served: Served) -> None:
    found = served.ask("GET", "/v2/models/people").json
    assert [each["name"] for each in found["inputs"]] == ["age", "car", "married", "joined", "person"]
    assert found["inputs"][0]["datatype"] == "FP64"
    assert all(each["parameters"]["null"] == "missing" for each in found["inputs"])
    assert "null" in found["parameters"]["null"]
    assert served.ask("GET", "/v2").json["name"] == "bayesbox"


def test_list_of_models(served: Served) -> None:
    found = {each["name"]: each for each in served.ask("GET", "/v1/models").json["models"]}
    assert set(found) == set(served.models)
    assert found["people"]["rows"] == 200
    assert found["people"]["classes"] == ["high", "low"]
    assert found["numbers"]["classes"] == [0, 1]
    assert {"name", "kind", "digest", "rows", "classes"} <= set(found["alarm"])


def test_health_is_open_and_says_nothing_else(served: Served) -> None:
    assert served.ask("GET", "/v2/health/live", scope=None).json == {"live": True}
    assert served.ask("GET", "/v2/health/ready", scope=None).json == {"ready": True}


def test_gzip_both_ways(served: Served) -> None:
    body = json.dumps({"rows": ROWS * 20}).encode()
    plain = served.ask("POST", "/v1/models/people/predict", body)
    packed = served.ask(
        "POST",
        "/v1/models/people/predict",
        gzip.compress(body),
        headers={"content-encoding": "gzip", "accept-encoding": "gzip, br"},
    )
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.body) < len(plain.body)
    assert packed.json == plain.json


def test_request_ids_are_kept_where_they_are_harmless(served: Served) -> None:
    found = served.ask("GET", "/v1/models", headers={"x-request-id": "trace-17"})
    assert found.headers["x-request-id"] == "trace-17"
    found = served.ask("GET", "/v1/models", headers={"x-request-id": "a\"b' {}"})
    assert "{" not in found.headers["x-request-id"]
