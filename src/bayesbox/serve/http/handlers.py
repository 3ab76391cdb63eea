"""The handlers of the routes: from a model, from the store, or about the service itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import msgspec

from bayesbox.errors import BayesboxError
from bayesbox.serve.http import oip
from bayesbox.serve.http.calls import JSON, Call, Reply
from bayesbox.serve.http.decode import decode
from bayesbox.serve.http.metrics import MEDIA_TYPE as METRICS_TYPE
from bayesbox.serve.http.metrics import ServiceMetrics
from bayesbox.serve.http.openapi import description
from bayesbox.serve.http.problems import Problem
from bayesbox.serve.models.base import Action, ModelAnswer, ServiceModel, json_of
from bayesbox.serve.models.classifier import ForgetBody, LearnBody, ServedClassifier
from bayesbox.serve.store.events import LONGEST_ID

if TYPE_CHECKING:
    from bayesbox.serve.http.service import Service

PAUSE = 0.002  # seconds between two batches of counted rows
MOST_RECORDS = 1000  # of the audit log in one response
GAUGES = {
    "model_rows": "Rows counted by a model.",
    "model_sequence": "Number of the last event of a model.",
    "store_lag_seconds": "Seconds that the oldest pending change has waited for its commit.",
    "in_flight": "Requests in flight.",
    "drift_psi": "Population stability index of the requests against the model, by column.",
    "drift_rows": "Rows of requests counted for drift.",
}


class Handlers:
    """The handlers of a service, found by the names of the routes."""

    def __init__(self, service: Service, signer: Any = None) -> None:
        self.service = service
        self.signer = signer
        self.other_metrics: Mapping[int, tuple[Any, ...]] = {}  # of the other processes
        self._simple = {
            "server_metadata": self.server_metadata,
            "live": self.live,
            "ready": self.ready,
            "model_metadata": self.model_metadata,
            "model_ready": self.model_ready,
            "models": self.models,
        }
        self._slow = {
            "certificate": self.certificate,
            "certificates": self.certificates,
            "audit": self.audit,
            "drift": self.drift,
            "metrics": self.metrics,
            "openapi": self.openapi,
            "reload": self.reload,
        }

    async def answer(self, call: Call, body: bytes) -> Reply:
        """The reply of a route."""
        assert call.match is not None
        name = call.match.route.name
        if name == "infer":
            return await self.infer(call, body)
        simple = self._simple.get(name)
        if simple is not None:
            return simple(call)
        slow = self._slow.get(name)
        if slow is not None:
            found: Reply = await self.service.in_thread(slow, call)
            return found
        if name == "learn":
            return await self.learn(call, body)
        if name == "forget":
            return await self.forget(call, body)
        return await self.ask_model(call, name, body)

    def _model(self, call: Call) -> ServiceModel:
        assert call.match is not None
        assert call.match.model is not None
        return self.service.folder.models[call.match.model]

    # -- questions to models -----------------------------------------------------------------------------------------

    async def ask_model(self, call: Call, name: str, data: bytes) -> Reply:
        """A query that the model answers."""
        model = self._model(call)
        action: Action | None = model.actions.get(name)
        if action is None:
            raise _no_action(model, name)
        service = self.service
        if action.direct is not None:
            found = action.direct(data, service.limits.rows)
            if found is not None:
                call.rows = found.rows
                service.metrics.predicted(model.name, found.classes, found.rows)
                return _reply(found.body, found.digest)
        body = decode(data, action.body, service.limits)
        call.rows = asked = body.rows_asked()
        self._limit(asked)
        answer: ModelAnswer = (
            action.run(body) if action.quick(body) else await service.in_stoppable_thread(action.run, body)
        )
        service.metrics.predicted(model.name, answer.classes, answer.rows)
        return _reply(answer.body, answer.digest)

    async def infer(self, call: Call, data: bytes) -> Reply:
        """The Open Inference Protocol."""
        model, service = self._model(call), self.service
        request = decode(data, oip.InferRequest, service.limits)
        columns, rows = oip.columns_of(request, model)
        call.rows = rows
        self._limit(rows)
        if model.infers_quickly:
            digest, outputs, classes = model.infer(columns, rows)
        else:
            digest, outputs, classes = await service.in_stoppable_thread(model.infer, columns, rows)
        service.metrics.predicted(model.name, classes, rows)
        found: dict[str, Any] = {"model_name": model.name, "model_version": digest}
        if request.id is not None:
            found["id"] = request.id
        found["outputs"] = oip.chosen(outputs, request.outputs)
        return _reply(msgspec.json.encode(found), digest)

    def _limit(self, rows: int) -> None:
        most = self.service.limits.rows
        if rows > most:
            what = f"at most {most} rows per request, got {rows}"
            remedy = "Send several requests, or start the service with --max-rows"
            raise Problem(422, f"{what}. {remedy}", kind="too-many-rows")

    # -- about the service and its models ----------------------------------------------------------------------------

    def server_metadata(self, call: Call) -> Reply:  # noqa: ARG002
        """The server metadata of the Open Inference Protocol."""
        return _reply(json_of(oip.server_metadata()))

    def live(self, call: Call) -> Reply:  # noqa: ARG002
        """Liveness: the process runs."""
        return _reply(b'{"live":true}')

    def ready(self, call: Call) -> Reply:  # noqa: ARG002
        """Readiness: requests are answered, unless the service is draining."""
        if self.service.draining:
            raise Problem(503, "the service is stopping", kind="draining", headers=[(b"connection", b"close")])
        return _reply(b'{"ready":true}')

    def model_metadata(self, call: Call) -> Reply:
        """The tensors of a model."""
        model = self._model(call)
        return _reply(json_of(oip.model_metadata(model)), model.digest)

    def model_ready(self, call: Call) -> Reply:
        """Readiness of a model: it is loaded."""
        model = self._model(call)
        return _reply(json_of({"name": model.name, "ready": True}), model.digest)

    def models(self, call: Call) -> Reply:  # noqa: ARG002
        """All models."""
        models = self.service.folder.models
        return _reply(json_of({"models": [models[name].summary() for name in sorted(models)]}))

    def openapi(self, call: Call) -> Reply:  # noqa: ARG002
        """The current OpenAPI description of the service."""
        folder = self.service.folder
        return _reply(json_of(description(folder.models, self.service.limits)))

    # -- learning and forgetting -------------------------------------------------------------------------------------

    def _writable(self, call: Call, what: str) -> ServedClassifier:
        model = self._model(call)
        if not isinstance(model, ServedClassifier):
            raise _no_action(model, what)
        if model.reads_only is not None:
            raise Problem(409, model.reads_only, kind="read-only")
        return model

    async def learn(self, call: Call, data: bytes) -> Reply:
        """Learn events; replies after the commit."""
        service = self.service
        model = self._writable(call, "learn")
        body = decode(data, LearnBody, service.limits)
        call.rows = len(body.events)
        self._limit(call.rows)
        _check_ids([event.id for event in body.events], "events")
        events = model.events_of(body)
        if not events:
            raise Problem(422, "events must not be empty", kind="no-events")
        new = model.new_classes(events)
        waiting = service.folder.store.submit(model.name, events, by=call.token)
        result = await asyncio.shield(asyncio.wrap_future(waiting))  # a disconnected client does not undo the commit
        for status in result.statuses:
            service.metrics.events[model.name, status] += 1
        answers = [{"id": event.id, "status": status} for event, status in zip(events, result.statuses, strict=True)]
        counts = {name: result.statuses.count(name) for name in ("learned", "known", "forgotten")}
        found: dict[str, Any] = {"digest": result.digest, "sequence": result.sequence, "rows": result.rows, **counts}
        found["answers"] = answers
        if new:
            listed = ", ".join(f"`{label[:80]}`" for label in sorted(new)[:10])
            found["notes"] = [f"new classes: {listed}. If a label is a typo, forget its event"]
        return _reply(msgspec.json.encode(found), result.digest)

    async def forget(self, call: Call, data: bytes) -> Reply:
        """Forget events, all or none; returns the certificate."""
        service = self.service
        model = self._writable(call, "forget")
        body = decode(data, ForgetBody, service.limits)
        call.rows = len(body.ids)
        self._limit(call.rows)
        _check_ids(body.ids, "ids")
        if not body.ids and body.key is None:
            raise Problem(422, "pass ids, or key with column and value", kind="no-events")
        key = None if body.key is None else (body.key.column, body.key.value)

        def forgotten() -> dict[str, Any]:
            store = service.folder.store
            return store.forget(model.name, body.ids, key=key, signer=self.signer, by=call.token)

        certificate = await service.in_thread(forgotten)
        model.tally.reset()
        service.metrics.events[model.name, "taken-out"] += 1
        return _reply(json_of(certificate), model.digest)

    def certificate(self, call: Call) -> Reply:
        """One certificate."""
        assert call.match is not None
        number = call.match.number or ""
        if not number.isdecimal() or len(number) > 18:
            raise Problem(404, "the number of a certificate must be an integer", kind="unknown-record")
        model = self._model(call)
        self._require_store(model, "certificates")
        return _reply(json_of(self.service.folder.store.certificate(model.name, int(number))), model.digest)

    def certificates(self, call: Call) -> Reply:
        """All certificates of a model."""
        model = self._model(call)
        self._require_store(model, "certificates")
        found = self.service.folder.store.certificates(model.name)
        return _reply(json_of({"certificates": found}), model.digest)

    @staticmethod
    def _require_store(model: ServiceModel, what: str) -> None:
        if not isinstance(model, ServedClassifier):
            raise _no_action(model, what)

    def audit(self, call: Call) -> Reply:
        """A page of the audit log of a model."""
        model = self._model(call)
        asked = parse_qs(call.query.decode("latin-1"))
        after = _number(asked, "after", 0, most=2**62)
        limit = _number(asked, "limit", MOST_RECORDS, most=MOST_RECORDS)
        found = self.service.folder.store.audit(model.name, after, limit)
        return _reply(json_of({"records": found}), model.digest)

    def reload(self, call: Call) -> Reply:
        """Reload the file of a model; requests in progress are answered by the previous one."""
        assert call.match is not None
        assert call.match.model is not None
        if self.service.folder.at is not None:
            raise Problem(409, "the service is read-only: it predicts as of an event number (--at)", kind="read-only")
        model = self.service.reload(call.match.model, by=call.token)
        return _reply(json_of({"model": model.summary()}), model.digest)

    # -- monitoring ----------------------------------------------------------------------------------------------------

    def count_requests(self) -> None:
        """Count the queued rows for drift."""
        for model in list(self.service.folder.models.values()):
            if isinstance(model, ServedClassifier):
                model.tally.count(PAUSE)

    def drift(self, call: Call) -> Reply:
        """The drift of the requests so far against the training data."""
        model = self._model(call)
        if not isinstance(model, ServedClassifier) or not model.is_table:
            raise Problem(404, f"`{model.name}` is a {model.kind} whose requests are not counted", kind="no-action")
        return _reply(json_of({"digest": model.digest, **model.tally.result()}), model.digest)

    def metrics(self, call: Call) -> Reply:  # noqa: ARG002
        """The metrics of all processes."""
        service = self.service
        together = ServiceMetrics.sum([service.metrics.state(), *self.other_metrics.values()])
        gauges: dict[str, list[tuple[Mapping[str, str], float]]] = {name: [] for name in GAUGES}
        gauges["store_lag_seconds"].append(({}, float(service.folder.store.lag())))
        gauges["in_flight"].append(({}, float(service.in_flight)))
        for name, model in sorted(service.folder.models.items()):
            if not isinstance(model, ServedClassifier):
                continue
            state = model.current()
            gauges["model_rows"].append(({"model": name}, float(state.rows)))
            gauges["model_sequence"].append(({"model": name}, float(state.sequence)))
            if model.is_table:
                try:
                    drift = model.tally.result()
                except BayesboxError:
                    continue
                gauges["drift_rows"].append(({"model": name}, float(drift["rows_counted"])))
                gauges["drift_psi"] += [
                    ({"model": name, "column": each["column"]}, float(each["psi"])) for each in drift["columns"]
                ]
        return _reply(together.text(gauges, GAUGES), media_type=METRICS_TYPE)


def _no_action(model: ServiceModel, action: str) -> Problem:
    supported = ", ".join(sorted(model.actions))
    what = f"`{model.name}` is a {model.kind}, which does not support {action}. It supports {supported}"
    return Problem(404, what, kind="no-action")


def _reply(body: bytes, digest: str | None = None, media_type: bytes | None = None) -> Reply:
    return Reply(body, digest, 200, JSON if media_type is None else media_type)


def _check_ids(ids: Sequence[str], field: str) -> None:
    for place, id in enumerate(ids):
        if not id or len(id) > LONGEST_ID:
            what = f"an id must have 1 to {LONGEST_ID} characters"
            about = {"detail": what, "pointer": f"#/{field}/{place}", "field": "id", "row": place}
            raise Problem(422, what, kind="bad-id", errors=[about])


def _number(asked: Mapping[str, Sequence[str]], name: str, default: int, *, most: int) -> int:
    if name not in asked:
        return default
    text = asked[name][-1]
    if not text.isdecimal() or len(text) > 18 or int(text) > most:
        about = {"detail": f"{name} must be a non-negative integer", "field": name, "row": None}
        raise Problem(422, f"{name} must be an integer from 0 to {most}, got {text[:20]!r}", errors=[about])
    return int(text)
