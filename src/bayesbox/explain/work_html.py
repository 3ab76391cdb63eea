"""The calculation as HTML: static, every name escaped, light or dark by the system's setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from bayesbox.explain.steps import Cell, Row, Step, parts_between

STYLE = """
.bayes-work { --line: rgba(128, 128, 128, .45); font: 15px/1.5 system-ui, sans-serif; overflow-x: auto; }
.bayes-work table { border-collapse: collapse; margin: .4em 0; }
.bayes-work th, .bayes-work td { border-bottom: 1px solid var(--line); padding: .25em .8em .25em 0;
  text-align: left !important; vertical-align: top; font-variant-numeric: tabular-nums; }
.bayes-work th { font-weight: 600; }
.bayes-work .step { opacity: .7; font-size: 85%; padding-right: 1em; white-space: nowrap; }
.bayes-work .dim { opacity: .7; }
.bayes-work p { margin: .3em 0; }
""".strip()

PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 2em auto; max-width: 70em; padding: 0 1em; background: #fff; color: #111; }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e8e8e8; } }
""".strip()


def page(title: str, steps: Sequence[Step]) -> str:
    """A whole page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{PAGE_STYLE}\n</style>\n</head>\n"
        f"<body>\n{fragment(title, steps)}\n</body>\n</html>\n"
    )


def fragment(title: str, steps: Sequence[Step]) -> str:
    """The calculation as an HTML fragment, such as for a notebook cell."""
    parts = [f'<div class="bayes-work">\n<style>\n{STYLE}\n</style>\n<p><strong>{escape(title)}</strong></p>']
    for part in parts_between(steps):
        columns = next((step.columns for step in part if step.columns), ())
        if columns:
            parts.append("\n".join(_table(part, columns)))
        else:
            parts.extend(f"<p>{_line(row)}</p>" for step in part for row in step.rows)
    return "\n".join([*parts, "</div>"])


def _table(steps: Sequence[Step], columns: Sequence[str]) -> Iterator[str]:
    yield "<table>"
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    yield f'<thead><tr><th scope="col" class="step">step</th><td></td>{heads}</tr></thead>'
    yield "<tbody>"
    for step in steps:
        for place, row in enumerate(step.rows):
            name = f'<td class="step">{"" if place else escape(step.name)}</td>'
            if step.columns:
                cells = "".join(f"<td>{_cell(cell)}</td>" for cell in row.cells)
                yield f'<tr>{name}<th scope="row">{escape(row.name)}</th>{cells}</tr>'
            else:
                yield f'<tr>{name}<td colspan="{len(columns) + 1}">{_line(row)}</td></tr>'
    yield "</tbody>\n</table>"


def _line(row: Row) -> str:
    return " = ".join([escape(row.name), *(_cell(cell) for cell in row.cells)])


def _cell(cell: Cell) -> str:
    """The forms of a number, with the decimal dimmed."""
    parts = [escape(part) for part in cell.parts()]
    if len(parts) > 1:
        parts[0] = f'<span class="dim">{parts[0]}</span>'
    return " = ".join(parts)
