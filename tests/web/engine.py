"""The engine of the page, run by deno: what it answers to documents."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

DENO = str(Path(sys.executable).with_name("deno"))
HERE = Path(__file__).parent


def run_deno(*arguments: str, given: str = "") -> str:
    """What a script prints; its errors fail the test."""
    ran = subprocess.run([DENO, *arguments], input=given, text=True, capture_output=True, check=False, cwd=HERE)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def answers(questions: list[dict[str, Any]]) -> list[Any]:
    """The answers of engine.js: to each document the posteriors of its rows or of its evidence."""
    found: list[Any] = json.loads(run_deno("run", "-q", "answer.js", given=json.dumps(questions)))
    return found


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON holds them: NaN is a missing value."""
    return [
        {name: None if isinstance(cell, float) and math.isnan(cell) else cell for name, cell in row.items()}
        for row in table.to_pylist()
    ]
