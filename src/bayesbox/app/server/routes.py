"""The routes of the app."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bayesbox.app.rows import finite
from bayesbox.app.server.guard import App, Guard
from bayesbox.app.server.shown import ShownFile
from bayesbox.errors import BayesboxError

WEB = Path(__file__).parents[1] / "web"
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
FILES = {path.name: path for path in sorted(WEB.iterdir()) if path.suffix in TYPES}


def application(opened: Sequence[ShownFile], secret: str, port: int) -> App:
    """The ASGI application: only these files, only with the secret."""
    routes = _Routes(opened)
    inner = Starlette(
        routes=[
            Route("/", routes.page),
            Route("/web/{name}", routes.module),
            Route("/api/files", routes.files),
            Route("/api/files/{place:int}/spec", routes.spec),
            Route("/api/files/{place:int}/spec", routes.answer, methods=["POST"]),
            Route("/api/files/{place:int}/{view}", routes.answer, methods=["POST"]),
        ]
    )
    inner.add_middleware(GZipMiddleware, minimum_size=1000)
    return Guard(inner, secret, port)


class _Routes:
    def __init__(self, opened: Sequence[ShownFile]) -> None:
        self.opened = opened

    def page(self, request: Request) -> Response:  # noqa: ARG002
        return Response((WEB / "index.html").read_bytes(), media_type="text/html")

    def module(self, request: Request) -> Response:
        path = FILES.get(request.path_params["name"])
        if path is None:
            return _problem(404, "no such file")
        return Response(path.read_bytes(), media_type=TYPES[path.suffix])

    def files(self, request: Request) -> Response:  # noqa: ARG002
        return _json([each.summary() for each in self.opened])

    async def spec(self, request: Request) -> Response:
        return await self._answered(request, {}, None, {})

    async def answer(self, request: Request) -> Response:
        try:
            asked = msgspec.json.decode(await request.body(), type=dict[str, Any])
            types = msgspec.convert(asked.get("types") or {}, dict[str, str])
        except msgspec.DecodeError as error:
            return _problem(400, str(error))
        return await self._answered(request, types, request.path_params.get("view"), asked)

    async def _answered(
        self, request: Request, types: dict[str, str], view: str | None, asked: dict[str, Any]
    ) -> Response:
        """The spec of a file, or the answer of one of its views, with the version of the file."""
        from starlette.concurrency import run_in_threadpool

        place = request.path_params["place"]
        if place >= len(self.opened) or (view is not None and view not in self.opened[place].views):
            return _problem(404, "no such file or view")

        def work() -> dict[str, Any]:
            shown = self.opened[place].typed(types)
            if view is not None:
                found = shown.answer(view, asked)
            else:
                found = shown.edited_spec(asked["edits"]) if asked.get("edits") else shown.spec()
            return {**found, "version": shown.version}

        try:
            return _json(await run_in_threadpool(work))
        except BayesboxError as error:
            return _problem(422, str(error))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            return _problem(400, "the question has another form than the pictures send")


def _json(value: object) -> Response:
    return Response(msgspec.json.encode(finite(value)), media_type="application/json")


def _problem(status: int, what: str) -> Response:
    return Response(msgspec.json.encode({"error": what}), status_code=status, media_type="application/json")
