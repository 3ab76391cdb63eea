"""Interrupts end whatever runs: some operations here, all of them and at more times in `make fuzz`.

Times are processor time of the process, which a busy machine does not change; two seconds bound the work that is still
done, where each operation would go on for much longer.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from tests.fuzz import interrupts
from tests.fuzz.interrupts import latency as interrupted

import bayesbox as bb
from bayesbox import _core
from bayesbox.source.pool import worker_threads

MOST = 2.0
COMMAND = [sys.executable, "-m", "bayesbox.cli.main"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        "moments",
        "count_pairs",
        "kernel_density",
        "mdl_cuts",
        "aode",
        "auto",
        "exact_search",
        "junction_tree",
        "gibbs",
        "hidden_markov_fit",
        "best_path_of_few_states",
        "train_csv_on_threads",
    ],
)
def test_an_interrupt_ends_it_soon(name: str, tmp_path: Path) -> None:
    assert interrupted(interrupts.OPERATIONS[name](tmp_path), 0.2) < MOST


def test_what_has_been_learned_stays(tmp_path: Path) -> None:
    X, y = interrupts.numbers(1_000, 60)
    model = bb.FullBayes().partial_fit(X, y)
    model.save(tmp_path / "before.bayes")
    more, labels = np.broadcast_to(X[:1], (1_000_000, 60)), np.broadcast_to(y[:1], 1_000_000)
    interrupted(lambda: model.partial_fit(more, labels), 0.1)
    model.save(tmp_path / "after.bayes")
    assert (tmp_path / "after.bayes").read_bytes() == (tmp_path / "before.bayes").read_bytes()
    model.partial_fit(X, y)
    whole = bb.FullBayes().partial_fit(np.vstack([X, X]), np.hstack([y, y]))
    assert (model.predict_proba(X) == whole.predict_proba(X)).all()


def long_call(started: threading.Event | None = None) -> object:
    if started is not None:
        started.set()
    return interrupts.OPERATIONS["moments"](Path())()


def test_a_pool_does_not_wait_for_its_threads() -> None:
    started = threading.Event()
    calls = []

    def leave() -> None:
        with worker_threads(2) as pool:
            calls.extend([pool.submit(long_call, started), pool.submit(long_call), pool.submit(long_call)])
            assert started.wait()
            raise ZeroDivisionError

    before = time.process_time()
    with pytest.raises(ZeroDivisionError):
        leave()
    assert time.process_time() - before < MOST
    assert calls[2].cancelled()
    assert isinstance(calls[0].exception(), KeyboardInterrupt)
    assert isinstance(calls[1].exception(), KeyboardInterrupt)
    with worker_threads(2) as pool:
        assert pool.submit(_core.count_labels, np.zeros(10, np.int32), 1).result() == [10]


def test_the_pool_of_a_thread_of_a_pool_is_stopped_too() -> None:
    started = threading.Event()

    def nested() -> None:
        with worker_threads(1) as inner:
            inner.submit(long_call, started).result()

    calls = []

    def leave() -> None:
        with worker_threads(1) as pool:
            calls.append(pool.submit(nested))
            assert started.wait()
            raise ZeroDivisionError

    before = time.process_time()
    with pytest.raises(ZeroDivisionError):
        leave()
    assert time.process_time() - before < MOST
    assert isinstance(calls[0].exception(), KeyboardInterrupt)


def test_a_thread_of_nobody_ends_its_call() -> None:
    """A signal is the main thread's alone: the calls of other threads of a program are not touched."""
    found = []
    other = threading.Thread(target=lambda: found.append(_core.count_labels(interrupts.rows(0, np.int32, 10**8), 1)))

    def work() -> None:
        other.start()
        while True:
            time.process_time()

    interrupted(work, 0.05)
    other.join()
    assert found[0] == [10**8]


# -- the command ----------------------------------------------------------------------------------------------------


def stop(process: subprocess.Popen[bytes], number: signal.Signals) -> float:
    """Send a signal to a process that is at work; the processor time that it used until it ended."""
    times = psutil.Process(process.pid).cpu_times()
    process.send_signal(number)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime - times.user - times.system


def wait_until(condition, process: subprocess.Popen[bytes]) -> None:
    while not condition():
        assert process.poll() is None, "it ended before it could be stopped"
        time.sleep(0.01)


def waits(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process that has begun its work does nothing for a while, however fast the machine is."""
    at_work = psutil.Process(process.pid)
    before = at_work.cpu_times()
    if at_work.status() != psutil.STATUS_SLEEPING or before.user + before.system < 0.05:
        return False
    time.sleep(0.3)
    after = at_work.cpu_times()
    return at_work.status() == psutil.STATUS_SLEEPING and after[:2] == before[:2]


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_command_ends_while_it_works(tmp_path: Path, threads: str, number: signal.Signals, code: int) -> None:
    long, old = interrupts.csv_file(tmp_path, 1_000_000), tmp_path / "answers.csv"
    short = tmp_path / "short.csv"
    short.write_text("a,b,c,y\n0.5,0.5,v1,p\n0.1,0.9,v2,q\n")
    bb.train(short, target="y").save(tmp_path / "m.bayes")
    old.write_text("old")
    arguments = ["predict", "m.bayes", long.name, "--proba", "-o", old.name, "--threads", threads]
    process = subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, stderr=subprocess.PIPE)
    wait_until(lambda: any(each.stat().st_size > 10**5 for each in tmp_path.glob(".bayesbox-*")), process)
    assert stop(process, number) < MOST
    assert process.returncode == code
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert old.read_text() == "old"
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_pipe_that_never_delivers(tmp_path: Path, opened: bool, number: signal.Signals, code: int) -> None:
    pipe = tmp_path / "rows.csv"
    os.mkfifo(pipe)
    process = subprocess.Popen([*COMMAND, "train", pipe.name, "-t", "y"], cwd=tmp_path, stderr=subprocess.PIPE)
    held = os.open(pipe, os.O_WRONLY) if opened else None  # waits until the command opens it
    if held is not None:
        os.write(held, b"a,y\n1,p\n")
    wait_until(lambda: waits(process), process)
    assert stop(process, number) < MOST
    assert process.returncode == code
    process.stderr.close()
    if held is not None:
        os.close(held)
    assert [each.name for each in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_it_at_once(second: signal.Signals) -> None:
    """Also where the first one is not heeded."""
    program = """
import time
from bayesbox.cli import main
main._end_cleanly_on_signals()
try:
    print("ready", flush=True)
    time.sleep(1000)
except KeyboardInterrupt:
    print("once", flush=True)
    time.sleep(1000)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == b"once\n"
    stop(process, second)
    process.stdout.close()
    assert process.returncode == -second


def test_an_interrupt_is_a_keyboard_interrupt() -> None:
    program = """
import numpy as np
from bayesbox import _core
rows = np.broadcast_to(np.int32(1), 10**10)
print("ready", flush=True)
try:
    _core.count_labels(rows, 3)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    start = psutil.Process(process.pid).cpu_times().user
    wait_until(lambda: psutil.Process(process.pid).cpu_times().user > start + 0.1, process)
    assert stop(process, signal.SIGINT) < MOST
    assert process.stdout.read() == b"interrupted\n"
    process.stdout.close()
    assert process.returncode == 0
