"""A signal that comes while the command is importing ends it as one that comes later: no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

CODE = """
import signal, sys
class Slow:
    def find_spec(self, name, *arguments):
        if name == "click":
            print("importing", flush=True)
            import time
            time.sleep(30)
sys.meta_path.insert(0, Slow())
from bayesbox.cli import start
sys.argv = ["bayes", "--version"]
start()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_importing(number: int, code: int) -> None:
    with subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"importing\n"
        begin = time.monotonic()
        process.send_signal(number)
        errors = process.stderr.read()
        assert process.wait(10) == code
    assert time.monotonic() - begin < 5
    assert b"Traceback" not in errors
    assert (b"interrupted" in errors) == (number == signal.SIGINT)


RUN = "import sys; sys.argv = ['bayes', '--version']; from bayesbox.cli import start; start()"


def test_it_is_the_command() -> None:
    ended = subprocess.run([sys.executable, "-c", RUN], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout[:6]) == (0, b"bayes ")
