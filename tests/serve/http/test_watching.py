"""What is watched: metrics, drift of the requests, logs, readiness; and the description of the service."""

from __future__ import annotations

import io
import json

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.serve.http.conftest import Serve, Served, token_of
from tests.serve.http.models import people

import bayesbox as bb
from bayesbox.serve.http.logs import ServiceLog
from bayesbox.serve.http.metrics import BUCKETS, ServiceMetrics


def metrics_of(served: Served) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    text = served.ask("GET", "/metrics", scope="learn").body.decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_count_what_was_asked(serve: Serve) -> None:
    served = serve()
    for _ in range(3):
        served.post("/v1/models/people/predict", {"rows": [{"age": 20}, {"age": 60}]})
    served.ask("POST", "/v1/models/people/predict", {"rows": [{"age": "old"}]})
    served.ask("GET", "/v1/models", scope="learn")
    event = {"id": "a", "row": {"age": 3}, "label": "low"}
    served.post("/v1/models/people/learn", {"events": [event, {**event, "id": "b"}]}, scope="learn")
    found = metrics_of(served)
    predict = (("model", "people"), ("route", "predict"))
    assert found["bayesbox_requests_total", (*predict, ("status", "200"))] == 3
    assert found["bayesbox_requests_total", (*predict, ("status", "422"))] == 1
    assert found["bayesbox_rows_total", (("model", "people"),)] == 6
    classes = [found["bayesbox_predictions_total", (("class", name), ("model", "people"))] for name in ("high", "low")]
    assert classes == [3, 3]
    assert found["bayesbox_errors_total", (("kind", "missing-scope"),)] == 1
    assert found["bayesbox_events_total", (("model", "people"), ("status", "learned"))] == 2
    assert found["bayesbox_request_seconds_count", (("route", "predict"),)] == 4
    assert found["bayesbox_request_seconds_bucket", (("le", "+Inf"), ("route", "predict"))] == 4
    assert found["bayesbox_model_rows", (("model", "people"),)] == 202
    assert found["bayesbox_store_lag_seconds", ()] >= 0
    assert found["bayesbox_drift_rows", (("model", "people"),)] == 6
    assert ("bayesbox_drift_psi", (("column", "age"), ("model", "people"))) in found


def test_metrics_of_processes_add_up() -> None:
    one, other = ServiceMetrics(), ServiceMetrics()
    for seconds in (0.0001, 0.004, 20.0):
        one.answered("predict", "m", 200, seconds)
        other.answered("predict", "m", 200, seconds)
    one.predicted("m", ["a", "b"], 2)
    other.predicted("m", ["a", True], 2)
    whole = ServiceMetrics.sum([one.state(), other.state()])
    assert whole.requests["predict", "m", 200] == 6
    assert whole.times["predict"][0] == 2
    assert whole.times["predict"][len(BUCKETS)] == 2
    assert whole.classes["m", "a"] == 2
    assert b'class="true"' in whole.text({}, {})


def test_labels_of_clients_cannot_grow_the_metrics(serve: Serve) -> None:
    served = serve()
    for number in range(20):
        served.ask("GET", f"/v1/models/nobody{number}/drift")
    assert len([1 for name, _ in metrics_of(served) if name == "bayesbox_requests_total"]) == 1


def test_drift_is_that_of_the_library(serve: Serve) -> None:
    served = serve()
    model = served.models["people"]
    rows = [{name: row[name] for name in ("age", "car", "married")} for row in people(80, seed=11)[0]]
    for row in rows:
        row["age"] = None if row["age"] is None else row["age"] + 25
    for first in range(0, 80, 8):
        served.post("/v1/models/people/predict", {"rows": rows[first : first + 8]})
    found = served.ask("GET", "/v1/models/people/drift").json
    assert (found["rows_seen"], found["rows_counted"]) == (80, 80)
    expected = model.drift(rows).to_dict()
    assert json.loads(json.dumps(found["columns"])) == json.loads(json.dumps(expected["columns"]))
    psi = {each["column"]: each["psi"] for each in found["columns"]}
    assert psi["age"] > 1 > psi["car"]
    served.ask("POST", "/v1/models/people/reload", scope="admin")
    assert served.ask("GET", "/v1/models/people/drift").json["rows_counted"] == 0


def test_drift_of_very_many_rows_is_a_sample(serve: Serve) -> None:
    served = serve()
    for _ in range(30):
        served.post("/v1/models/people/predict", {"rows": [{"age": 40}] * 1000})
    found = served.ask("GET", "/v1/models/people/drift").json
    assert found["rows_seen"] == 30_000
    assert 1000 <= found["rows_counted"] <= 1200


def test_rows_of_mixed_types_do_not_stop_the_counting(serve: Serve) -> None:
    served = serve()
    served.post("/v1/models/people/predict", {"rows": [{"car": 3}, {"car": "van"}, {"car": True}, {}]})
    assert served.ask("GET", "/v1/models/people/drift").json["rows_counted"] == 3


def test_drift_of_two_processes_adds_up(serve: Serve) -> None:
    one, other, both = (serve() for _ in range(3))
    rows = people(40, seed=2)[0]
    one.post("/v1/models/people/predict", {"rows": rows[:25]})
    other.post("/v1/models/people/predict", {"rows": rows[25:]})
    both.post("/v1/models/people/predict", {"rows": rows})
    tally = one.service.folder.models["people"].tally  # type: ignore[attr-defined]
    tally.count()
    tally.add(*other.service.folder.models["people"].tally.taken())  # type: ignore[attr-defined]
    found, expected = (each.ask("GET", "/v1/models/people/drift").json for each in (one, both))
    assert found["columns"] == expected["columns"]
    assert found["rows_seen"] == 40


def test_logs_have_no_secrets(serve: Serve) -> None:
    lines = io.StringIO()
    served = serve(ServiceLog("requests", lines))
    secret = {"events": [{"id": "Ann Smith", "row": {"age": 31.5, "car": "Rolls"}, "label": "high"}]}
    served.post("/v1/models/people/learn", secret, scope="learn")
    served.post("/v1/models/people/predict", {"rows": [{"car": "Rolls"}]})
    served.ask("POST", "/v1/models/people/predict", {"rows": [{"age": "Ann Smith"}]})
    served.ask("GET", "/v1/models", headers={"authorization": "Bearer bb_stolen"}, scope=None)
    served.service.tick()
    text = lines.getvalue()
    assert len(text.splitlines()) == 4
    for word in ("Ann", "Rolls", "bb_stolen", token_of("predict"), token_of("learn")):
        assert word not in text
    found = [json.loads(line) for line in text.splitlines()]
    assert [each["status"] for each in found] == [200, 200, 422, 401]
    assert found[0]["token"] in {token.id for token in served.store.tokens()}
    quiet = serve(ServiceLog("problems", problems := io.StringIO()))
    quiet.ask("GET", "/v1/models")
    quiet.ask("GET", "/v1/nothing")
    quiet.service.tick()
    assert [json.loads(line)["status"] for line in problems.getvalue().splitlines()] == [404]


def test_a_service_that_stops_is_not_ready(serve: Serve) -> None:
    served = serve()
    served.service.draining = True
    assert served.ask("GET", "/v2/health/ready", scope=None).status == 503
    assert served.ask("GET", "/v2/health/live", scope=None).status == 200
    assert served.ask("POST", "/v1/models/people/predict", {"rows": [{}]}).status == 200


def test_the_description_is_that_of_the_models(served: Served) -> None:
    found = served.ask("GET", "/openapi.json").json
    body = found["paths"]["/v1/models/people/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    row = body["properties"]["rows"]["items"]["properties"]
    assert row["age"]["type"] == ["number", "null"]
    assert row["car"]["examples"] == ["sports", "suv", "van"]
    assert body["properties"]["rows"]["maxItems"] == 1000
    assert "/v1/models/weather/learn" not in found["paths"]
    assert "/v1/models/alarm/ask" in found["paths"]
    assert found["paths"]["/v2/health/live"]["get"]["security"] == []
    secured = [each for path in found["paths"].values() for each in path.values() if each["security"]]
    assert len(secured) == sum(len(path) for path in found["paths"].values()) - 2


def test_the_description_follows_what_is_learned(serve: Serve) -> None:
    served = serve()
    event = {"id": "a", "row": {"car": "tank"}, "label": "low"}
    served.post("/v1/models/people/learn", {"events": [event]}, scope="learn")
    body = served.ask("GET", "/openapi.json").json["paths"]["/v1/models/people/explain"]["post"]["requestBody"]
    examples = body["content"]["application/json"]["schema"]["properties"]["row"]["properties"]["car"]["examples"]
    assert "tank" in examples


def test_client_refuses_what_is_no_address() -> None:
    with pytest.raises(ValueError, match="got 'people'"):
        bb.Client("people")
