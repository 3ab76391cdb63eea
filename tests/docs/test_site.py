"""On the site and as plain Markdown alike, each page is listed by its contents page, and no link is broken."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = runpy.run_path(str(ROOT / "docs" / "site" / "contents.py"))
HEADING = re.compile(r"^#{1,6} +(.*?) *$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
WRITTEN = [page for page in SITE["pages"](ROOT) if page.suffix == ".md"]


def anchors(page):
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    found = []
    for title in HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        found.append(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
    return found


def broken(page, root):
    """The links of a page that lead nowhere: no such file, a folder, or no such heading."""
    for link in SITE["links"](page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (page.parent / name).resolve() if name else page
        known = target.is_file() and target.is_relative_to(root)
        if not known or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield link


def unlisted(root):
    """The pages that cannot be reached from the README by way of contents pages."""
    reached, waiting = set(), [root / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        if page.name == "README.md":
            waiting += [each for each in SITE["listed"](page, root) if each not in reached]
    return sorted(str(each.relative_to(root)) for each in SITE["pages"](root) if each not in reached)


def test_every_page_is_listed():
    assert unlisted(ROOT) == []


def test_links_lead_somewhere():
    found = {str(page.relative_to(ROOT)): list(broken(page, ROOT)) for page in WRITTEN}
    assert {page: links for page, links in found.items() if links} == {}


def test_pages_hold_no_directives():
    assert [page for page in WRITTEN if "```{" in page.read_text(encoding="utf-8")] == []


@pytest.fixture
def small(tmp_path):
    (tmp_path / "docs" / "parts").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text("# A\n\n## Its part: one\n")
    (tmp_path / "docs" / "parts" / "README.md").write_text("# Parts\n\n[b](b.md)\n")
    (tmp_path / "docs" / "parts" / "b.md").write_text("# B\n")
    listed = ["docs/a.md", "docs/parts/README.md", *SITE["BESIDE"]]
    (tmp_path / "README.md").write_text("# Home\n\n## Documentation\n\n" + " ".join(f"[x]({each})" for each in listed))
    for name in SITE["BESIDE"]:
        (tmp_path / name).write_text("# Beside\n")
    return tmp_path


def test_a_page_that_is_not_listed_is_found(small):
    assert unlisted(small) == []
    (small / "docs" / "parts" / "c.md").write_text("# C\n")
    (small / "docs" / "a.md").write_text("[c](parts/c.md)\n")  # linked, but not by its contents page
    assert unlisted(small) == ["docs/parts/c.md"]


def test_links_that_lead_nowhere_are_found(small):
    page = small / "docs" / "parts" / "b.md"
    links = ["../a.md#its-part-one", "../z.md", "../parts/", "../a.md#its-part"]
    page.write_text(" ".join(f"[x]({link})" for link in links) + "\n`[code](x.md)`\n")
    assert list(broken(page, small)) == links[1:]
