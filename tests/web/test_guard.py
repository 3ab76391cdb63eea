"""Who may ask the app: only a page of this run, on this machine, for files that were named."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.tables import TENNIS

import bayesbox as bb
from bayesbox.app.server.opened import OpenedClassifier, open_file, open_files
from bayesbox.errors import BadModelFile, BadOption

BAYES = str(Path(sys.executable).with_name("bayes"))


class Client:
    """Requests with headers of one's own."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host, self.secret = parts.netloc, parts.path.strip("/")

    def ask(
        self, path: str, *, method: str = "GET", body: Any = None, **headers: str
    ) -> tuple[int, bytes, dict[str, str]]:
        connection = http.client.HTTPConnection(self.host, timeout=10)
        connection.putrequest(method, path, skip_host=True)
        given = {"Host": self.host} | {name.replace("_", "-"): value for name, value in headers.items()}
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        for name, value in ({"Content-Length": str(len(data))} | given).items():
            connection.putheader(name, value)
        connection.endheaders(data or None)
        reply = connection.getresponse()
        found = reply.status, reply.read(), {name.lower(): value for name, value in reply.getheaders()}
        connection.close()
        return found


@pytest.fixture
def client(serve: Callable[..., str]) -> Client:
    model = bb.NaiveBayes().fit(TENNIS.X, TENNIS.y)
    return Client(serve([OpenedClassifier("tennis", model.classifier_)]))


def test_the_page_and_its_policy(client: Client) -> None:
    status, body, headers = client.ask(f"/{client.secret}/")
    assert status == 200
    assert b'<script type="module" src="web/app.js">' in body
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/files",
        "/web/app.js",
        "/{wrong}/",
        "/{secret}x/api/files",
        "/{short}/api/files",
        "//{secret}",
        "/%00/",
    ],
)
def test_without_the_secret_all_is_forbidden(client: Client, path: str) -> None:
    secret = client.secret
    wrong = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    status, body, _ = client.ask(path.format(secret=secret, wrong=wrong, short=secret[:-1]))
    if path == "//{secret}":
        assert status in (200, 307, 403, 404)  # the same secret, with another slash
    else:
        assert status == 403
    assert secret.encode() not in body


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "evil.example:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
def test_other_hosts_and_origins_are_forbidden(client: Client, headers: dict[str, str]) -> None:
    path = f"/{client.secret}/api/files"
    assert client.ask(path)[0] == 200
    assert client.ask(path, **headers)[0] == 403


@pytest.mark.parametrize(
    "name",
    [
        "../server/guard.py",
        "..%2fserver%2fguard.py",
        "guard.py",
        "%2e%2e/rows.py",
        "/etc/passwd",
        "index.html/..",
        "a.js%00",
    ],
)
def test_no_other_file_can_be_read(client: Client, name: str) -> None:
    status, body, _ = client.ask(f"/{client.secret}/web/{name}")
    assert status in (400, 404)
    assert b"import" not in body
    assert client.ask(f"/{client.secret}/web/engine.js")[0] == 200


def test_questions_of_another_form_are_refused_in_words(client: Client) -> None:
    path = f"/{client.secret}/api/files/0"
    good = client.ask(f"{path}/what-if", method="POST", body={"row": {"outlook": "sunny"}})
    assert good[0] == 200
    assert json.loads(good[1])["answer"]["label"] == 0
    assert client.ask(f"{path}/what-if", method="POST", body=b"{")[0] == 400
    assert client.ask(f"{path}/what-if", method="POST", body={"row": [1]})[0] == 400
    assert client.ask(f"{path}/nomogram", method="POST", body={"pair": [7, 0]})[0] == 400
    assert client.ask(f"{path}/other", method="POST", body={})[0] == 404
    assert client.ask(f"/{client.secret}/api/files/1/spec")[0] == 404
    unknown = client.ask(f"{path}/what-if", method="POST", body={"row": {"nothing": "x"}})
    assert "nothing" in json.loads(unknown[1])["answer"]["error"]
    assert client.ask(f"{path}/what-if", method="POST", body=b" " * (1 << 20) + b"{}")[0] == 403


def test_what_the_app_cannot_show_is_said(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadOption, match="-t COLUMN"):
        open_files([str(tmp_path / "rows.csv")])
    (tmp_path / "m.bayes").write_text("no")
    with pytest.raises(BadModelFile):
        open_file(str(tmp_path / "m.bayes"))


def test_the_command_prints_the_address_and_ends_when_asked(tmp_path: Path) -> None:
    bb.NaiveBayes().fit(TENNIS.X, TENNIS.y).save(tmp_path / "tennis.bayes")
    command = [BAYES, "app", str(tmp_path / "tennis.bayes"), "--no-open", "--for", "1.5"]
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        client = Client(process.stdout.readline().strip())
        for _ in range(50):
            try:
                status, body, _ = client.ask(f"/{client.secret}/api/files")
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        assert status == 200
        assert json.loads(body)[0]["name"] == "tennis.bayes"
        assert process.wait(20) == 0
    assert time.monotonic() - started < 20
