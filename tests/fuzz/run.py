"""Mutants of all formats in processes that are watched: what each came to, and what must be looked at.

    python -m tests.fuzz.run 100000 --seed 3 --core build/sanitized/_core....so
    python -m tests.fuzz.run --replay build/fuzz/csv-3-1234

A mutant must be taken with a right answer or refused by an error of the package. Anything else is a finding: another
exception, a report of a sanitizer, a crash, more than 10 s of processor time, more memory than its size allows. Each is
written to build/fuzz, the file with the report beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.fuzz.formats import FORMATS, counts
from tests.fuzz.worker import chance_of, try_finding

ROOT = Path(__file__).parents[2]
FINDINGS = ROOT / "build" / "fuzz"
SECONDS = 10.0  # of processor time
WALL_SECONDS = 90.0  # a process that sleeps takes no processor time
BYTES_TIMES, MEGABYTES = 10, 100  # memory allowed: so many times the size of the file, and so much beyond
SANITIZED_TIMES = 3  # red zones, quarantine and shadow memory
CHUNK = 250  # mutants for one order
FRESH_AFTER = 4000  # mutants of one process
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class FormatReport:
    """What the mutants of one format came to."""

    mutants: int = 0
    loaded: int = 0
    refused: int = 0
    errors: int = 0
    crashes: int = 0
    hangs: int = 0
    over: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0

    def add(self, other: FormatReport) -> None:
        """Add up what was counted, and keep the worst."""
        for name in ("mutants", "loaded", "refused", "errors", "crashes", "hangs", "over"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.seconds, self.megabytes = max(self.seconds, other.seconds), max(self.megabytes, other.megabytes)


@dataclass
class Worker:
    """A process with its order: the mutants from `at` to before `last` of a format are still to be done."""

    process: subprocess.Popen[str]
    folder: Path
    stderr: IO[bytes]
    name: str = ""
    at: int = 0
    last: int = 0
    tried: int = 0
    size: int = 0
    running: bool = False
    since: float = 0.0
    used: float = 0.0
    before: float = 0.0
    rest: str = ""

    def stop(self) -> tuple[int, str]:
        """End the process: (its exit code, what it said on stderr)."""
        self.process.kill()
        code = self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        if self.stderr.closed:
            return code, ""
        with self.stderr:
            self.stderr.seek(0)
            return code, self.stderr.read().decode(errors="replace")

    def processor_seconds(self) -> float:
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return self.used
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> float:
        try:
            return (
                int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
            )
        except (OSError, IndexError):
            return 0.0


@dataclass
class FuzzRun:
    """A run with so many processes."""

    seed: int
    core: str | None
    processes: int
    program: tuple[str, ...] = (sys.executable, "-m", "tests.fuzz.worker")
    reports: dict[str, FormatReport] = field(default_factory=dict)
    orders: deque[tuple[str, int, int]] = field(default_factory=deque)
    findings: list[str] = field(default_factory=list)
    started: list[Worker] = field(default_factory=list)

    # -- processes ---------------------------------------------------------------------------------------------------

    def _start(self, folder: Path) -> Worker:
        folder.mkdir(parents=True, exist_ok=True)
        log = open(folder / "stderr", "w+b")  # noqa: SIM115 - it lives as long as the process
        command = [*self.program, str(folder), *([self.core] if self.core else [])]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=ROOT,
            env=environment(self.core),
        )
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self.started.append(Worker(process, folder, log))
        return self.started[-1]

    def _order(self, worker: Worker) -> bool:
        """Give a process something to do; False where nothing is left."""
        if worker.at >= worker.last:
            if not self.orders:
                return False
            worker.name, worker.at, worker.last = self.orders.popleft()
        assert worker.process.stdin is not None
        worker.process.stdin.write(f"{worker.name} {self.seed} {worker.at} {worker.last}\n")
        worker.process.stdin.flush()
        worker.running, worker.since, worker.used = False, time.monotonic(), worker.processor_seconds()
        return True

    def run(self, wanted: dict[str, int], *, first: int = 0) -> None:
        """Try the mutants of each format from the first to before the number wanted."""
        for name, count in wanted.items():
            self.reports[name] = FormatReport()
            self.orders.extend((name, at, min(at + CHUNK, count)) for at in range(first, count, CHUNK))
        with tempfile.TemporaryDirectory(prefix="bayesbox-fuzz-") as scratch:
            workers = [self._start(Path(scratch) / str(place)) for place in range(self.processes)]
            try:
                active = [worker for worker in workers if self._order(worker)]
                while active:
                    active = [next_one for worker in active if (next_one := self._watch(worker)) is not None]
            finally:
                for worker in self.started:
                    worker.stop()

    def _watch(self, worker: Worker) -> Worker | None:
        """Look after a process for a moment; the process that goes on with its work, None where all is done."""
        assert worker.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(worker.process.stdout, selectors.EVENT_READ)
            ready = selector.select(timeout=0.05)
        finished = False
        if ready:
            read = worker.process.stdout.read()
            if read == "":
                return self._again(worker, "crash")
            for message in self._messages(worker, read or ""):
                finished = self._heard(worker, message) or finished
        if finished:
            if worker.tried >= FRESH_AFTER:
                worker.stop()
                worker = self._replaced(worker)
            return worker if self._order(worker) else None
        if worker.running:
            limit = self._limit(worker)
            if worker.memory() - worker.before > limit:
                return self._again(worker, "over")
        hung = worker.processor_seconds() - worker.used > SECONDS * (1 if worker.running else 20)
        if hung or time.monotonic() - worker.since > WALL_SECONDS * (1 if worker.running else 10):
            return self._again(worker, "hang")
        return worker

    @staticmethod
    def _messages(worker: Worker, read: str) -> Iterator[dict[str, Any]]:
        *lines, worker.rest = (worker.rest + read).split("\n")
        for line in lines:
            yield json.loads(line)

    def _limit(self, worker: Worker) -> float:
        return (BYTES_TIMES * worker.size / 2**20 + MEGABYTES) * (SANITIZED_TIMES if self.core else 1)

    def _replaced(self, worker: Worker) -> Worker:
        fresh = self._start(worker.folder)
        fresh.name, fresh.at, fresh.last = worker.name, worker.at, worker.last
        return fresh

    # -- outcomes ----------------------------------------------------------------------------------------------------

    def _heard(self, worker: Worker, message: dict[str, Any]) -> bool:
        """Take note of what a process says; True where its order is done."""
        if "begin" in message:
            worker.at, worker.size, worker.running = message["begin"], message["size"], True
            worker.since, worker.used, worker.before = time.monotonic(), worker.processor_seconds(), worker.memory()
        elif "end" in message:
            worker.running, worker.at, worker.tried = False, message["end"] + 1, worker.tried + 1
            report = self.reports[worker.name]
            report.mutants += 1
            report.seconds = max(report.seconds, message["seconds"])
            report.megabytes = max(report.megabytes, message["megabytes"])
            report.loaded += message["outcome"] == "loaded"
            report.refused += message["outcome"] == "refused"
            if message["outcome"] == "finding":
                report.errors += 1
                self._keep(worker, message["end"], message["error"])
            elif message["seconds"] > SECONDS:
                report.hangs += 1
                self._keep(worker, message["end"], f"{message['seconds']:.1f} s of processor time\n")
            elif message["megabytes"] > self._limit(worker):
                over = self._without_sanitizers(worker.name, message["end"]).over
                report.over += over
                if over:
                    self._keep(worker, message["end"], f"{message['megabytes']:.0f} MB\n")
        return "done" in message

    def _again(self, worker: Worker, what: str) -> Worker | None:
        """Note that a process crashed or was stopped, and go on behind its mutant with a fresh one."""
        taken = worker.processor_seconds() - worker.used
        code, said = worker.stop()
        if what == "crash" and not worker.running:
            raise SystemExit(f"a process could not start, or failed between mutants (exit {code}):\n{said[-4000:]}")
        report = self.reports[worker.name]
        found = FormatReport(mutants=1, crashes=int(what == "crash"), hangs=int(what == "hang"))
        if what == "over":
            found = self._without_sanitizers(worker.name, worker.at)
        report.add(found)
        report.seconds = max(report.seconds, taken)
        if found.crashes or found.hangs or found.over:
            self._keep(worker, worker.at, f"{what}, exit {code}\n{said}")
        worker.at += 1
        fresh = self._replaced(worker)
        return fresh if self._order(fresh) else None

    def _without_sanitizers(self, name: str, number: int) -> FormatReport:
        """What a mutant comes to that took too much memory, tried again where the sanitizers take none of it.

        They touch an eighth of whatever is asked for, as when Arrow asks for the size that a damaged file declares.
        """
        if self.core is None:
            return FormatReport(mutants=1, over=1)
        again = FuzzRun(self.seed, None, 1)
        again.run({name: number + 1}, first=number)
        self.findings += again.findings
        return again.reports[name]

    def _keep(self, worker: Worker, number: int, error: str) -> None:
        """Write a finding: the mutant, and beside it what it is and what happened."""
        into = FINDINGS / f"{worker.name}-{self.seed}-{number}"
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir(parents=True)
        FORMATS[worker.name].make(chance_of(worker.name, self.seed, number), into)
        about = {"format": worker.name, "seed": self.seed, "number": number, "core": self.core, "error": error}
        (into / "finding.json").write_text(json.dumps(about, indent=1) + "\n")
        shown = error.strip().splitlines()[-1][:150] if error.strip() else ""
        summary = next(
            (line for line in error.splitlines() if line.startswith("SUMMARY") or "runtime error" in line), shown
        )
        self.findings.append(f"{os.path.relpath(into, ROOT)}: {summary[:150]}")
        print(self.findings[-1], flush=True)


def environment(core: str | None, *, frames: int = 1) -> dict[str, str]:
    """The environment of a process with the core of this name: under the sanitizers, every allocation is theirs.

    A report names so many frames of where memory was allocated; each takes time at every allocation.
    """
    wanted = dict(os.environ, PYTHONHASHSEED="0", OMP_NUM_THREADS="1")
    if not core:
        return wanted
    compiler = os.environ.get("CXX", "c++").split()[0]
    preloaded = []
    for library in ("libasan.so", "libubsan.so", "libstdc++.so.6"):  # exceptions are looked up as the process starts
        said = subprocess.run([compiler, f"-print-file-name={library}"], capture_output=True, text=True, check=True)
        preloaded.append(said.stdout.strip())
    return wanted | {
        "LD_PRELOAD": " ".join(preloaded),
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:exitcode=99:allocator_may_return_null=1:quarantine_size_mb=16"
        f":malloc_context_size={frames}",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",  # a read behind a bytes object is seen
        "ARROW_DEFAULT_MEMORY_POOL": "system",  # and one behind a column of Arrow
    }


def replay(folder: Path) -> int:
    """Try a finding again; under the sanitizers if it was found there."""
    core = json.loads((folder / "finding.json").read_text())["core"]
    if core is None:
        return try_finding(folder, None)
    command = [sys.executable, "-m", "tests.fuzz.worker", "--replay", str(folder.resolve()), core]
    return subprocess.run(command, env=environment(core, frames=30), cwd=ROOT, check=False).returncode


def table(reports: dict[str, FormatReport]) -> str:
    """The reports, a line a format."""
    heads = (
        "format",
        "mutants",
        "loaded",
        "refused",
        "errors",
        "crashes",
        "hangs",
        "over the bound",
        "worst s",
        "worst MB",
    )
    total = FormatReport()
    for one in reports.values():
        total.add(one)
    rows = [heads] + [
        (
            name, f"{one.mutants:,}", f"{one.loaded:,}", f"{one.refused:,}",
            str(one.errors), str(one.crashes), str(one.hangs), str(one.over),
            f"{one.seconds:.2f}", f"{one.megabytes:.0f}",
        )
        for name, one in [*reports.items(), ("all", total)]
    ]  # fmt: skip
    widths = [max(len(row[place]) for row in rows) for place in range(len(heads))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=100_000, help="mutants in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--core", help="the compiled core to use: one with sanitizers")
    parser.add_argument("--only", nargs="*", choices=sorted(FORMATS), help="these formats alone")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replay", type=Path, help="the folder of a finding, to try it again")
    given = parser.parse_args()
    if given.replay:
        return replay(given.replay)
    wanted = counts(given.count)
    if given.only:
        wanted = {name: given.count // len(given.only) for name in given.only}
    started = time.monotonic()
    run = FuzzRun(given.seed, str(Path(given.core).resolve()) if given.core else None, given.processes)
    stopped = ""
    try:
        run.run(wanted)
    except KeyboardInterrupt:
        stopped = ", stopped before the end"
    print(table(run.reports))
    print(f"seed {given.seed}, {time.monotonic() - started:.0f} s, core {given.core or 'as installed'}{stopped}")
    print("\n".join(["", f"{len(run.findings)} findings", *run.findings]) if run.findings else "no findings")
    return 1 if run.findings or stopped else 0


if __name__ == "__main__":
    sys.exit(main())
