"""What every benchmark shares: one core, runs of ours and of the peer in turn, medians, and a line for each result."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 1_000_000
QUICK_ROWS = 100_000
Run = Callable[[], Any]


@dataclass(frozen=True)
class Result:
    """One line of the table: a ratio (peer / ours) with a lower limit, or an amount of ours with an upper one."""

    work: str
    ours: str
    target: str
    holds: bool | None  # None: there is no target
    peer: str = ""
    theirs: str = ""
    ratio: str = ""

    def line(self) -> str:
        verdict = {True: "ok", False: "below", None: ""}[self.holds]
        peer = f"{self.peer:<28}{self.theirs:>9}"
        return f"{self.work:<58}{self.ours:>9}  {peer}{self.ratio:>9}{self.target:>10}  {verdict}".rstrip()


HEAD = Result("", "ours", "target", None, "peer", "", "ratio").line()


@dataclass
class Session:
    """The settings of one run, and the results so far."""

    quick: bool = False
    data: Path | None = None
    kept: Path | None = None  # where a long benchmark keeps the parts that are done
    full: bool = False  # the slow contenders as well
    results: list[Result] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return QUICK_ROWS if self.quick else ROWS

    @property
    def rounds(self) -> int:
        return 3 if self.quick else 7

    def compare(self, work: str, ours: Run, peer: str, theirs: Run, target: float | None, rounds: int = 0) -> None:
        """Time both in turn and put down the ratio of the medians."""
        mine, other = in_turn([ours, theirs], rounds or self.rounds)
        self.ratio(work, mine, peer, other, target)

    def ratio(self, work: str, mine: float, peer: str, other: float, target: float | None) -> None:
        """Put down two times that were measured elsewhere."""
        ratio = other / mine
        holds = None if target is None else ratio >= target
        goal = "" if target is None else "ahead" if target == 1 else f">= {target:g}x"
        self.add(Result(work, seconds(mine), goal, holds, peer, seconds(other), f"{ratio:.1f}x"))

    def amount(self, work: str, value: float, target: float, unit: Callable[[float], str], **peer: str) -> None:
        """Put down an amount of ours that has an upper limit."""
        self.add(Result(work, unit(value), f"< {unit(target)}", value < target, **peer))

    def add(self, result: Result) -> None:
        self.results.append(result)
        print(result.line(), flush=True)

    def say(self, text: str) -> None:
        """A remark among the lines."""
        print(f"  {text}", flush=True)


def in_turn(runs: Sequence[Run], rounds: int) -> list[float]:
    """The median CPU seconds of each, run one after the other in each round; what another process does hardly matters.

    The first round is not counted: it pays for imports, allocation and caches.
    """
    taken: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds + 1):
        for run, times in zip(runs, taken, strict=True):
            start = time.process_time()
            run()
            times.append(time.process_time() - start)
    return [statistics.median(times[1:]) for times in taken]


def seconds(value: float) -> str:
    """
    >>> seconds(0.0123), seconds(2.5)
    ('12.3 ms', '2.50 s')
    """
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.1f} ms" if value < 0.1 else f"{value * 1e3:.0f} ms"


def megabytes(value: float) -> str:
    return f"{value:.0f} MB"


def require_equal(ours: np.ndarray, theirs: np.ndarray, *, within: float = 1e-9, what: str = "") -> None:
    """Only right answers are timed: stop where two sets of probabilities differ."""
    difference = float(np.abs(ours - theirs).max())
    if not difference <= within:
        raise SystemExit(f"{what}: the answers differ by {difference:.2g}, more than {within:g}: nothing was timed")


def require_alike(ours: np.ndarray, theirs: np.ndarray, *, share: float = 0.999, what: str = "") -> None:
    """For peers whose model differs a little: the same class wins in nearly all rows."""
    same = float((ours.argmax(axis=1) == theirs.argmax(axis=1)).mean())
    if not same >= share:
        raise SystemExit(f"{what}: only {same:.2%} of the rows get the same class, not {share:.2%}: nothing was timed")


def one_core() -> None:
    """This process and its children on one core, and every library on one thread."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ[name] = "1"
    import pyarrow as pa
    from threadpoolctl import threadpool_limits

    pa.set_cpu_count(1)
    threadpool_limits(1)


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, fewer rounds")
    parser.add_argument("--data", type=Path, help="a folder of real tables to measure as well")
    parser.add_argument(
        "--kept", type=Path, help="a file in which `auto` or `defaults` keeps the parts that are done, to go on later"
    )
    parser.add_argument("--full", action="store_true", help="`defaults`: AutoBayes too, which takes minutes a table")
    return parser


def main(benchmark: Callable[[Session], None]) -> None:
    """Run one benchmark file by itself."""
    parser = options()
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    one_core()
    session = Session(given.quick, given.data, given.kept, given.full)
    if given.record is None:
        print(HEAD)
    try:
        benchmark(session)
    finally:
        if given.record is not None:
            given.record.write_text(json.dumps([asdict(result) for result in session.results]))
