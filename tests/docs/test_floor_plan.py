"""The floor plan: one name for one thing, folders and files that can be overlooked, and pages that know them all."""

from __future__ import annotations

import ast
import fnmatch
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "bayesbox"
MODULES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
MOST_FILES, MOST_LINES = 25, 450


def twice(sources: dict[str, str]) -> dict[str, list[str]]:
    """The public classes that are defined in more than one place."""
    found: dict[str, list[str]] = defaultdict(list)
    for place, source in sources.items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(place)
    return {name: places for name, places in found.items() if len(places) > 1}


def test_no_two_classes_have_one_name() -> None:
    assert twice({str(path.relative_to(PACKAGE)): path.read_text() for path in MODULES}) == {}


def test_a_name_that_stands_twice_is_seen() -> None:
    """The gate itself."""
    assert twice({"a.py": "class Rows: pass", "b.py": "class Rows: pass\nclass _Own: pass"}) == {
        "Rows": ["a.py", "b.py"]
    }


KINDS = {"Kind", "Category", "Flag", "Real", "Number", "Count", "Words", "CountGroup", "Unknown", "Ignore"}
"""The kinds of columns; `Real` is also a class of the standard library."""


def asked_for_kinds(source: str) -> list[str]:
    """The tests of a module on the class of a kind of column: the kind itself is to be asked."""
    tree = ast.parse(source)
    kinds = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayesbox.schema.kind")
        for alias in node.names
        if alias.name in KINDS
    }
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) == 2)
    return [
        ast.unparse(call)
        for call in calls
        if ast.unparse(call.func) == "isinstance"
        and kinds & {node.id for node in ast.walk(call.args[1]) if isinstance(node, ast.Name)}
    ]


def test_nobody_asks_for_the_class_of_a_kind() -> None:
    modules = [path for path in MODULES if path.parent.name != "schema" or not path.name.startswith("kind")]
    assert {str(path): found for path in modules if (found := asked_for_kinds(path.read_text()))} == {}


def test_a_question_for_the_class_of_a_kind_is_seen() -> None:
    """The gate itself."""
    own = "from bayesbox.schema.kinds import Real, Words\nisinstance(kind, (Words, Real))"
    assert asked_for_kinds(own) == ["isinstance(kind, (Words, Real))"]
    assert asked_for_kinds("from numbers import Real\nisinstance(cost, Real)") == []


def test_folders_and_files_can_be_overlooked() -> None:
    assert {folder.name: count for folder in FOLDERS if (count := len(list(folder.glob("*.py")))) > MOST_FILES} == {}
    long = {str(path): lines for path in MODULES if (lines := len(path.read_text().splitlines())) > MOST_LINES}
    assert long == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_folder_says_what_it_is(folder: Path) -> None:
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))


def links(page: Path) -> Iterator[str]:
    text = page.read_text()
    for part in text.split("](")[1:]:
        yield part.split(")")[0]


def test_the_architecture_page_knows_every_folder_and_every_decision() -> None:
    architecture, decisions = ROOT / "docs" / "architecture.md", ROOT / "docs" / "decisions"
    text = architecture.read_text()
    assert [each.name for each in FOLDERS if each.parent == PACKAGE and f"`{each.name}/`" not in text] == []
    assert sorted(links(decisions / "README.md")) == sorted(
        path.name for path in decisions.glob("*.md") if path.name != "README.md"
    )


def test_pages_link_to_what_is_there() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        (page.name, link)
        for page in pages
        for link in links(page)
        if not link.startswith(("http", "#")) and not (page.parent / link.split("#")[0]).exists()
    ]
    assert broken == []


def test_recipes_point_to_what_is_there() -> None:
    """Every path in the table of recipes exists."""
    text = (ROOT / "docs" / "architecture.md").read_text().partition("## Recipes")[2]
    named = [word for word in text.split("`")[1::2] if word.endswith((".py", ".hpp")) and "VERB" not in word]
    assert named
    assert [word for word in named if not (ROOT / word).exists() and not (PACKAGE / word).exists()] == []


def not_looked_into(patterns: list[str], folders: set[str]) -> list[str]:
    """The folders that pytest passes over."""
    return sorted(name for name in folders if any(fnmatch.fnmatch(name, pattern) for pattern in patterns))


def test_pytest_looks_into_every_folder(pytestconfig: pytest.Config) -> None:
    roots = [ROOT / path for path in pytestconfig.getini("testpaths")]
    folders = {
        folder.name for root in roots for path in root.rglob("*.py") for folder in path.relative_to(root).parents
    }
    assert {"dist", "docs"} <= folders
    assert not_looked_into(pytestconfig.getini("norecursedirs"), folders - {""}) == []
    assert not_looked_into([".*", "build", "dist"], folders) == ["dist"]  # the gate itself
