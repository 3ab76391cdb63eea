"""Every kind of work and of tables is LaTeX that a strict parser reads, well-formed HTML, and text of 100 columns."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from tests.explain.every_work import NASTY, Shown, document, every_work
from tests.explain.latex import check_document, check_latex

from bayesbox.classifier.registry import KINDS
from bayesbox.explain.steps import WIDTH

VOID = {"meta", "br", "path", "line", "circle", "rect", "polygon", "polyline"}


class _Balanced(HTMLParser):
    """A page whose elements are closed in the order in which they were opened, and that runs nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.opened.pop() == tag


@pytest.fixture(scope="module")
def works() -> dict[str, Shown]:
    return dict(every_work())


def test_a_work_fits_wherever_it_is_shown(works: dict[str, Shown]) -> None:
    for name, work in works.items():
        check_latex(work.latex())
        page = _Balanced()
        page.feed(work.html())
        page.close()
        assert page.opened == [], name
        assert "<b>" not in work.html(), name
        assert max(map(len, str(work).splitlines())) <= WIDTH, name


def test_all_of_it_is_one_document(works: dict[str, Shown]) -> None:
    source = document(works)
    assert NASTY not in source
    check_document(source)


def test_every_kind_of_model_is_among_them(works: dict[str, Shown]) -> None:
    """Those that the package registers; one from outside is in tests/recipes/test_classifier.py."""
    shown = {name.partition(":")[0].partition(",")[0].lower() for name in works}
    own = {name for name, kind in KINDS.items() if kind.estimator.startswith("bayesbox.")}
    assert {"documents" if name == "text" else name for name in own} <= shown
