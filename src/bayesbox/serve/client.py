"""`Client` for `bayes serve`, in Python, with only the standard library.

    client = Client("http://127.0.0.1:8080", token)
    client.predict("people", [{"age": 34}])
    client.learn("people", [{"id": "visit-17", "row": {"age": 34}, "label": "yes"}])

The file is self-contained: it can be copied to a machine without bayesbox.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import ssl
import threading
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]
AGAIN = (408, 429, 502, 503, 504)  # status codes after which a request is repeated
LONGEST_WAIT = 30.0  # seconds between two attempts
BATCH = 500  # events of one request


class ServiceProblem(Exception):
    """An error response (RFC 9457): its `status`, and the `problem` with detail, field, row and ids."""

    def __init__(self, status: int, problem: Json) -> None:
        self.status = status
        self.problem = problem
        super().__init__(f"{status}: {problem.get('detail') or problem.get('title') or 'no answer'}")


class Client:
    """A client of `bayes serve`. Threads may share it: each has its own connection, which is reused.

    A request without a response, or with a status that asks to retry, is repeated with exponential backoff. That is
    safe: queries change nothing, and an event that is learned twice under one id counts once.

    Parameters
    ----------
    url : str; the URL of the service
    token : str or None; created by bayes token create
    timeout : float, default 30; the timeout of a request in seconds
    retries : int, default 5; the maximum number of retries
    context : ssl.SSLContext or None; how the TLS certificate is verified

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8080", "bb_...")
    >>> client
    Client('http://127.0.0.1:8080')
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 5,
        context: ssl.SSLContext | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must be http://HOST:PORT or https://HOST:PORT, got {url!r}")
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.retries = retries
        self.digest: str | None = None
        """The digest in the last response to this client."""
        self._token = token
        self._parts = parts
        self._context = context
        self._local = threading.local()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"  # never the token

    # -- questions -------------------------------------------------------------------------------------------------

    def models(self) -> list[dict[str, Any]]:
        """The models with their kinds, digests, rows and classes."""
        found: list[Json] = self.request("GET", "/v1/models")["models"]
        return found

    def ready(self) -> bool:
        """Whether the service answers."""
        try:
            return bool(self.request("GET", "/v2/health/ready", retries=0)["ready"])
        except (ServiceProblem, OSError):
            return False

    def predict(
        self, model: str, rows: Sequence[Mapping[str, Any] | str], *, proba: bool = True, explain: int = 0
    ) -> list[dict[str, Any]]:
        """The class of each row, its probabilities and the strongest evidence for it."""
        body = {"rows": list(rows), "proba": proba, "explain": explain}
        found: list[Json] = self._model("POST", model, "predict", body)["answers"]
        return found

    def explain(self, model: str, row: Mapping[str, Any] | str, *, against: str | None = None) -> dict[str, Any]:
        """Explain the class of one row."""
        return self._model("POST", model, "explain", {"row": row, "against": against})

    def ask(self, model: str, row: Mapping[str, Any], **given: Any) -> dict[str, Any]:
        """The most informative columns to ask next; `costs` by column, and for a network its `target`."""
        return self._model("POST", model, "ask", {"row": row, **given})

    def what_if(self, model: str, row: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
        """Predictions of one row as it is and with other values."""
        return self._model("POST", model, "what-if", {"row": row, "changes": changes})

    def posteriors(
        self, model: str, rows: Sequence[Mapping[str, Any]], targets: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """The posteriors of the nodes of a network, for each row of evidence."""
        body = {"rows": list(rows), "targets": None if targets is None else list(targets)}
        return [each["posteriors"] for each in self._model("POST", model, "predict", body)["answers"]]

    def decode(self, model: str, sequences: Sequence[Sequence[Any]], *, forecast: int = 0) -> list[dict[str, Any]]:
        """The decoded states of sequences by a hidden Markov model, and forecasts."""
        body = {"sequences": [list(each) for each in sequences], "forecast": forecast}
        found: list[Json] = self._model("POST", model, "predict", body)["answers"]
        return found

    def infer(self, model: str, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """The outputs by name, from the Open Inference Protocol; `inputs` has a sequence for each column."""
        inputs = [
            {"name": name, "shape": [len(values)], "datatype": _datatype(values), "data": list(values)}
            for name, values in columns.items()
        ]
        found = self.request("POST", f"/v2/models/{_quoted(model)}/infer", {"inputs": inputs})
        return {each["name"]: each["data"] for each in found["outputs"]}

    # -- learning and forgetting -----------------------------------------------------------------------------------

    def learn(self, model: str, events: Iterable[Mapping[str, Any]], *, batch: int = BATCH) -> dict[str, Any]:
        """Learn events: {"row": ..., "label": ..., "id": ...}; an event without an id gets a new one.

        They are sent in batches; acknowledged events are durable, even if later ones fail. The result has digest,
        sequence and rows after the last event, the totals learned, known and forgotten, and answers.
        """
        total: Json = {"learned": 0, "known": 0, "forgotten": 0, "answers": []}
        for some in _batches(events, batch):
            found = self._model("POST", model, "learn", {"events": some})
            total["answers"] += found.pop("answers")
            total |= {name: total[name] + found.pop(name) for name in ("learned", "known", "forgotten")}
            total |= found
        return total

    def forget(self, model: str, ids: Sequence[str] = (), *, key: tuple[str, Any] | None = None) -> dict[str, Any]:
        """Forget events by their ids, or all whose row has a value in a column; returns the certificate."""
        body: Json = {"ids": list(ids)}
        if key is not None:
            body["key"] = {"column": key[0], "value": key[1]}
        return self._model("POST", model, "forget", body)

    def certificate(self, model: str, number: int) -> dict[str, Any]:
        """One certificate."""
        return self._model("GET", model, f"certificates/{number}")

    def certificates(self, model: str) -> list[dict[str, Any]]:
        """All certificates of a model."""
        found: list[Json] = self._model("GET", model, "certificates")["certificates"]
        return found

    # -- monitoring --------------------------------------------------------------------------------------------------

    def drift(self, model: str) -> dict[str, Any]:
        """The drift of the requests so far against the training data."""
        return self._model("GET", model, "drift")

    def audit(self, model: str, *, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """The records of the audit log after a number."""
        found: list[Json] = self._model("GET", model, f"audit?after={after}&limit={limit}")["records"]
        return found

    def reload(self, model: str) -> dict[str, Any]:
        """Reload the file of a model."""
        found: Json = self._model("POST", model, "reload")["model"]
        return found

    # -- requests ----------------------------------------------------------------------------------------------------

    def _model(self, method: str, model: str, action: str, body: Json | None = None) -> dict[str, Any]:
        found: Json = self.request(method, f"/v1/models/{_quoted(model)}/{action}", body)
        return found

    def request(self, method: str, path: str, body: Json | None = None, *, retries: int | None = None) -> Any:
        """One request, with retries: the JSON of the response; raises `ServiceProblem`."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"accept": "application/json", "x-request-id": uuid.uuid4().hex}
        if data is not None:
            headers["content-type"] = "application/json"
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        left = self.retries if retries is None else retries
        wait = 0.1
        while True:
            try:
                status, answer, after = self._once(method, path, data, headers)
                if status < 400:
                    return answer
                if status not in AGAIN or left <= 0:
                    raise ServiceProblem(status, answer if isinstance(answer, dict) else {})
            except (http.client.HTTPException, OSError):
                self.close()
                if left <= 0:
                    raise
                after = None
            left -= 1
            time.sleep(min(after if after is not None else wait * (0.5 + random.random()), LONGEST_WAIT))
            wait *= 2

    def _once(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> tuple[int, Any, float | None]:
        connection = self._connection()
        connection.request(method, self._parts.path.rstrip("/") + path, data, headers)
        response = connection.getresponse()
        read = response.read()
        self.digest = response.headers.get("Bayesbox-Digest", self.digest)
        after = response.headers.get("Retry-After", "")
        if response.will_close:
            self.close()
        try:
            answer = json.loads(read) if read else {}
        except ValueError:
            answer = {"detail": read[:200].decode("utf-8", "replace")}
        return response.status, answer, float(after) if after.isdigit() else None

    def _connection(self) -> http.client.HTTPConnection:
        found: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if found is None:
            host, port = self._parts.hostname or "", self._parts.port
            if self._parts.scheme == "https":
                context = self._context or ssl.create_default_context()
                found = http.client.HTTPSConnection(host, port, timeout=self.timeout, context=context)
            else:
                found = http.client.HTTPConnection(host, port, timeout=self.timeout)
            self._local.connection = found
        return found

    def close(self) -> None:
        """Close the connection of this thread; the next request opens another."""
        found = getattr(self._local, "connection", None)
        self._local.connection = None
        if found is not None:
            with contextlib.suppress(OSError):
                found.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _quoted(model: str) -> str:
    return urllib.parse.quote(model, safe="")


def _datatype(values: Sequence[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {bool}:
        return "BOOL"
    return "FP64" if kinds and kinds <= {int, float} else "BYTES"


def _batches(events: Iterable[Mapping[str, Any]], size: int) -> Iterator[list[Json]]:
    """Batches of events with ids: they keep their ids when they are sent again."""
    some: list[Json] = []
    for event in events:
        some.append({"id": uuid.uuid4().hex, **event})
        if len(some) >= size:
            yield some
            some = []
    if some:
        yield some
