"""Verbs that need optional packages name the extra that brings them."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("verb", "package", "extra"),
    [
        ("app", "msgspec", "app"),
        ("app", "starlette", "app"),
        ("app", "uvicorn", "app"),
        ("serve .", "httptools", "serve"),
        ("serve .", "msgspec", "serve"),
        ("serve .", "starlette", "serve"),
        ("serve .", "uvicorn", "serve"),
        ("serve .", "apsw", "serve"),
        ("serve .", "prometheus_client", "serve"),
    ],
)
def test_without_a_package_the_extra_is_named(tmp_path, verb, package, extra):
    given = [*verb.split(), "--for", "1", *(["--no-open"] if verb == "app" else [])]
    code = f"import sys; sys.modules[{package!r}] = None\nfrom bayesbox.cli.main import run\nsys.exit(run({given!r}))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ended.returncode, f"bayesbox[{extra}]" in ended.stderr) == (2, True), ended.stderr
