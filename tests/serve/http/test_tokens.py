"""Who may ask what: every route with every scope, without a token, and with wrong ones."""

from __future__ import annotations

import hashlib
import itertools

import pytest
from tests.serve.http.asgi import ask
from tests.serve.http.conftest import SCOPES, Serve, Served, token_of

from bayesbox.serve.http.routes import ROUTES
from bayesbox.serve.http.tokens import ANY, OPEN, TokenBucket, TokenCheck

# written down once more, from the contract, so that a slip in the table of routes shows
ALLOWED = {
    ("GET", "/v2/health/live"): "open",
    ("GET", "/v2/health/ready"): "open",
    ("GET", "/v2"): "predict",
    ("GET", "/v2/models/people"): "predict",
    ("GET", "/v2/models/people/ready"): "predict",
    ("POST", "/v2/models/people/infer"): "predict",
    ("GET", "/v1/models"): "predict",
    ("POST", "/v1/models/people/predict"): "predict",
    ("POST", "/v1/models/people/explain"): "predict",
    ("POST", "/v1/models/people/ask"): "predict",
    ("POST", "/v1/models/people/what-if"): "predict",
    ("GET", "/v1/models/people/drift"): "predict",
    ("GET", "/openapi.json"): "predict",
    ("POST", "/v1/models/people/learn"): "learn",
    ("POST", "/v1/models/people/forget"): "forget",
    ("GET", "/v1/models/people/certificates"): "forget",
    ("GET", "/v1/models/people/certificates/1"): "forget",
    ("GET", "/v1/models/people/audit"): "admin",
    ("POST", "/v1/models/people/reload"): "admin",
    ("GET", "/metrics"): "any",
}
WRONG = [
    None,
    "",
    "Bearer",
    "Bearer ",
    "Bearer bb_wrong",
    f"Basic {token_of('admin')}",
    token_of("admin"),
    f"Bearer {token_of('admin')}x",
    f"Bearer {token_of('admin')[:-1]}",
    f"Bearer {hashlib.sha256(token_of('admin').encode()).hexdigest()}",
    "Bearer expired-token",
    "Bearer revoked-token",
]


@pytest.fixture(scope="module")
def guarded(serve: Serve) -> Served:
    found = serve()
    every = list(SCOPES)
    found.store.add_token(hashlib.sha256(b"expired-token").hexdigest(), every, 1.0, "expired")
    found.store.revoke(found.store.add_token(hashlib.sha256(b"revoked-token").hexdigest(), every, None, "revoked"))
    return found


def test_the_matrix_has_every_route() -> None:
    paths = {(route.method, route.path.replace("{m}", "people").replace("{n}", "1")) for route in ROUTES}
    assert paths == set(ALLOWED)


@pytest.mark.parametrize(("route", "scope"), list(itertools.product(ALLOWED, SCOPES)), ids=str)
def test_every_route_with_every_scope(guarded: Served, route: tuple[str, str], scope: str) -> None:
    status = guarded.ask(*route, {}, scope=scope).status
    assert status < 500
    if ALLOWED[route] in ("open", "any", scope):
        assert status not in (401, 403, 405)
    else:
        assert status == 403


@pytest.mark.parametrize(("route", "header"), list(itertools.product(ALLOWED, WRONG)), ids=str)
def test_every_route_without_a_valid_token(guarded: Served, route: tuple[str, str], header: str | None) -> None:
    found = ask(guarded.service, *route, {}, headers={} if header is None else {"authorization": header})
    if ALLOWED[route] == "open":
        assert found.status == 200
    else:
        assert found.status == 401
        assert found.headers["www-authenticate"].startswith("Bearer")
        assert found.headers["bayesbox-digest"] != guarded.models["people"].book_.digest()
        assert b"people" not in found.body


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/models/nobody", "/docs", "/v1/models/../../etc/passwd", "/v2/models/"]
)
def test_what_is_no_route_is_denied_before_it_is_unknown(guarded: Served, path: str) -> None:
    assert ask(guarded.service, "GET", path).status == 401
    assert guarded.ask("GET", path, scope="learn").status == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "GET"])
def test_other_methods_are_denied(guarded: Served, method: str) -> None:
    assert ask(guarded.service, method, "/v1/models/people/predict").status == 401
    found = guarded.ask(method, "/v1/models/people/predict")
    assert found.status == 405
    assert found.headers["allow"] == "POST"


def test_scopes_of_the_table_are_known() -> None:
    assert {route.scope for route in ROUTES} == {*SCOPES, ANY, OPEN}
    assert {route.path for route in ROUTES if route.scope == OPEN} == {"/v2/health/live", "/v2/health/ready"}


def test_a_revoked_token_is_refused_within_a_second(guarded: Served) -> None:
    now = [1000.0]
    check = TokenCheck(guarded.store, clock=lambda: now[0])
    made = guarded.store.add_token(hashlib.sha256(b"soon").hexdigest(), ["predict"], None, "")
    assert check.allow(b"Bearer soon", "predict") == made
    guarded.store.revoke(made)
    now[0] += 1.01
    with pytest.raises(Exception, match="not valid") as refused:
        check.allow(b"Bearer soon", "predict")
    assert refused.value.status == 401  # type: ignore[attr-defined]


def test_a_token_expires_while_it_is_remembered(guarded: Served) -> None:
    now = [1000.0]
    check = TokenCheck(guarded.store, clock=lambda: now[0])
    guarded.store.add_token(hashlib.sha256(b"short").hexdigest(), ["predict"], 1000.5, "")
    check.allow(b"Bearer short", "predict")
    now[0] = 1000.6
    with pytest.raises(Exception, match="not valid"):
        check.allow(b"Bearer short", "predict")


def test_rate_is_by_token(serve: Serve) -> None:
    found = serve(rate=2.0)
    answers = [found.ask("GET", "/v1/models") for _ in range(4)]
    assert [each.status for each in answers][:2] == [200, 200]
    assert answers[-1].status == 429
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert found.ask("GET", "/metrics", scope="admin").status == 200


def test_a_bucket_lets_its_rate_through() -> None:
    bucket = TokenBucket(10.0, 0.0)
    let = sum(bucket.take(step / 100) == 0 for step in range(1000))
    assert let == pytest.approx(10 * 10 + 10, abs=1)


def test_without_tokens_everything_is_open(serve: Serve) -> None:
    found = serve(tokens=False)
    assert found.ask("GET", "/v1/models", scope=None).status == 200
