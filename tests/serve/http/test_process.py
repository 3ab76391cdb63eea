"""The service as a process: connections, slow senders, pipelines, signals, workers."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serve.http.models import make_people, make_weather
from tests.serve.http.process import ServiceProcess, bayes, new_token, running

import bayesbox as bb
from bayesbox.serve.client import ServiceProblem

ROW = {"age": 31.5, "car": "sports"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("served")
    make_people(found / "people.bayes")
    make_weather(found / "weather.bayes")
    return found


@pytest.fixture(scope="module")
def token(folder: Path) -> str:
    return new_token(folder, "predict", "learn", "forget", "admin")


@pytest.fixture(scope="module")
def service(folder: Path, token: str) -> Iterator[ServiceProcess]:
    with running(folder, "--timeout", "1", "--max-body", "100000") as found:
        yield found


def request_bytes(token: str, path: str = "/v1/models/people/predict", body: object = None) -> bytes:
    data = json.dumps({"rows": [ROW]} if body is None else body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {len(data)}\r\n\r\n"
    return head.encode() + data


def read_answer(stream: object) -> tuple[int, dict[str, str], bytes]:
    """One answer of a connection."""
    status = int(stream.readline().split()[1])  # type: ignore[attr-defined]
    headers = {}
    while line := stream.readline().strip():  # type: ignore[attr-defined]
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    return status, headers, stream.read(int(headers["content-length"]))  # type: ignore[attr-defined]


def test_pipelined_requests_are_answered_in_order(service: ServiceProcess, token: str) -> None:
    ages = [20, 30, 40, 50, 60] * 4
    model = bb.load(service.errors.parent / "people.bayes")
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(b"".join(request_bytes(token, body={"rows": [{"age": age}]}) for age in ages))
        with connection.makefile("rb") as stream:
            for age in ages:
                status, _, body = read_answer(stream)
                assert status == 200
                assert json.loads(body)["answers"][0]["proba"] == model.predict_proba_one({"age": age})


def test_a_refused_body_does_not_spoil_the_next_request(service: ServiceProcess, token: str) -> None:
    """What follows a body that was too large is never taken for a request."""
    smuggled = request_bytes(token, "/v1/models/people/learn", {"events": []})
    large = b"x" * 200_000 + smuggled
    head = f"POST /v1/models/people/predict HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n"
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(f"{head}content-length: {len(large)}\r\n\r\n".encode())
        with connection.makefile("rb") as stream:
            status, headers, _ = read_answer(stream)
            assert (status, headers["connection"]) == (413, "close")
            assert stream.read() == b""


@pytest.mark.parametrize("sent", [b"", b"POST /v1/mod", b"GET /v1/models HTTP/1.1\r\nhost: x\r\nslow: "])
def test_heads_that_never_end_are_closed(service: ServiceProcess, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.settimeout(20)
        connection.sendall(sent)
        answer = connection.recv(1000)
        assert answer.startswith(b"HTTP/1.1 408")


def test_a_body_that_dribbles_is_closed(service: ServiceProcess, token: str) -> None:
    whole = request_bytes(token)
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.settimeout(20)
        connection.sendall(whole[:-10])
        answer = connection.recv(1000)
        assert answer.startswith(b"HTTP/1.1 408")


def test_heads_without_end_are_closed(service: ServiceProcess) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.settimeout(20)
        sent = 0
        try:
            connection.sendall(b"GET /v1/models HTTP/1.1\r\n")
            while sent < 1 << 22:
                connection.sendall(b"a: " + b"b" * 1000 + b"\r\n")
                sent += 1005
        except OSError:
            pass
        assert sent < 1 << 22
    with socket.create_connection(("127.0.0.1", service.port)) as connection:  # one line, without end
        sent = 0
        try:
            connection.sendall(b"GET /v1/models HTTP/1.1\r\na: ")
            while sent < 1 << 22:
                connection.sendall(b"b" * 10_000)
                sent += 10_000
        except OSError:
            pass
        assert sent < 1 << 22
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(b"\x00\x01 nonsense\r\n\r\n")
        answer = connection.recv(1000)
        assert answer.startswith(b"HTTP/1.1 400")
        assert b"\r\nbayesbox-digest: " in answer


def test_the_client(service: ServiceProcess, token: str) -> None:
    with bb.Client(service.url, token) as client:
        model = bb.load(service.errors.parent / "people.bayes")
        assert client.ready()
        assert {each["name"] for each in client.models()} == {"people", "weather"}
        assert client.predict("people", [ROW])[0]["proba"] == model.predict_proba_one(ROW)
        assert client.digest == model.book_.digest()
        assert client.infer("people", {"age": [31.5, None], "car": ["sports", "van"]})["class"] == [
            model.predict_one(ROW),
            model.predict_one({"car": "van"}),
        ]
        assert client.explain("people", ROW)["class"] == model.predict_one(ROW)
        assert client.ask("people", ROW)["questions"]
        assert client.what_if("people", ROW, {"car": "van"})["after"]
        assert client.decode("weather", [["walk", "shop"]], forecast=1)[0]["forecast"]
        assert client.drift("people")["rows_seen"] >= 1
        with pytest.raises(ServiceProblem) as refused:
            client.predict("people", [{"age": "old"}])
        assert (refused.value.status, refused.value.problem["field"]) == (422, "age")
        assert token not in repr(client)


def test_the_client_repeats_what_was_not_answered(service: ServiceProcess, token: str) -> None:
    """A server that hangs up, then is busy, then answers: each event is learned once."""
    listening = socket.create_server(("127.0.0.1", 0))
    seen: list[bytes] = []

    def received(connection: socket.socket) -> tuple[bytes, bytes]:
        with connection.makefile("rb") as stream:
            head = b""
            while (line := stream.readline()).strip():
                head += line
            length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])  # type: ignore[index]
            return head, stream.read(length)

    def answer() -> None:
        for reply in (None, b"HTTP/1.1 503 x\r\nretry-after: 0\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"):
            connection, _ = listening.accept()
            with connection:
                seen.append(received(connection)[1])
                if reply is not None:
                    connection.sendall(reply)
        connection, _ = listening.accept()  # the third attempt goes to the service itself
        with connection, socket.create_connection(("127.0.0.1", service.port)) as inner:
            head, body = received(connection)
            inner.sendall(head + b"connection: close\r\n\r\n" + body)
            with inner.makefile("rb") as stream:
                connection.sendall(stream.read())

    thread = threading.Thread(target=answer)
    thread.start()
    with listening, bb.Client(f"http://127.0.0.1:{listening.getsockname()[1]}", token) as client:
        found = client.learn("people", [{"row": ROW, "label": "high"}])
        thread.join()
    assert seen[0] == seen[1]
    assert found["learned"] == 1
    with bb.Client(service.url, token) as again:
        known = again.learn("people", [{**json.loads(seen[0])["events"][0]}])
        assert known["known"] == 1
        again.forget("people", [found["answers"][0]["id"]])


def test_requests_under_way_are_answered_before_it_stops(folder: Path, token: str) -> None:
    found = ServiceProcess(folder)
    whole = request_bytes(token)
    with socket.create_connection(("127.0.0.1", found.port)) as connection:
        connection.sendall(whole[:-5])
        time.sleep(0.3)
        found.send(signal.SIGTERM)
        time.sleep(0.5)
        connection.sendall(whole[-5:])
        with connection.makefile("rb") as stream:
            status, headers, _ = read_answer(stream)
    assert (status, headers["connection"]) == (200, "close")
    assert found.stop() == 0
    log = [json.loads(line) for line in found.log().splitlines()]
    assert log[-1]["event"] == "stopped"
    assert token not in found.log()
    assert {"id", "method", "route", "status", "ms", "token", "rows"} <= set(
        next(e for e in log if e["event"] == "request")
    )


def test_reload_loses_no_request(folder: Path, token: str, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    shutil.copy(folder / "weather.bayes", own)
    make_people(own / "people.bayes")
    access = new_token(own, "predict", "admin")
    stop = threading.Event()
    statuses: list[int] = []

    def ask(url: str) -> None:
        with bb.Client(url, access, retries=0) as client:
            while not stop.is_set():
                client.predict("people", [ROW])
                statuses.append(len(client.decode("weather", [["walk"]])))

    with running(own) as found:
        threads = [threading.Thread(target=ask, args=(found.url,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        with bb.Client(found.url, access) as client:
            for _ in range(10):
                client.reload("people")
                client.reload("weather")
                found.send(signal.SIGHUP)
        asked = len(statuses)
        while len(statuses) < asked + 10 and any(thread.is_alive() for thread in threads):
            time.sleep(0.01)
        stop.set()
        for thread in threads:
            thread.join()
        assert len(statuses) >= asked + 10  # no thread ended by an error


def _metrics(found: ServiceProcess, token: str) -> str:
    asked = urllib.request.Request(f"{found.url}/metrics", headers={"authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked) as answer:
        return str(answer.read().decode())


def test_tls(tmp_path: Path) -> None:
    import datetime
    import ipaddress
    import ssl

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    (tmp_path / "models").mkdir()
    make_weather(tmp_path / "models" / "weather.bayes")
    files = ("--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    with running(tmp_path / "models", "--host", "0.0.0.0", *files) as found:
        url = f"https://127.0.0.1:{found.port}"
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        with bb.Client(url, context=trusting, retries=0) as client:
            assert client.ready()
            with pytest.raises(ServiceProblem) as refused:
                client.models()
            assert refused.value.status == 401
        with bb.Client(url, retries=0) as client:
            assert not client.ready()  # a certificate that nobody vouches for


def test_workers_answer_beside_one_writer(tmp_path: Path) -> None:
    make_people(tmp_path / "people.bayes")
    make_weather(tmp_path / "weather.bayes")
    token = new_token(tmp_path, "predict", "learn", "forget", "admin")
    with running(tmp_path, "--workers", "2") as found:
        clients = [bb.Client(found.url, token) for _ in range(6)]
        events = [{"id": f"e{place}", "row": {"age": 20 + place}, "label": "high"} for place in range(30)]
        for place, event in enumerate(events):
            clients[place % 6].learn("people", [event])
        learned = clients[0].learn("people", events)
        assert learned["known"] == 30
        until = time.monotonic() + 30
        while time.monotonic() < until:  # within a second, on a quiet machine
            digests = {client.predict("people", [ROW]) and client.digest for client in clients}
            if digests == {learned["digest"]}:
                break
            time.sleep(0.1)
        assert digests == {learned["digest"]}
        certificate = clients[3].forget("people", ["e3"])
        assert clients[5].certificate("people", certificate["number"]) == certificate
        clients[1].reload("weather")
        text = _metrics(found, token)
        assert 'bayesbox_requests_total{route="learn",model="people",status="200"} 31' in text
        until = time.monotonic() + 30
        while time.monotonic() < until and clients[2].drift("people")["rows_seen"] < 6:
            time.sleep(0.2)
        assert clients[2].drift("people")["rows_seen"] >= 6  # those of both workers
        for client in clients:
            client.close()
    assert bayes("verify", str(tmp_path))
