"""A browser, the app in a thread, and pages that must not complain."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.web.browser import installed

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = installed()
    assert path is not None, "no browser: type `make check-browser`"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Sequence[Any]], str]]:
    """Serve opened files; gives the address."""
    import uvicorn

    from bayesbox.app.server.guard import new_secret
    from bayesbox.app.server.routes import application

    running: list[tuple[Any, threading.Thread, socket.socket]] = []

    def start(opened: Sequence[Any]) -> str:
        bound = socket.socket()
        bound.bind(("127.0.0.1", 0))
        port, secret = bound.getsockname()[1], new_secret()
        config = uvicorn.Config(application(opened, secret, port), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        running.append((server, thread, bound))
        return f"http://127.0.0.1:{port}/{secret}/"

    yield start
    for server, thread, bound in running:
        server.should_exit = True
        thread.join(10)
        bound.close()


@pytest.fixture
def forgiven() -> list[str]:
    """Parts of the complaints that a test expects."""
    return []


@pytest.fixture
def page(chromium: Any, serve: Callable[[Sequence[Any]], str], forgiven: list[str]) -> Iterator[Any]:
    """A page under its real policy: an error, or something the policy forbids, fails the test.

    It is closed before the servers are, so that what it still asks for is answered.
    """
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(10_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert [each for each in complaints if not any(part in each for part in forgiven)] == []
