"""The notebook of a whole analysis: it runs, and what it shows is made for eyes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from tests.teach.notebooks import run_cells

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
STEPS = ("Load", "Fit and look", "Evaluate", "Compare", "Explain", "What if", "What to ask", "Importance", "Drift")


@pytest.fixture(scope="module")
def book():
    found = json.loads((FOLDER / "churn.ipynb").read_text(encoding="utf-8"))
    nbformat.validate(found)
    return found


def texts(outputs):
    """Every form in which a cell shows its value."""
    return [(mime, "".join(text)) for each in outputs for mime, text in each["data"].items()]


def test_it_goes_the_whole_way(book):
    titles = [line[3:].strip() for cell in book["cells"] for line in cell["source"] if line.startswith("## ")]
    assert titles[: len(STEPS)] == list(STEPS)


def test_it_runs_and_shows_what_it_has_saved(book):
    saved = [cell["outputs"] for cell in book["cells"] if cell["cell_type"] == "code"]
    for before, after in zip(saved, run_cells(book), strict=True):
        plain = [text for mime, text in texts(after) if mime == "text/plain"]
        assert plain == [text for mime, text in texts(before) if mime == "text/plain"]
        for _, text in texts(after):
            assert "\x1b" not in text  # no escape codes
            assert "array(" not in text  # no raw arrays
            assert "<script" not in text
        if after:
            assert "text/html" in after[0]["data"]  # every result is a table or a picture


def test_it_is_readable_on_light_and_dark_pages(book):
    """Text takes the colour of the page: no style of ours sets a colour for it, but on the white ground of pictures."""
    for cell in book["cells"]:
        for mime, text in texts(cell.get("outputs", [])):
            if mime == "text/html":
                for rule in re.findall(r"[^{}]+\{[^{}]*\}", "".join(re.findall(r"<style>(.*?)</style>", text, re.S))):
                    if re.search(r"(?<![-\w])color:(?!\s*inherit)", rule):
                        assert "background" in rule, rule
