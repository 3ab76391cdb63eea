"""Run the cells of a notebook in this process, as a kernel would, which takes seconds less than to start one."""

from __future__ import annotations

import ast
import contextlib
import io
from typing import Any

MIME = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}


def run_cells(book: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of the code cells: what was printed, and the value of the last expression in all its forms."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_run("".join(cell["source"]), names) for cell in book["cells"] if cell["cell_type"] == "code"]


def _run(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        data = {mime: getattr(value, form)() for mime, form in MIME.items() if hasattr(value, form)}
        plain = "<SVG>" if "image/svg+xml" in data else repr(value)
        shown = {mime: text.splitlines(keepends=True) for mime, text in (data | {"text/plain": plain}).items()}
        found.append({"output_type": "execute_result", "data": shown, "metadata": {}, "execution_count": None})
    return found
