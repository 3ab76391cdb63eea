"""Blocks as static HTML: no script, every name escaped.

Text and lines take the colors of the page, so that they are readable in dark and light notebooks. Drawings have a white
background. `.bayesbox.bayesbox` overrides JupyterLab's rules for tables, which right-align everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from bayesbox.display.blocks import Bar, Block, PictureBlock, TableBlock, Value, cell_text
from bayesbox.display.text import one_line

STYLE = """
.bayesbox { font-size: 13px; line-height: 1.45; max-width: 100%; overflow-x: auto; }
.bayesbox p { margin: .4em 0; }
.bayesbox table { border-collapse: collapse; margin: .5em 0; background: none; table-layout: auto; width: auto; }
.bayesbox caption { caption-side: top; text-align: left; padding: .2em 0; color: inherit; opacity: .8; }
.bayesbox.bayesbox table th, .bayesbox.bayesbox table td { border: 0;
  border-bottom: 1px solid rgba(128, 128, 128, .35); padding: .2em .9em .2em 0; text-align: left;
  vertical-align: top; white-space: normal; max-width: 36em; overflow-wrap: break-word;
  font-variant-numeric: tabular-nums; color: inherit; background: none; }
.bayesbox table th { font-weight: 600; }
.bayesbox.bayesbox table .number { text-align: right; white-space: nowrap; }
.bayesbox .more { opacity: .7; }
.bayesbox pre { margin: .4em 0; background: none; color: inherit; font-size: 12px; line-height: 1.3; }
.bayesbox figure { display: inline-block; margin: .5em 0; padding: 6px; border-radius: 6px; background: #fff;
  color: #222; max-width: 100%; }
.bayesbox figure svg { max-width: 100%; height: auto; }
.bayesbox span.bar { display: inline-block; height: .75em; min-width: 1px; background: #3b82c4; border-radius: 1px; }
.bayesbox span.bar.below { background: #d2691e; }
""".strip()
BAR_EM = 9  # the length of the longest bar


def as_html(title: str, blocks: Sequence[Block]) -> str:
    """An HTML fragment, such as the output of a notebook cell."""
    head = f"<p><strong>{escape(title)}</strong></p>" if title else ""
    body = "\n".join(_block(block) for block in blocks if not isinstance(block, TableBlock) or block.in_html)
    return f'<div class="bayesbox">\n<style>\n{STYLE}\n</style>\n{head}\n{body}\n</div>'


def page(title: str, body: str) -> str:
    """A whole page around parts."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n:root {{ color-scheme: light dark; }}\n"
        "body { font-family: system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }\n"
        f"</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _block(block: Block) -> str:
    if isinstance(block, TableBlock):
        return "\n".join(_table(block))
    if isinstance(block, PictureBlock):
        words = f"<figcaption>{escape(block.caption)}</figcaption>" if block.caption else ""
        return f"<figure>{block.svg[block.svg.index('<svg') :]}{words}</figure>"
    if block.fixed:
        return f"<pre>{escape(block.text)}</pre>"
    return "\n".join(f"<p>{escape(line)}</p>" for line in block.text.splitlines() if line)


def _table(block: TableBlock) -> Iterator[str]:
    right = block.at_right()
    yield "<table>"
    if block.caption:
        yield f"<caption>{escape(block.caption)}</caption>"
    heads = (f'<th scope="col"{_class(place in right)}>{escape(name)}</th>' for place, name in enumerate(block.columns))
    yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    yield "<tbody>"
    for row in block.shown():
        cells = (f"<td{_class(place in right)}>{_cell(value)}</td>" for place, value in enumerate(row))
        yield f"<tr>{''.join(cells)}</tr>"
    if block.more:
        yield f'<tr><td class="more" colspan="{len(block.columns)}">{block.more}</td></tr>'
    yield "</tbody>\n</table>"


def _class(number: bool) -> str:
    return ' class="number"' if number else ""


def _cell(value: Value) -> str:
    if not isinstance(value, Bar):
        return escape(one_line(cell_text(value)))
    if not abs(value.share) > 0:
        return ""
    below = " below" if value.share < 0 else ""
    return f'<span class="bar{below}" style="width: {BAR_EM * min(abs(value.share), 1.0):.2f}em"></span>'
