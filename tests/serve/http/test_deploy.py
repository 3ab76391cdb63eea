"""The files for deployment name options, paths and modules that are there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from bayesbox.cli.serve.serve import command
from bayesbox.serve.http.routes import ROUTES
from bayesbox.serve.http.server import ServeOptions

DEPLOY = Path(__file__).parents[3] / "deploy"


def require_parsed(arguments: list[str]) -> None:
    """The command takes these arguments."""
    with click.Context(command) as context:
        command.parse_args(context, arguments)


def test_systemd_unit(tmp_path: Path) -> None:
    unit = (DEPLOY / "bayes-serve.service").read_text()
    line = re.search(r"^ExecStart=\S+/bayes serve (.*)$", unit, re.MULTILINE)
    assert line is not None
    require_parsed(shlex.split(line[1]))
    assert "kill -HUP" in unit
    if shutil.which("systemd-analyze"):
        own = tmp_path / "bayes-serve.service"
        own.write_text(unit.replace("/opt/bayesbox/bin/bayes", "/bin/true").replace("User=bayes", "User=root"))
        done = subprocess.run(["systemd-analyze", "verify", str(own)], capture_output=True, text=True)
        assert "bayes-serve" not in done.stderr or done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "marker"), [("Dockerfile", r"^CMD (\[.*\])$"), ("kserve.yaml", r"args: (\[.*\])$")])
def test_containers(name: str, marker: str) -> None:
    text = (DEPLOY / name).read_text()
    line = re.search(marker, text, re.MULTILINE)
    assert line is not None
    require_parsed(["/models", *re.findall(r'"([^"]*)"', line[1])])
    paths = {route.path for route in ROUTES}
    assert set(re.findall(r"/v2/health/\w+", text)) <= paths


def test_every_deployment_listens_on_the_default_port() -> None:
    default = ServeOptions("models").port
    option = next(each for each in command.params if each.name == "port")
    assert option.default == default
    for name in ("bayes-serve.service", "Dockerfile", "kserve.yaml"):
        found = re.findall(r"(?:--port\"?,? \"?|EXPOSE |127\.0\.0\.1:|containerPort: |port: )(\d+)", _text(name))
        assert {int(port) for port in found} == {default}, name


def _text(name: str) -> str:
    return (DEPLOY / name).read_text()
