"""The Python reference, made from docstrings and examples: `python -m bayesbox.cli.api_reference docs/reference`.

Each public class or function has a page. A method without an example in its docstring uses the one under its name in
`docs/reference/examples/OWNER.md`, where OWNER is the class that defines it; these pages are run as tests. They also
have the parameters that a docstring does not list, the return value, and related names, one per line:

    - X : rows, as for `fit`
    - returns : array of labels, one per row
    - see also : predict_proba, decide
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from pathlib import Path

import bayesbox
from bayesbox.cli.api_members import members, public_names, signature_of
from bayesbox.cli.api_results import RESULTS, results_page

GROUPS = {
    "Classifiers": (
        "NaiveBayes", "AutoBayes", "AveragedNaiveBayes", "TAN", "KDB", "AODE", "FullBayes", "BayesOptimal",
        "TextClassifier", "NetworkClassifier",
    ),
    "Files and questions": (
        "train", "StreamTrainer", "load", "predict", "evaluate", "compare", "drift", "report", "sql", "bayes_rule",
        "limit_context",
    ),
    "Networks and tables": ("BayesianNetwork", "FactorGraph", "read_network", "learn_network", "Joint"),
    "Sequences": ("HiddenMarkovModel",),
    "Displays": ("ReliabilityDisplay", "EvidenceDisplay", "NomogramDisplay", "DensityDisplay", "NetworkDisplay"),
    "What a column is": ("Category", "Flag", "Real", "Count", "Date", "Words", "Ignore"),
}  # fmt: skip
"""The groups of the index in order; other names are under "More"."""

MODULES = ("rules", "errors", "extend", "mlflow")
WITHOUT_EXAMPLE = {
    "BayesboxError", "BadData", "BadModelFile", "BadOption", "CannotForget", "CannotMerge", "DataWarning",
    "ImpossibleEvidence", "NotLinear",
}  # fmt: skip
"""Errors and warnings: they are raised, not called. Those of the modules errors, extend and mlflow are shown by the
pages of how-to and extension."""

SECTION = re.compile(r"^(Parameters|Returns|Raises|Yields|Attributes|Notes|Examples|See Also|References)\n-{3,}$", re.M)


ENTRY = re.compile(r"^- (\S.*?) : (.+)$", re.M)
RETURNS, SEE_ALSO = "returns", "see also"


def has_example(text: str | None) -> bool:
    """Whether a docstring has an example."""
    return ">>> " in (text or "")


class Examples:
    """The pages of examples, by class or module."""

    def __init__(self, folder: Path) -> None:
        self.by_owner: dict[str, tuple[str, dict[str, str]]] = {}
        self._entries: dict[tuple[str, str], dict[str, str]] = {}
        for path in sorted(folder.glob("*.md")):
            head, *sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)
            named = {text.split("\n", 1)[0].strip(): text for text in sections}
            self.by_owner[path.stem] = _code(head), {name: _code(text) for name, text in named.items()}
            for name, text in named.items():
                entries = [(entry.group(1), entry.group(2)) for entry in ENTRY.finditer(text.partition("```")[0])]
                self._entries[path.stem, name] = dict(entries)

    def of(self, owner: str, name: str) -> str | None:
        """The example of a method, including its set-up; None if there is none."""
        setup, found = self.by_owner.get(owner, ("", {}))
        return f"{setup}\n{found[name]}" if found.get(name) else None

    def see_also(self, owner: str, name: str) -> list[str]:
        """The related names."""
        return [each.strip() for each in self._entries.get((owner, name), {}).get(SEE_ALSO, "").split(",") if each]

    def whole(self, owner: str, name: str, text: str | None) -> str:
        """A docstring with the parameters and the return value from the page of examples."""
        entries = self._entries.get((owner, name), {})
        listed = [f"{each} : {said}" for each, said in entries.items() if each not in (RETURNS, SEE_ALSO)]
        text = _with_section(text or "", "Parameters", listed)
        return _with_section(text, "Returns", [entries[RETURNS]] if RETURNS in entries else [])


def _with_section(text: str, title: str, lines: list[str]) -> str:
    """A docstring with lines added at the start of a section, which is created if necessary."""
    if not lines:
        return text
    head = f"{title}\n{'-' * len(title)}\n"
    if head in text:
        return text.replace(head, head + "\n".join(lines) + "\n")
    later = ("Returns", "Examples", "See Also")
    places = [text.find(f"{each}\n---") for each in later if each != title] + [text.find(">>> ")]
    at = min((place for place in places if place >= 0), default=len(text))
    after = f"Examples\n--------\n{text[at:]}" if text[at:].startswith(">>> ") else text[at:]
    return "\n\n".join(part for part in (text[:at].rstrip(), head + "\n".join(lines), after) if part)


def _code(text: str) -> str:
    found = re.search(r"```python\n(.*?)\n*```", text, flags=re.S)
    return found.group(1).rstrip() if found else ""


def pages(examples: Examples) -> dict[str, str]:
    """The text of every page, by the name of its file."""
    names = public_names()
    made = {f"{name}.md": _page(name, getattr(bayesbox, name), examples) for name in names}
    made |= {f"{name}.md": _module_page(name, examples) for name in MODULES}
    made["results.md"] = results_page(names)
    made["README.md"] = _index(names)
    return made


def _index(names: list[str]) -> str:
    parts = [
        "# Python\n\nThis reference is made of docstrings and of the examples in `docs/reference/examples`: `python -m "
        "bayesbox.cli.api_reference docs/reference`.\n"
    ]
    grouped = {name for group in GROUPS.values() for name in group}
    rest = [name for name in names if name not in grouped and name not in WITHOUT_EXAMPLE]
    errors = tuple(sorted(WITHOUT_EXAMPLE))
    for title, listed in {**GROUPS, "More": tuple(rest), "Errors and warnings": errors}.items():
        rows = [name for name in listed if name in names]
        if rows:
            lines = [f"| [{name}]({name}.md) | {_first_line(getattr(bayesbox, name))} |" for name in rows]
            parts.append("\n".join([f"## {title}\n\n| name | what it is |\n|---|---|", *lines]) + "\n")
    lines = [f"| [{name}]({name}.md) | {_first_line(getattr(bayesbox, name))} |" for name in MODULES]
    parts.append("\n".join(["## Modules\n\n| name | what it is |\n|---|---|", *lines]) + "\n")
    return "\n".join([*parts, "What they give is described under [results](results.md).\n"])


def _first_line(found: object) -> str:
    return (inspect.getdoc(found) or "").split("\n", 1)[0].replace("|", "\\|")


def _page(name: str, found: object, examples: Examples) -> str:
    text = examples.whole("bayesbox", name, inspect.getdoc(found))
    parts = [f"# {name}\n", f"```python\nbayesbox.{name}{signature_of(found)}\n```\n", _markdown(text)]
    own = examples.of("bayesbox", name)
    if own and not has_example(inspect.getdoc(found)):
        parts.append(_session(own))
    parts.append(_see_also(name, examples))
    if isinstance(found, type):
        shown = list(members(found))
        names = {member.name for member in shown}
        if shown:
            parts.append("## Methods and attributes\n")
        for member in shown:
            title = member.name if member.is_property else f"{member.name}{signature_of(member.function, method=True)}"
            text = examples.whole(member.owner.__name__, member.name, inspect.getdoc(member.function))
            parts.append(f"### {member.name}\n\n```python\n{title}\n```\n\n{_markdown(text)}")
            example = None if has_example(text) else examples.of(member.owner.__name__, member.name)
            if example:
                parts.append(_session(example))
            near = examples.see_also(member.owner.__name__, member.name)
            parts.append(_links(near, names))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part.strip())


def _see_also(name: str, examples: Examples) -> str:
    """The related names: those of its page of examples, and the others of its group."""
    group = next((names for names in GROUPS.values() if name in names), ())
    near = [*examples.see_also("bayesbox", name), *(each for each in group if each != name and each in public_names())]
    return _links(list(dict.fromkeys(near)), set())


def _links(near: list[str], here: set[str]) -> str:
    """Links to methods of the same page, to methods of others such as NaiveBayes.explain, and to other pages."""
    links = []
    for each in near:
        page, dot, method = each.partition(".")
        if each in here:
            links.append(f"[{each}](#{each})")
        elif page in (*public_names(), *MODULES):  # a method that this class does not have
            links.append(f"[{each}]({page}.md{'#' if dot else ''}{method})")
    return f"See also: {', '.join(links)}.\n" if links else ""


def _module_page(name: str, examples: Examples) -> str:
    module = getattr(bayesbox, name)
    parts = [f"# bayesbox.{name}\n", _markdown(inspect.getdoc(module), plain=True)]
    for each in sorted(getattr(module, "__all__", _classes(module))):
        found = getattr(module, each)
        if isinstance(found, types.GenericAlias):  # its documentation would be that of another library
            parts.append(f"## {each}\n\nA type alias of `{found.__origin__.__name__}`.\n")
            continue
        text = examples.whole(name, each, inspect.getdoc(found))
        parts.append(f"## {each}\n\n```python\n{each}{signature_of(found)}\n```\n\n{_markdown(text)}")
        example = examples.of(name, each)
        if example and not has_example(inspect.getdoc(found)):
            parts.append(_session(example))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part.strip())


def _classes(module: types.ModuleType) -> list[str]:
    return [name for name, found in vars(module).items() if isinstance(found, type) and not name.startswith("_")]


def _session(code: str) -> str:
    return f"Example:\n\n```python\n{code}\n\n```\n"


def _markdown(text: str | None, *, plain: bool = False) -> str:
    """A docstring as Markdown: its sections as bold words, sessions as code, entries of parameters as a list."""
    if plain:
        return f"```text\n{text or ''}\n```\n"
    lines: list[str] = []
    section, in_session = "", False
    source = (text or "").split("\n")
    skip = False
    for at, line in enumerate(source):
        if skip:
            skip = False
            continue
        following = source[at + 1] if at + 1 < len(source) else ""
        if line.startswith(">>> ") and not in_session:
            lines.append("```python")
            in_session = True
        elif in_session and (not line.strip() or (line and SECTION.match(f"{line}\n{following}"))):
            lines += ["", "```"]
            in_session = False
        if line.strip() and set(following.strip()) == {"-"} and len(following.strip()) >= 3:
            section, skip = line.strip(), True
            lines.append(f"**{section}**\n")
        elif not in_session and section in ("Parameters", "Returns", "Raises", "Attributes") and line.strip():
            name, colon, kind = line.partition(" : ")
            shown = f"**{name}**" + (f": {kind}" if colon else "")
            if section == "Returns" and not colon:
                shown = _linked(name, bold=following.startswith(" "))
            entry = f"- {shown}"
            lines.append(f"  {line.strip()}" if line.startswith(" ") else f"{entry}\n")
        else:
            lines.append(line)
    if in_session:
        lines += ["", "```"]
    return "\n".join(lines).rstrip("\n") + "\n"


def _linked(returned: str, *, bold: bool) -> str:
    """The return value, with a link if it begins with the class of a result."""
    name = re.split(r"\W", returned, maxsplit=1)[0]
    if name in RESULTS:
        return f"[{name}](results.md#{name.lower()}){returned[len(name) :]}"
    return f"**{returned}**" if bold else returned


def write(folder: Path) -> None:
    """Write all pages, and remove those of deleted names."""
    made = pages(Examples(folder / "examples"))
    target = folder / "api"
    target.mkdir(exist_ok=True)
    for path in target.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (target / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
