"""The routes of the service in one table: method, path, required scope and description.

`{m}` is the name of a model, `{n}` a number. Everything else is denied.
"""

from __future__ import annotations

from typing import NamedTuple

from bayesbox.serve.http.tokens import ANY, OPEN


class ServiceRoute(NamedTuple):
    """One route; `name` is the name of its handler, and its label in the metrics."""

    method: str
    path: str
    scope: str
    name: str
    summary: str
    writes: bool = False  # whether only the writer process handles it


ROUTES = (
    ServiceRoute("GET", "/v2", "predict", "server_metadata", "Name, version and extensions of the server"),
    ServiceRoute("GET", "/v2/health/live", OPEN, "live", "Liveness: whether the process runs"),
    ServiceRoute("GET", "/v2/health/ready", OPEN, "ready", "Readiness: whether the service accepts requests"),
    ServiceRoute("GET", "/v2/models/{m}", "predict", "model_metadata", "The inputs and outputs of a model"),
    ServiceRoute("GET", "/v2/models/{m}/ready", "predict", "model_ready", "Readiness of a model"),
    ServiceRoute(
        "POST", "/v2/models/{m}/infer", "predict", "infer", "Open Inference Protocol V2: one tensor per column"
    ),
    ServiceRoute("GET", "/v1/models", "predict", "models", "Names, kinds, digests, rows and classes of the models"),
    ServiceRoute("POST", "/v1/models/{m}/predict", "predict", "predict", "Predict the class of each row"),
    ServiceRoute("POST", "/v1/models/{m}/explain", "predict", "explain", "Explain the prediction for one row"),
    ServiceRoute("POST", "/v1/models/{m}/ask", "predict", "ask", "Rank the unknown columns to ask next"),
    ServiceRoute("POST", "/v1/models/{m}/what-if", "predict", "what-if", "Predict one row with other values"),
    ServiceRoute(
        "POST", "/v1/models/{m}/learn", "learn", "learn", "Learn events; the response follows the commit", True
    ),
    ServiceRoute("POST", "/v1/models/{m}/forget", "forget", "forget", "Forget events; returns a certificate", True),
    ServiceRoute("GET", "/v1/models/{m}/certificates", "forget", "certificates", "List the certificates", True),
    ServiceRoute("GET", "/v1/models/{m}/certificates/{n}", "forget", "certificate", "Get one certificate", True),
    ServiceRoute("GET", "/v1/models/{m}/drift", "predict", "drift", "Drift of the requests since training", True),
    ServiceRoute("GET", "/v1/models/{m}/audit", "admin", "audit", "Audit log of a model", True),
    ServiceRoute("POST", "/v1/models/{m}/reload", "admin", "reload", "Reload the file of a model", True),
    ServiceRoute("GET", "/metrics", ANY, "metrics", "Metrics in the Prometheus format", True),
    ServiceRoute("GET", "/openapi.json", "predict", "openapi", "OpenAPI description of the service"),
)

_PLAIN = {route.path: route for route in ROUTES if "{" not in route.path}
_OF_MODELS = {
    (route.path.split("/")[1], "/".join(route.path.split("/")[4:])): route for route in ROUTES if "{m}" in route.path
}


class Match(NamedTuple):
    """The route of a path, its model, and its number."""

    route: ServiceRoute
    model: str | None
    number: str | None


def match(path: str) -> Match | None:
    """The route of a path, for any method.

    >>> match("/v1/models/people/predict").model
    'people'
    >>> match("/v1/models/people/certificates/3").number
    '3'
    >>> match("/v1/models/../../etc/passwd") is None
    True
    """
    route = _PLAIN.get(path)
    if route is not None:
        return Match(route, None, None)
    parts = path.split("/")
    if len(parts) < 4 or parts[2] != "models" or not parts[3]:
        return None
    route = _OF_MODELS.get((parts[1], "/".join(parts[4:])))
    if route is not None:
        return Match(route, parts[3], None)
    if len(parts) == 6 and parts[4] == "certificates":
        return Match(_OF_MODELS[parts[1], "certificates/{n}"], parts[3], parts[5]) if parts[1] == "v1" else None
    return None
