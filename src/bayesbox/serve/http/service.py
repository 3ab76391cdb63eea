"""The service as an ASGI application: authorization, limits, routing, logging and metrics.

It is plain ASGI: a table of routes (`routes.py`) and one function for each. The server below takes a tenth of a
millisecond for a request of one row, so this layer is kept equally short.
"""

from __future__ import annotations

import asyncio
import difflib
import itertools
import re
import secrets
import time
import traceback
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from bayesbox import _core
from bayesbox.errors import BayesboxError
from bayesbox.serve.http.calls import Call, Receive, Reply, Scope
from bayesbox.serve.http.decode import inflate, too_large
from bayesbox.serve.http.handlers import Handlers
from bayesbox.serve.http.limits import ServiceLimits
from bayesbox.serve.http.logs import ServiceLog
from bayesbox.serve.http.metrics import ServiceMetrics
from bayesbox.serve.http.problems import MEDIA_TYPE, Problem, problem_of
from bayesbox.serve.http.routes import match, nearest_route
from bayesbox.serve.http.tokens import ANY, OPEN, TokenCheck
from bayesbox.serve.models.base import ServiceModel
from bayesbox.serve.models.folder import ModelFolder
from bayesbox.serve.models.rows import BadRowOf

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
LEAST_COMPRESSED = 1000  # bytes
COMPRESSION = 3


Forward = Callable[[Call, bytes], Awaitable[Reply]]


class Service:
    """The application. `tokens` is None if none are needed; `forward` sends writes to the writer process."""

    def __init__(
        self,
        folder: ModelFolder,
        tokens: TokenCheck | None,
        *,
        limits: ServiceLimits | None = None,
        log: ServiceLog | None = None,
        forward: Forward | None = None,
        signer: Any = None,
    ) -> None:
        self.folder = folder
        self.tokens = tokens
        self.limits = limits or ServiceLimits()
        self.log = log or ServiceLog("none")
        self.forward = forward
        self.metrics = ServiceMetrics()
        self.draining = False
        self.in_flight = 0
        self._left: set[Future[Any]] = set()  # abandoned calls
        self.pool = ThreadPoolExecutor(max_workers=max(self.limits.in_flight, 1), thread_name_prefix="bayes-serve")
        self.handlers = Handlers(self, signer)
        self.reloaded: Callable[[str], None] = lambda _: None
        self._prefix = secrets.token_hex(4)
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        start = time.perf_counter()
        call = Call(scope, receive, "")
        given = call.header.get(b"x-request-id")
        call.id = given.decode() if given and REQUEST_ID.fullmatch(given) else f"{self._prefix}-{next(self._numbers):x}"
        problem: Problem | None = None
        try:
            reply = await self._answer(call)
        except Problem as found:
            problem = found
        except (BayesboxError, BadRowOf) as error:
            problem = problem_of(error)
        except Exception:  # a bug: the log has the details, the client only the id of the request
            self.log.event("defect", id=call.id, traceback=traceback.format_exc())
            problem = Problem(500, "internal error; the log has the details under the id of the request")
        if problem is not None:
            self.metrics.errors[problem.kind] += 1
            reply = Reply(problem.body(call.id), self._digest_of(call), problem.status, MEDIA_TYPE, problem.headers)
        await self._send(call, reply, send)
        self._note(call, reply, time.perf_counter() - start, problem)

    # -- handling a request ------------------------------------------------------------------------------------------

    async def _answer(self, call: Call) -> Reply:
        call.match = found = match(call.path)
        scope = found.route.scope if found is not None else ANY
        if scope != OPEN and self.tokens is not None:
            sent = call.header.get(b"authorization")
            if not self.tokens.remembers(sent):
                await self.in_thread(self.tokens.look_up, sent)
            call.token = self.tokens.allow(sent, scope)
        if found is None:
            route_near = nearest_route(call.path)
            guess = f"did you mean {route_near}?" if route_near else "/openapi.json lists all routes"
            raise Problem(404, f"route not found; {guess}", kind="no-route")
        route = found.route
        if call.method != route.method and not (call.method == "HEAD" and route.method == "GET"):
            allowed = (b"allow", route.method.encode())
            raise Problem(405, f"method not allowed: this route requires {route.method}", headers=[allowed])
        if found.model is not None and found.model not in self.folder.models and route.name != "reload":
            near = difflib.get_close_matches(found.model, self.folder.models, n=1)
            guess = f"did you mean `{near[0]}`?" if near else "/v1/models lists all models"
            raise Problem(404, f"model `{found.model[:80]}` not found; {guess}", kind="no-model")
        if scope == OPEN:
            return await self.handlers.answer(call, b"")
        if self.in_flight + len(self._left) >= self.limits.in_flight:
            what = f"the service is handling {self.limits.in_flight} requests already; try again later"
            raise Problem(429, what, kind="in-flight", headers=[(b"retry-after", b"1")])
        self.in_flight += 1
        try:
            async with asyncio.timeout(self.limits.seconds):
                body = await self._body(call) if route.method == "POST" else b""
                if self.forward is not None and route.writes:
                    call.forwarded = True
                    return await self.forward(call, body)
                return await self.handlers.answer(call, body)
        except TimeoutError:
            raise Problem(
                408,
                f"the request was not received and answered within {self.limits.seconds:g} s",
                kind="too-slow",
                headers=[(b"connection", b"close")],
            ) from None
        finally:
            self.in_flight -= 1

    async def _body(self, call: Call) -> bytes:
        limit = self.limits.body
        length = call.header.get(b"content-length")
        if length is not None and length.isdigit() and int(length) > limit:
            raise too_large(self.limits)
        parts: list[bytes] = []
        size = 0
        while True:
            message = await call.receive()
            if message["type"] == "http.disconnect":
                raise Problem(400, "the client went away", kind="disconnected")
            part: bytes = message.get("body", b"")
            size += len(part)
            if size > limit:
                raise too_large(self.limits)
            parts.append(part)
            if not message.get("more_body"):
                break
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        encoding = call.header.get(b"content-encoding")
        return data if encoding is None else inflate(data, encoding.strip().lower(), self.limits)

    async def in_thread(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call something slow outside the event loop; if the client disconnects, the call continues, and counts as in
        progress until it ends."""
        return await self._result(self.pool.submit(function, *given))

    async def in_stoppable_thread(self, function: Callable[..., Any], *given: Any) -> Any:
        """The same for a query, which changes nothing: if the client disconnects, the core stops at its next poll."""
        flag = _core.StopFlag()

        def run() -> Any:
            flag.attach()
            return function(*given)

        try:
            return await self._result(self.pool.submit(run))
        except asyncio.CancelledError:
            flag.set()
            raise

    async def _result(self, future: Future[Any]) -> Any:
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.cancel():  # it is running
                self._left.add(future)
                future.add_done_callback(self._left.discard)
            raise

    # -- responses and logging ---------------------------------------------------------------------------------------

    def _digest_of(self, call: Call) -> str | None:
        """The digest of the model of an accepted request."""
        found = call.match
        if found is None or found.model is None or (self.tokens is not None and call.token is None):
            return None
        model = self.folder.models.get(found.model)
        return None if model is None else model.digest

    async def _send(self, call: Call, reply: Reply, send: Send) -> None:
        body = reply.body
        headers = [
            (b"content-type", reply.media_type),
            (b"bayesbox-digest", (reply.digest or self.folder.digest()).encode()),
            (b"x-request-id", call.id.encode()),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
            *reply.headers,
        ]
        if len(body) >= LEAST_COMPRESSED and b"gzip" in call.header.get(b"accept-encoding", b""):
            packer = zlib.compressobj(COMPRESSION, wbits=zlib.MAX_WBITS | 16)
            body = packer.compress(body) + packer.flush()
            headers += [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _note(self, call: Call, reply: Reply, seconds: float, problem: Problem | None) -> None:
        if call.forwarded and problem is None:
            return  # the process that handled it has counted it
        found = call.match
        route = "none" if found is None else found.route.name
        # only names of existing models become labels, or a client could create any number of them
        model = found.model if found is not None and found.model in self.folder.models else None
        self.metrics.answered(route, model or "", reply.status, seconds)
        log = self.log
        if log.all_requests or (problem is not None and log.problems):
            facts: dict[str, Any] = {
                "id": call.id,
                "method": call.method,
                "route": route,
                "status": reply.status,
                "ms": round(seconds * 1000, 3),
            }
            if model:
                facts["model"] = model
            if call.rows:
                facts["rows"] = call.rows
            if call.token is not None:
                facts["token"] = call.token
            if problem is not None:
                facts["problem"] = problem.kind
            log.request(facts)

    def reload(self, name: str, *, by: str | None = None) -> ServiceModel:
        """Reload the file of a model; requests in progress are answered by the previous one."""
        model = self.folder.reload(name, by=by)
        self.reloaded(name)
        self.log.event("reloaded", model=name, digest=model.digest)
        return model

    def reload_all(self) -> None:
        """Reload all files; one that cannot be read is logged, and its previous model served."""
        try:
            names = list(self.folder.paths())
        except BayesboxError as error:
            self.log.event("reload-failed", problem=str(error))
            return
        for name in names:
            try:
                self.reload(name)
            except BayesboxError as error:
                self.log.event("reload-failed", model=name, problem=str(error))

    def tick(self) -> None:
        """Runs every second: counts rows of requests and writes the log."""
        self.log.flush()
        self.handlers.count_requests()

    def close(self) -> None:
        """Wait for calls in progress, and write the log."""
        self.pool.shutdown(wait=True)
        self.log.flush()


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
