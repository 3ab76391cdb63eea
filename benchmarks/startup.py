"""What the command costs before it does anything, CPU seconds of a whole process; and what it takes to load a model."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import bayesbox as bb
import harness

WEATHER = """outlook,temperature,humidity,windy,play
sunny,85,85,false,no
sunny,80,90,true,no
overcast,83,86,false,yes
rainy,70,96,false,yes
rainy,68,80,false,yes
rainy,65,70,true,no
overcast,64,65,true,yes
sunny,72,95,false,no
sunny,69,70,false,yes
rainy,75,80,false,yes
sunny,75,70,true,yes
overcast,72,90,true,yes
overcast,81,75,false,yes
rainy,71,91,true,no
"""


def cpu_seconds(command: Sequence[str]) -> float:
    """User and system time of one run of a command, its interpreter included."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    complaint = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}: {complaint.strip()[-300:]}")
    return usage.ru_utime + usage.ru_stime


def run(session: harness.Session) -> None:
    bayes = str(Path(sys.executable).with_name("bayes"))
    with tempfile.TemporaryDirectory() as folder:
        table, model, one = Path(folder, "weather.csv"), Path(folder, "weather.bayes"), Path(folder, "one.csv")
        table.write_text(WEATHER)
        one.write_text("\n".join(WEATHER.splitlines()[:2]) + "\n")
        commands = {
            "python -c 'import bayesbox'": ([sys.executable, "-c", "import bayesbox"], 0.15),
            "bayes --help": ([bayes, "--help"], 0.3),
            "bayes train, 14 rows": ([bayes, "train", str(table), "-t", "play", "-o", str(model)], 0.8),
            "bayes predict, 1 row": ([bayes, "predict", str(model), str(one)], 0.25),
        }
        for work, (command, target) in commands.items():
            cpu_seconds(command)  # fills the caches
            taken = statistics.median(cpu_seconds(command) for _ in range(9))
            session.amount(f"{work}, CPU", taken, target, harness.seconds)
        loading(session, Path(folder))


def loading(session: harness.Session, folder: Path) -> None:
    """The CPU time of loading large models, in this process."""
    draw = np.random.default_rng(0)
    words = [f"word{place}" for place in range(100_000)]
    texts = [" ".join(words[place : place + 2000]) for place in range(0, 98_001, 500)]
    table = draw.normal(size=(200, 10_000))
    models = {
        "100,000 words": bb.TextClassifier().fit(texts, [k % 2 for k in range(len(texts))]),
        "10,000 robust columns": bb.NaiveBayes().fit(table, np.arange(200) % 2),
    }
    for name, clf in models.items():
        path = folder / "large.bayes"
        clf.save(path)
        taken = []
        for _ in range(7):
            start = time.process_time()
            loaded = bb.load(path)
            taken.append(time.process_time() - start)
        if loaded.book_.digest() != clf.book_.digest():
            raise SystemExit(f"{name}: another digest, nothing was timed")
        session.amount(f"load a model of {name}, CPU", statistics.median(taken), 0.2, harness.seconds)


if __name__ == "__main__":
    harness.main(run)
