"""The description of the service: OpenAPI 3.1, with the rows and classes of each model from its own schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesbox import __version__
from bayesbox.serve.http.limits import ServiceLimits
from bayesbox.serve.http.routes import ROUTES, ServiceRoute
from bayesbox.serve.http.tokens import OPEN
from bayesbox.serve.models.base import Json, ServiceModel
from bayesbox.serve.models.classifier import ServedClassifier
from bayesbox.serve.models.schemas import TEXT, listed, record

VALUE: Json = {"type": ["string", "number", "boolean", "null"]}


def description(models: Mapping[str, ServiceModel], limits: ServiceLimits) -> Json:
    """The paths of all models, each with the schemas of its requests and responses."""
    paths: dict[str, Json] = {}
    for route in ROUTES:
        if "{m}" not in route.path:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, None, limits)
            continue
        for name, model in sorted(models.items()):
            if offers(model, route):
                path = route.path.replace("{m}", _escaped(name))
                paths.setdefault(path, {})[route.method.lower()] = _operation(route, model, limits)
    return {
        "openapi": "3.1.0",
        "info": {"title": "bayesbox", "version": __version__, "description": _about(limits)},
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Problem": _problem()},
        },
    }


def offers(model: ServiceModel, route: ServiceRoute) -> bool:
    """Whether a model has a route."""
    if route.name in ("predict", "explain", "ask", "what-if"):
        return route.name in model.actions
    if route.name in ("learn", "forget", "certificate", "certificates"):
        return isinstance(model, ServedClassifier)
    if route.name == "drift":
        return isinstance(model, ServedClassifier) and model.is_table
    return True


def _escaped(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")


def _about(limits: ServiceLimits) -> str:
    return (
        f"Limits: {limits.body} bytes, {limits.rows} rows, depth {limits.depth}, {limits.seconds:g} s, "
        f"{limits.in_flight} concurrent requests. Every response has the header Bayesbox-Digest."
    )


def _operation(route: ServiceRoute, model: ServiceModel | None, limits: ServiceLimits) -> Json:
    name = "" if model is None else f"_{model.name}"
    found: Json = {
        "operationId": f"{route.name.replace('-', '_')}{name}",
        "summary": route.summary,
        "responses": {"200": _response(_answer(route, model), route)},
        "security": [] if route.scope == OPEN else [{"token": []}],
    }
    if route.scope != OPEN:
        found["description"] = f"Requires a token with the scope: {route.scope}."
    for status in _problems(route, model):
        found["responses"][status] = {
            "description": "Error (RFC 9457)",
            "headers": _headers(),
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
    parameters = _parameters(route)
    if parameters:
        found["parameters"] = parameters
    body = _body(route, model, limits)
    if body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return found


def _response(schema: Json, route: ServiceRoute) -> Json:
    media = "text/plain" if route.name == "metrics" else "application/json"
    return {"description": route.summary, "headers": _headers(), "content": {media: {"schema": schema}}}


def _headers() -> Json:
    return {
        "Bayesbox-Digest": {"schema": TEXT, "description": "The digest of the counts of the model"},
        "X-Request-Id": {"schema": TEXT},
    }


def _problems(route: ServiceRoute, model: ServiceModel | None) -> list[str]:
    if route.scope == OPEN:
        return ["503"] if route.name == "ready" else []
    found = ["401", "403", "408", "429", "503"]
    if model is not None:
        found.append("404")
    if route.method == "POST":
        found += ["400", "413", "415", "422"]
    if route.name in ("learn", "forget", "reload"):
        found.append("409")
    if route.name == "audit":
        found.append("422")
    return sorted({*found})


def _parameters(route: ServiceRoute) -> list[Json]:
    whole: Json = {"type": "integer", "minimum": 0}
    if route.name == "certificate":
        return [{"name": "n", "in": "path", "required": True, "schema": whole}]
    if route.name == "audit":
        limit = {**whole, "maximum": 1000, "default": 1000}
        return [
            {"name": "after", "in": "query", "schema": {**whole, "default": 0}},
            {"name": "limit", "in": "query", "schema": limit},
        ]
    return []


def _body(route: ServiceRoute, model: ServiceModel | None, limits: ServiceLimits) -> Json | None:
    if route.method != "POST" or model is None or route.name == "reload":
        return None
    if route.name == "infer":
        return _tensors(model, limits)
    if route.name == "learn":
        assert isinstance(model, ServedClassifier)
        return _bounded(model.schemas.learn(), "events", limits)
    if route.name == "forget":
        key = record({"column": TEXT, "value": {"type": ["string", "number", "boolean"]}}, ["column", "value"])
        ids = {**listed({**TEXT, "minLength": 1, "maxLength": 512}), "maxItems": limits.rows}
        found = record({"ids": ids, "key": {"oneOf": [key, {"type": "null"}]}}, closed=True)
        return {**found, "anyOf": [{"required": ["ids"]}, {"required": ["key"]}]}
    return _bounded(model.actions[route.name].schema(), "rows", limits)


def _bounded(schema: Json, name: str, limits: ServiceLimits) -> Json:
    """The schema of a body with its list of rows limited."""
    if name not in schema["properties"]:
        return schema
    rows = {**schema["properties"][name], "maxItems": limits.rows}
    return {**schema, "properties": {**schema["properties"], name: rows}}


def _tensors(model: ServiceModel, limits: ServiceLimits) -> Json:
    names = [each["name"] for each in model.tensors()[0]]
    tensor = record(
        {
            "name": {"enum": names},
            "shape": {
                **listed({"type": "integer", "minimum": 0, "maximum": limits.rows}),
                "minItems": 1,
                "maxItems": 2,
            },
            "datatype": {"enum": ["BOOL", "BYTES", "FP64", "INT64"]},
            "data": {**listed(VALUE), "maxItems": limits.rows},
            "parameters": {"type": ["object", "null"], "additionalProperties": VALUE},
        },
        ["name", "shape", "datatype", "data"],
    )
    wanted = record({"name": {"enum": [each["name"] for each in model.tensors()[1]]}}, ["name"])
    asked = {"id": {"type": ["string", "null"]}, "inputs": {**listed(tensor), "minItems": 1}}
    return record({**asked, "outputs": {"type": ["array", "null"], "items": wanted}}, ["inputs"])


def _answer(route: ServiceRoute, model: ServiceModel | None) -> Json:
    if route.name == "metrics":
        return TEXT
    if route.name == "models":
        kinds = {"type": "array"}
        about = {"name": TEXT, "kind": TEXT, "digest": TEXT, "rows": {"type": "integer"}, "classes": kinds}
        return record({"models": listed(record(about, list(about)))}, ["models"])
    if route.name == "infer":
        tensor = {"name": TEXT, "shape": listed({"type": "integer"}), "datatype": TEXT, "data": {"type": "array"}}
        found: dict[str, Any] = {"model_name": TEXT, "model_version": TEXT, "outputs": listed(record(tensor))}
        return record(found, list(found))
    if route.name == "learn":
        whole = {"type": "integer"}
        event = record({"id": TEXT, "status": {"enum": ["learned", "known", "forgotten"]}}, ["id", "status"])
        found = {"digest": TEXT, "sequence": whole, "rows": whole, "answers": listed(event)}
        return record(found, list(found))
    if model is not None and route.name in model.actions:
        return model.actions[route.name].answer()
    return {"type": "object"}


def _problem() -> Json:
    error = record({"detail": TEXT, "pointer": TEXT, "field": {}, "row": {}}, ["detail"])
    found: Json = {"type": TEXT, "title": TEXT, "status": {"type": "integer"}, "detail": TEXT, "instance": TEXT}
    return record({**found, "field": TEXT, "row": {"type": "integer"}, "errors": listed(error)}, list(found))
