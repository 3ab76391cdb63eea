"""The order of the pages: a README.md is the contents of its folder, and lists the pages below it by ordinary links.

The site takes its navigation from these links, so that the pages hold no directive and read the same as plain Markdown.
The README of the project lists in its part "Documentation" only, since it links to pages on the way there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

CONTENTS = "README.md"
BESIDE = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")  # pages beside docs/
NOT_PAGES = ("docs/reference/examples", "docs/site")  # the examples stand on the pages of docs/reference/api
LINK = re.compile(r"(?<!!)\[[^\[\]]*\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```$|^ {4}.*?$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def pages(root: Path) -> list[Path]:
    """All pages: the README, those beside docs/, and the Markdown and notebooks of docs/."""
    found = [*(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.ipynb")]
    left_out = [root / each for each in NOT_PAGES]
    own = sorted(each for each in found if not any(each.is_relative_to(folder) for folder in left_out))
    return [root / CONTENTS, *(root / each for each in BESIDE), *own]


def links(text: str) -> list[str]:
    """The targets of the links in a text, code left out."""
    return LINK.findall(CODE.sub("", text))


def contents_of(page: Path, root: Path) -> Path:
    """The page that must list this one: the nearest README.md above it."""
    folder = page.parent.parent if page.name == CONTENTS else page.parent
    while not (folder / CONTENTS).exists():
        folder = folder.parent
    assert folder.is_relative_to(root)
    return folder / CONTENTS


def listed(contents: Path, root: Path) -> Iterator[Path]:
    """The pages that a README.md lists and is the contents of, in its order."""
    text = contents.read_text(encoding="utf-8")
    if contents.parent == root:
        text = text.partition("\n## Documentation\n")[2]
    known = set(pages(root))
    seen = {root / CONTENTS}
    for link in links(text):
        page = (contents.parent / link.partition("#")[0]).resolve()
        if page in known and page not in seen and contents_of(page, root) == contents:
            seen.add(page)
            yield page
