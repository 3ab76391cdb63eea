"""`bayes serve` beside a pipeline of scikit-learn behind FastAPI, on the same rows and with the same client.

The table has the shape of the adult census. Processor time is that of the server alone, read from the system, so what
the client and other processes take does not count; latencies are wall times of a client on the same machine.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import uvloop
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import bayesbox as bb
import harness
from synthetic import census

ROWS = 30_000
CLIENTS = 16
PATH = "/v1/models/people/predict"


class Server:
    """A server process: its port, and the processor time and memory that it takes."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port
        self.info = psutil.Process(process.pid)

    def cpu(self) -> float:
        times = self.info.cpu_times()
        return float(times.user + times.system)

    def megabytes(self) -> float:
        return float(self.info.memory_info().rss) / 1e6

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def started(folder: Path, *options: str) -> Server:
    """`bayes serve` of a folder."""
    command = [sys.executable, "-m", "bayesbox.cli.main", "serve", str(folder), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    return Server(process, int(process.stdout.readline().rpartition(":")[2]))


def peer(folder: Path, rows: list[dict[str, Any]], y: list[str]) -> Server:
    """The pipeline, trained and served."""
    frame = pd.DataFrame(rows)
    texts = [name for name in frame if name.startswith("category")]
    numbers = [name for name in frame if name.startswith("number")]
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), (StandardScaler(), numbers))
    pipeline = make_pipeline(columns, LogisticRegression(max_iter=200)).fit(frame, y)
    (folder / "pipeline.pickle").write_bytes(pickle.dumps(pipeline))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    driver = Path(__file__).parent / "drivers" / "fastapi_pipeline.py"
    process = subprocess.Popen([sys.executable, str(driver), str(folder / "pipeline.pickle"), str(port)], text=True)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return Server(process, port)
        except OSError:
            time.sleep(0.1)


def request(path: str, body: Any, token: str) -> bytes:
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


async def answer(reader: asyncio.StreamReader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    first = head.index(b"content-length: ") + 16
    body = await reader.readexactly(int(head[first : head.index(b"\r", first)]))
    if not head.startswith(b"http/1.1 200"):
        raise SystemExit(f"not answered: {head!r} {body[:300]!r}")
    return body


async def client(port: int, requests: list[bytes], taken: list[float]) -> None:
    """Send requests one after the other over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for each in requests:
        start = time.perf_counter()
        writer.write(each)
        await answer(reader)
        taken.append(time.perf_counter() - start)
    writer.close()


def load(server: Server, requests: list[bytes], clients: int = CLIENTS) -> tuple[float, float]:
    """All of these requests: seconds of the server's processor for each, and seconds of the clock for all."""

    async def run() -> None:
        await asyncio.gather(*(client(server.port, requests[place::clients], []) for place in range(clients)))

    before, start = server.cpu(), time.perf_counter()
    uvloop.run(run())
    return (server.cpu() - before) / len(requests), time.perf_counter() - start


def paced(server: Server, requests: list[bytes], rate: float, seconds: float) -> list[float]:
    """Latencies at a given rate, as a process of its own measures them: requests are sent when they are due, whether or
    not others are answered."""
    driver = Path(__file__).parent / "drivers" / "paced_client.py"
    command = [sys.executable, str(driver), str(server.port), str(rate), str(seconds), str(CLIENTS)]
    lines = b"\n".join(map(base64.b64encode, requests))
    found: list[float] = json.loads(subprocess.run(command, input=lines, stdout=subprocess.PIPE, check=True).stdout)
    return found


def tensors(rows: list[dict[str, Any]]) -> dict[str, Any]:
    inputs = []
    for name, value in rows[0].items():
        kind = "FP64" if isinstance(value, float) else "BYTES"
        inputs.append({"name": name, "shape": [len(rows)], "datatype": kind, "data": [row[name] for row in rows]})
    return {"inputs": inputs}


def microseconds(value: float) -> str:
    return f"{value * 1e6:.1f} us" if value < 1e-4 else f"{value * 1e6:.0f} us"


def predicting(session: harness.Session, ours: Server, theirs: Server, rows: list[dict[str, Any]], token: str) -> None:
    one = [request(PATH, {"rows": [row]}, token) for row in rows[:1000]]
    other = [request("/predict", {"rows": [row]}, token) for row in rows[:1000]]
    times = 3 if session.quick else 20
    load(ours, one * 3)
    load(theirs, other[:200])
    mine = min(load(ours, one * times)[0] for _ in range(3))
    peer_time = min(load(theirs, other[: 300 if session.quick else 1000])[0] for _ in range(2))
    ratio = peer_time / mine
    shown = (
        microseconds(mine),
        ">= 10x",
        ratio >= 10,
        "FastAPI + scikit-learn",
        microseconds(peer_time),
        f"{ratio:.1f}x",
    )
    session.add(harness.Result("one row, processor time of a request", *shown))
    session.add(harness.Result("one row, requests a second and core", f"{1 / mine:,.0f}", ">= 6,000", 1 / mine >= 6000))
    latencies = np.array(paced(ours, one, 3000, 2 if session.quick else 10))
    session.amount(
        "one row, 3,000 a second: 99 % within (wall)", float(np.quantile(latencies, 0.99)), 0.005, harness.seconds
    )
    health = b"GET /v2/health/live HTTP/1.1\r\nhost: x\r\n\r\n"
    idle = np.quantile(paced(ours, [health], 3000, 2 if session.quick else 10), [0.5, 0.99])
    median = harness.seconds(float(np.median(latencies)))
    session.say(
        f"median {median}; of requests that ask for nothing {harness.seconds(idle[0])}, 99 % {harness.seconds(idle[1])}"
    )
    batch = request("/v2/models/people/infer", tensors(rows[:1000]), token)
    by_rows = request(PATH, {"rows": rows[:1000]}, token)
    peer_batch = request("/predict", {"rows": rows[:1000]}, token)
    count = 30 if session.quick else 200
    load(ours, [batch] * 20, 4)
    mine = min(load(ours, [batch] * count, 4)[0] for _ in range(3))
    json_rows = min(load(ours, [by_rows] * count, 4)[0] for _ in range(2))
    peer_time = min(load(theirs, [peer_batch] * (count // 5), 4)[0] for _ in range(2))
    session.ratio("1,000 rows by columns, processor time", mine, "FastAPI + scikit-learn", peer_time, 3)
    session.ratio("1,000 rows by JSON objects, processor time", json_rows, "FastAPI + scikit-learn", peer_time, 3)
    for form, taken in (("columns", mine), ("JSON objects", json_rows)):
        speed = 1000 / taken
        work = f"1,000 rows by {form}, rows a second and core"
        session.add(harness.Result(work, f"{speed:,.0f}", ">= 600,000", speed >= 6e5))


def learning(session: harness.Session, ours: Server, rows: list[dict[str, Any]], y: list[str], token: str) -> None:
    path = "/v1/models/people/learn"
    count = 2000 if session.quick else 10_000

    def event(place: int, run: int) -> dict[str, Any]:
        at = place % len(rows)
        return {"id": f"{run}-{place}", "row": rows[at], "label": y[at]}

    single = [request(path, {"events": [event(place, 0)]}, token) for place in range(count)]
    cpu, wall = load(ours, single, 32)
    speed = count / wall
    session.add(harness.Result("learn, one event, 32 clients (wall)", f"{speed:,.0f}/s", ">= 2,000/s", speed >= 2000))
    session.say(f"processor time of a request: {microseconds(cpu)}")
    batches = [
        request(path, {"events": [event(first + place, 1) for place in range(100)]}, token)
        for first in range(0, count * 5, 100)
    ]
    cpu, wall = load(ours, batches, 8)
    speed = count * 5 / wall
    session.add(harness.Result("learn, batches of 100 (wall)", f"{speed:,.0f}/s", ">= 10,000/s", speed >= 10_000))
    session.say(f"processor time of an event: {microseconds(cpu / 100)}")


def memory(session: harness.Session, ours: Server, rows: list[dict[str, Any]], token: str) -> None:
    """Megabytes for every 100,000 requests, once the first have warmed it up."""
    total = 1_000_000 if session.full else 50_000 if session.quick else 200_000
    some = [request(PATH, {"rows": [row]}, token) for row in rows[:1000]]
    load(ours, some * 20)
    sizes = [ours.megabytes()]
    for _ in range(10):
        load(ours, some * (total // 10_000))
        sizes.append(ours.megabytes())
    slope = float(np.polyfit(np.arange(11), sizes, 1)[0]) * 10 / (total / 100_000)
    session.amount(f"memory in 100,000 requests, of {total:,}", max(slope, 0.0), 1.0, lambda value: f"{value:.2f} MB")


def starting(session: harness.Session, folder: Path) -> None:
    ten = folder / "ten"
    ten.mkdir()
    for number in range(10):
        shutil.copy(folder / "people" / "people.bayes", ten / f"m{number}.bayes")
    started(ten).stop()  # the store is made, and the modules are compiled
    begin = time.perf_counter()
    server = started(ten)
    wall, cpu = time.perf_counter() - begin, server.cpu()
    server.stop()
    session.amount("start with ten models, processor time", cpu, 1.0, harness.seconds)
    session.say(f"by the clock: {harness.seconds(wall)}")


def benchmark(session: harness.Session) -> None:
    rows, y = census(ROWS)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "people").mkdir()
        bb.NaiveBayes().fit(rows, y).save(folder / "people" / "people.bayes")
        starting(session, folder)
        command = [sys.executable, "-m", "bayesbox.cli.main", "token", "create", str(folder / "people"), "--json"]
        made = subprocess.run(
            [*command, "--scope=predict", "--scope=learn"], capture_output=True, text=True, check=True
        )
        token = json.loads(made.stdout)["token"]
        ours, theirs = started(folder / "people"), peer(folder, rows, y)
        others = set(range(os.cpu_count() or 1)) - os.sched_getaffinity(0)
        os.sched_setaffinity(0, others or os.sched_getaffinity(0))  # the servers have their core to themselves
        try:
            predicting(session, ours, theirs, rows, token)
            memory(session, ours, rows, token)
            learning(session, ours, rows, y, token)
        finally:
            ours.stop()
            theirs.stop()


if __name__ == "__main__":
    harness.main(benchmark)
