"""The memory that a fit needs beyond the data it is given, each measured in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

import bayesbox as bb
import harness
import synthetic

LIMIT = 64  # MB


class Case(NamedTuple):
    """How the data are made, and two fits of them."""

    data: Callable[[np.ndarray], Any]
    ours: Callable[[Any, np.ndarray], Any]
    peer: str = ""
    theirs: Callable[[Any, np.ndarray], Any] | None = None


def table_of(y: np.ndarray) -> pa.Table:
    numbers, codes = synthetic.reals(y, 10), synthetic.codes(y, 10)
    return pa.table(synthetic.number_columns(numbers) | synthetic.dictionary_columns(codes))


def frame_of(y: np.ndarray) -> pd.DataFrame:
    return synthetic.frame_with_strings(y, holes=0.02)


def plain(X: Any, y: np.ndarray) -> Any:
    return bb.NaiveBayes().fit(X, y)


def declared(X: Any, y: np.ndarray) -> Any:
    return bb.NaiveBayes(columns=dict.fromkeys(range(X.shape[1]), bb.Category())).fit(X, y)


CASES = {
    "20 reals, row-major": Case(synthetic.reals, plain, "sklearn GaussianNB", GaussianNB().fit),
    "20 categorical, row-major": Case(synthetic.codes, declared, "sklearn CategoricalNB", CategoricalNB().fit),
    "20 binary, row-major": Case(synthetic.flags, plain, "sklearn BernoulliNB", BernoulliNB().fit),
    "10 + 10 mixed, Arrow columns": Case(table_of, plain),
    "strings, numbers and holes, pandas": Case(frame_of, plain),
}


def status(field: str) -> float:
    """A line of the kernel's account of this process, in MB."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def extra_memory(case: Case, rows: int, *, peer: bool) -> float:
    """Peak during a fit, less what was there before it."""
    fit = case.theirs if peer else case.ours
    assert fit is not None
    small = synthetic.labels(1000)
    fit(case.data(small), small)  # imports and first allocations are not the fit's
    y = synthetic.labels(rows)
    data = case.data(y)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = status("VmRSS")
    fit(data, y)
    return status("VmHWM") - before


def in_a_child(name: str, rows: int, *, peer: bool) -> float:
    command = [sys.executable, __file__, "--case", name, str(rows), *(["--peer"] if peer else [])]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run(session: harness.Session) -> None:
    for name, case in CASES.items():
        peer = {}
        if case.theirs is not None:
            peer = {"peer": case.peer, "theirs": harness.megabytes(in_a_child(name, session.rows, peer=True))}
        extra = in_a_child(name, session.rows, peer=False)
        session.amount(f"extra memory in fit, {name}", extra, LIMIT, harness.megabytes, **peer)


if __name__ == "__main__":
    if "--case" in sys.argv:
        place = sys.argv.index("--case")
        harness.one_core()
        print(extra_memory(CASES[sys.argv[place + 1]], int(sys.argv[place + 2]), peer="--peer" in sys.argv))
    else:
        harness.main(run)
