"""All of it together, as it is run in earnest: train, serve, predict, learn from four clients with repeats, restart,
forget a person, verify."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.serve.http.models import people
from tests.serve.http.process import BAYES, ServiceProcess, bayes, new_token

import bayesbox as bb

EVENTS, CLIENTS, PERSON = 10_000, 4, "p17"


def write_csv(path: Path, rows: list[dict[str, Any]], labels: list[str]) -> None:
    names = list(rows[0])
    lines = [",".join([*names, "risk"])]
    for row, label in zip(rows, labels, strict=True):
        cells = ["" if row[name] is None else json.dumps(row[name]).strip('"') for name in names]
        lines.append(",".join([*cells, label]))
    path.write_text("\n".join(lines) + "\n")


def learn_some(url: str, token: str, events: list[dict[str, Any]], seed: int, failures: list[str]) -> None:
    """Send events in batches, some of them again, and some of another client's."""
    draw = random.Random(seed)
    try:
        with bb.Client(url, token) as client:
            for first in range(0, len(events), 250):
                batch = events[first : first + 250]
                client.learn("people", batch)
                if draw.random() < 0.3:
                    again = client.learn("people", draw.sample(batch, 50))
                    assert again["known"] == 50
    except Exception as error:  # a thread does not raise
        failures.append(repr(error))


def started(stack: contextlib.ExitStack, folder: Path, *options: str) -> ServiceProcess:
    """A service that is stopped in the end, if not before."""
    found = ServiceProcess(folder, *options)
    stack.callback(found.stop)
    return found


def holds(folder: Path, text: str) -> bool:
    """Whether a file of the store has these bytes."""
    return any(text.encode() in path.read_bytes() for path in folder.glob("store.db*"))


def test_end_to_end(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        walk(tmp_path, stack)


def walk(tmp_path: Path, stack: contextlib.ExitStack) -> None:
    """From training to the verified store; whatever is started is stopped in the end."""
    folder = tmp_path / "models"
    folder.mkdir()
    rows, labels = people(500, seed=3)
    write_csv(tmp_path / "base.csv", rows, labels)
    plain = ("--ignore", "person", "--calibrate", "none")  # a calibration would be learned again from the events
    bayes("train", str(tmp_path / "base.csv"), "-t", "risk", *plain, "-o", str(folder / "people.bayes"))
    base = bb.load(folder / "people.bayes")
    access = {scope: new_token(folder, scope) for scope in ("predict", "learn", "forget")}
    bayes("key", str(tmp_path / "company"))
    more, more_labels = people(EVENTS, seed=4)
    events = [
        {"id": f"visit-{place}", "row": row, "label": label}
        for place, (row, label) in enumerate(zip(more, more_labels, strict=True))
    ]
    options = ("--sign", str(tmp_path / "company.pem"))

    service = started(stack, folder, *options)
    with bb.Client(service.url, access["predict"]) as client:
        asked = [{name: row[name] for name in ("age", "car", "married", "joined")} for row in rows[:50]]
        by_rows = client.predict("people", asked)
        by_columns = client.infer("people", {name: [row[name] for row in asked] for name in asked[0]})
        assert [each["class"] for each in by_rows] == by_columns["class"] == base.predict(asked).tolist()
        assert [share for each in by_rows for share in each["proba"].values()] == by_columns["probability"]
        assert by_columns["probability"] == base.predict_proba(asked).ravel().tolist()

    failures: list[str] = []
    half = EVENTS // 2
    for part, number in ((events[:half], signal.SIGKILL), (events[half:], signal.SIGTERM)):
        threads = [
            threading.Thread(
                target=learn_some, args=(service.url, access["learn"], part[each::CLIENTS], each, failures)
            )
            for each in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert service.stop(number) == (0 if number == signal.SIGTERM else -number)
        service = started(stack, folder, *options)  # what was acknowledged is there, after a kill too

    everything = bb.load(folder / "people.bayes").partial_fit(more, more_labels)
    with bb.Client(service.url, access["predict"]) as client:
        [model] = client.models()
        assert model["rows"] == 500 + EVENTS
        assert model["digest"] == everything.book_.digest()

    with bb.Client(service.url, access["forget"]) as client:
        assert holds(folder, f'"{PERSON}"')
        certificate = client.forget("people", key=("person", PERSON))
        assert client.certificate("people", certificate["number"]) == certificate
    left = [event for event in events if event["row"]["person"] != PERSON]
    assert 0 < len(events) - len(left) == EVENTS // 50
    expected = bb.load(folder / "people.bayes").partial_fit(
        [event["row"] for event in left], [event["label"] for event in left]
    )
    assert service.stop() == 0

    service = started(stack, folder, *options)
    with bb.Client(service.url, access["predict"]) as client:
        assert client.models()[0]["digest"] == expected.book_.digest()
        shares = client.predict("people", asked)[0]["proba"]
        assert shares == pytest.approx(expected.predict_proba_one(asked[0]), rel=1e-12)
    assert service.stop() == 0
    assert certificate["before"] == everything.book_.digest()
    assert certificate["after"] == expected.book_.digest()
    assert bayes("verify", str(folder), "--public-key", str(tmp_path / "company.pub.pem"))["holds"]
    assert not holds(folder, f'"{PERSON}"')  # neither the file nor its log has a trace of the person


def test_what_would_be_open_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bayesbox.cli.main import run

    bb.NaiveBayes().fit({"a": ["x", "y"]}, ["p", "q"]).save(tmp_path / "m.bayes")
    for options in (["--host", "0.0.0.0"], ["--host", "0.0.0.0", "--behind-proxy", "--no-tokens"], ["--tls-cert", "x"]):
        assert run(["serve", str(tmp_path), "--for", "1", *options]) == 2
        assert "TLS" in capsys.readouterr().err or "--no-tokens" in options
    assert run(["serve", str(tmp_path / "nothing")]) == 2
    assert run(["serve", str(tmp_path), "--at", "3"]) == 2
    (tmp_path / "m.bayes").write_bytes(b"damaged")
    assert run(["serve", str(tmp_path)]) == 4


def test_a_folder_without_models_is_left_as_it_is(tmp_path: Path) -> None:
    from bayesbox.cli.main import run

    assert run(["serve", str(tmp_path)]) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_service_that_nobody_has_a_token_for_says_so(tmp_path: Path) -> None:
    bb.NaiveBayes().fit({"a": ["x", "y"]}, ["p", "q"]).save(tmp_path / "m.bayes")
    command = [*BAYES, "serve", str(tmp_path), "--port", "0", "--log", "none", "--for", "0.1"]
    hint = f"bayes token create {tmp_path} --scope predict"
    assert hint in subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert subprocess.run([*command, "--no-tokens"], capture_output=True, text=True, check=True).stderr == ""
    new_token(tmp_path, "predict")
    assert subprocess.run(command, capture_output=True, text=True, check=True).stderr == ""


def test_tokens_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bayesbox.cli.main import run

    assert run(["token", "create", str(tmp_path), "--scope", "predict", "--expires", "90d", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert run(["token", "list", str(tmp_path), "--json"]) == 0
    [listed] = json.loads(capsys.readouterr().out)["tokens"]
    assert listed["id"] == made["id"]
    assert listed["valid"] is True
    assert listed["expires"] - listed["created"] == pytest.approx(90 * 86400, abs=60)
    assert made["token"].encode() not in (tmp_path / "store.db").read_bytes()
    assert run(["token", "revoke", str(tmp_path), "--id", made["id"]]) == 0
    assert run(["token", "revoke", str(tmp_path), "--id", "nobody"]) == 3
    capsys.readouterr()
    assert run(["token", "list", str(tmp_path)]) == 0
    assert "revoked" in capsys.readouterr().out
    for wrong in (["create"], ["revoke"], ["list", "--scope", "predict"], ["create", "--scope", "x"]):
        assert run(["token", wrong[0], str(tmp_path), *wrong[1:]]) == 2
