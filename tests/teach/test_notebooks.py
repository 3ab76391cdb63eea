"""The notebooks run, and their saved outputs are those of today."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from tests.teach.notebooks import run_cells

FOLDER = Path(__file__).parents[2] / "docs" / "teach" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def shown(outputs: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """What is printed, and the text of values; pictures by their presence."""
    found = []
    for each in outputs:
        if each["output_type"] == "stream":
            found.append(("stream", "".join(each["text"])))
        else:
            found.append((", ".join(sorted(each["data"])), "".join(each["data"]["text/plain"])))
    return found


def test_there_are_six() -> None:
    assert [path.stem[:1] for path in NOTEBOOKS] == list("123456")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_has_saved(path: Path) -> None:
    book = json.loads(path.read_text(encoding="utf-8"))
    nbformat.validate(book)
    saved = [cell["outputs"] for cell in book["cells"] if cell["cell_type"] == "code"]
    now = run_cells(book)
    for before, after in zip(saved, now, strict=True):
        assert shown(after) == shown(before)


def test_a_stale_output_is_seen() -> None:
    """The gate itself."""
    book = json.loads(NOTEBOOKS[0].read_text(encoding="utf-8"))
    outputs = next(cell["outputs"] for cell in book["cells"] if cell["cell_type"] == "code" and cell["outputs"])
    stale = json.loads(json.dumps(outputs))
    stale[0]["data"]["text/plain"] = ["another answer"]
    assert shown(stale) != shown(outputs)
