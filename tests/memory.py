"""What a process takes in memory at the worst moment: measured in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import bayesbox

SOURCES = str(Path(bayesbox.__file__).parents[1])  # of the package that is tested, which may be an installed one
COMMAND = "import sys; from bayesbox.cli.main import main; sys.exit(main())"
NOTE_PEAK = """
import atexit, os

def _note_peak():
    with open("/proc/self/status") as status, open(os.environ["PEAK_OF_PROCESS"], "w") as noted:
        noted.write(next(line.split()[1] for line in status if line.startswith("VmHWM")))

atexit.register(_note_peak)
"""
"""The peak of the process itself: what `wait` tells includes that of the process that forked it."""


class Ended(NamedTuple):
    """How a process ended: its code, what it wrote, and its peak in megabytes."""

    code: int
    output: str
    errors: str
    peak: float


def run_python(code: str, *arguments: str, most: int | None = None, **environment: str) -> Ended:
    """Run Python code, in an address space of at most so many megabytes."""
    paths = os.pathsep.join(filter(None, (SOURCES, os.environ.get("PYTHONPATH"))))

    def bound() -> None:
        if most is not None:
            resource.setrlimit(resource.RLIMIT_AS, (most << 20, most << 20))

    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        tempfile.NamedTemporaryFile("r") as peak,
    ):
        process = subprocess.Popen(
            [sys.executable, "-c", NOTE_PEAK + code, *arguments],
            env={
                **os.environ,
                "PYTHONPATH": paths,
                "OPENBLAS_NUM_THREADS": "1",
                "PEAK_OF_PROCESS": peak.name,
                **environment,
            },
            preexec_fn=bound,
            stdout=output,
            stderr=errors,
        )
        _, status = os.waitpid(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode())
        kilobytes = float(peak.read() or "inf")  # a process that was killed has noted nothing
    return Ended(process.returncode, *texts, kilobytes / 1024)


def run_bayes(*arguments: str, **environment: str) -> Ended:
    """Run the command."""
    return run_python(COMMAND, *arguments, **environment)
