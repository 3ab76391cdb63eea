"""The reference of the Python names: up to date, and whole."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import bayesbox as bb
from bayesbox.cli.api_reference import (
    INNER,
    MODULES,
    WITHOUT_EXAMPLE,
    Examples,
    has_example,
    members,
    pages,
    public_names,
)

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
EXAMPLES = Examples(REFERENCE / "examples")
CLASSES = [name for name in public_names() if isinstance(getattr(bb, name), type)]
SHOWN_ELSEWHERE = {"errors", "extend", "mlflow"}  # errors are raised; the others have pages of their own


def test_the_pages_are_up_to_date():
    made = pages(EXAMPLES)
    stored = {path.name: path.read_text(encoding="utf-8") for path in (REFERENCE / "api").glob("*.md")}
    stale = sorted(name for name in made.keys() | stored.keys() if made.get(name) != stored.get(name))
    assert not stale, "python -m bayesbox.cli.api_reference docs/reference"


@pytest.mark.parametrize("name", public_names())
def test_every_name_has_a_docstring_and_an_example(name):
    text = inspect.getdoc(getattr(bb, name))
    assert text
    assert has_example(text) or EXAMPLES.of("bayesbox", name) or name in WITHOUT_EXAMPLE


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in WITHOUT_EXAMPLE])
def test_every_method_has_a_docstring_and_an_example(name):
    lacking = [
        f"{member.owner.__name__}.{member.name}"
        for member in members(getattr(bb, name))
        if not member.function.__doc__
        or not (has_example(member.function.__doc__) or EXAMPLES.of(member.owner.__name__, member.name))
    ]
    assert lacking == []


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_has_is_described(name):
    module = getattr(bb, name)
    for each in getattr(module, "__all__", ()):
        text = inspect.getdoc(getattr(module, each))
        assert text, each
        assert name in SHOWN_ELSEWHERE or has_example(text) or EXAMPLES.of(name, each), each


def test_what_is_left_out_is_there():
    owners = {each.__name__: each for name in CLASSES for each in getattr(bb, name).__mro__}
    for owner, names in INNER.items():
        assert owner in owners
        assert all(hasattr(owners[owner], name) for name in names), owner
    assert set(public_names()) >= WITHOUT_EXAMPLE


def test_examples_are_of_what_is_there():
    owners = {each.__name__: each for name in CLASSES for each in getattr(bb, name).__mro__}
    for owner, (_, found) in EXAMPLES.by_owner.items():
        holder = bb if owner == "bayesbox" else getattr(bb, owner) if owner in MODULES else owners[owner]
        assert all(hasattr(holder, name) for name in found), owner
