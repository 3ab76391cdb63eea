"""Bundles the ES modules of `web/` into one: for a report, which is one file, and for a widget, which is one module.

Each becomes a function that returns its exports, so that two may use the same name inside. Imports are written
`import { a, b } from "./other.js";` and exports `export function a`, `export class B`, `export const C`; a module in
another form is an error.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

WEB = Path(__file__).parent / "web"
IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"\./([\w-]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)
DEFAULT = re.compile(r"^export default .*;\n", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n", re.MULTILINE | re.DOTALL)
CAST = re.compile(r"/\*\* @(?:type|param) [^*]*\*/ ?")


def text_of(name: str) -> str:
    """A file of `web/`."""
    return (WEB / name).read_text(encoding="utf-8")


@cache
def joined(entry: str) -> str:
    """A module and all its imports, as the text of one script; `$entry` has its exports."""
    done: dict[str, str] = {}
    _add(entry, done, ())
    return "\n".join(done.values())


def widget_module(entry: str, render: str) -> str:
    """The one module of a widget: its default export has `render`."""
    return f"{joined(entry)}\nexport default {{ render: {_variable(entry)}.{render} }};\n"


def _add(name: str, done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in done:
        return
    if name in above:
        raise ValueError(f"{name}.js imports itself by way of {above[-1]}.js")
    text = COMMENT.sub("", text_of(f"{name}.js"))
    imports = []
    for names, other in IMPORT.findall(text):
        _add(other, done, (*above, name))
        listed = ", ".join(each.strip() for each in names.split(",") if each.strip())
        imports.append(f"const {{ {listed} }} = {_variable(other)};")
    body = CAST.sub("", DEFAULT.sub("", IMPORT.sub("", text)))
    exports = EXPORT.findall(body)
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    if re.search(r"^(import|export)\b", body, re.MULTILINE):
        raise ValueError(f"{name}.js imports or exports in a form that is not joined")
    inside = "\n".join([*imports, body.strip(), f"return {{ {', '.join(exports)} }};"])
    done[name] = f"const {_variable(name)} = (() => {{\n{inside}\n}})();"


def _variable(name: str) -> str:
    return f"${name.replace('-', '_')}"
