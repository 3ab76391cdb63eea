"""The routes of the service in one table: method, path, required scope and description.

`{m}` is the name of a model, `{n}` a number. Everything else is denied.
"""

from __future__ import annotations

import difflib
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

NEAR = 0.8  # the least similarity of a path to that of the route that is suggested
_PLAIN = {route.path: route for route in ROUTES if "{" not in route.path}
_OF_MODELS = {
    (route.path.split("/")[1], "/".join(route.path.split("/")[4:])): route for route in ROUTES if "{m}" in route.path
}


def nearest_route(path: str) -> str | None:
    """The method and path of the route with the most similar path; None if no route is similar.

    >>> nearest_route("/v1/models/people/predikt"), nearest_route("/predict"), nearest_route("/robots.txt")
    ('POST /v1/models/people/predict', 'POST /v1/models/{m}/predict', None)
    """
    bare = path.rstrip("/")[:200]
    parts = bare.split("/")
    model = parts[3] if len(parts) > 3 and parts[2].startswith("model") and parts[3].isprintable() else "{m}"
    paths = {route.path.replace("{m}", model): route.method for route in ROUTES}
    named = [each for each in paths if len(parts) == 2 and parts[1] and each.rsplit("/", 1)[1] == parts[1]]
    near = named or difflib.get_close_matches(bare, paths, n=1, cutoff=NEAR)
    return f"{paths[near[0]]} {near[0]}" if near else None


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
