"""The reference of the Python names: up to date, and whole."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bayesbox as bb
from bayesbox.cli.api_members import INNER, members, public_names
from bayesbox.cli.api_reference import MODULES, WITHOUT_EXAMPLE, Examples, has_example, pages
from bayesbox.cli.api_results import INNER_OF_RESULTS, NO_RESULTS, RESULTS, fields_of, given_by, result_class

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
EXAMPLES = Examples(REFERENCE / "examples")
CLASSES = [name for name in public_names() if isinstance(getattr(bb, name), type)]
OLD_NAMES = {"fold"}  # of one_hot: taken with a warning
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


def described() -> Iterator[tuple[str, str, Callable[..., object]]]:
    """Owner, name and function of all that can be called; the modules errors and extend have pages of their own."""
    for name in public_names():
        yield "bayesbox", name, getattr(bb, name)
    for member in dict.fromkeys(member for name in CLASSES for member in members(getattr(bb, name))):
        if not member.is_property:
            yield member.owner.__name__, member.name, member.function
    for module in ("rules", "mlflow"):
        for name in getattr(bb, module).__all__:
            yield module, name, getattr(getattr(bb, module), name)


DESCRIBED = {f"{owner}.{name}": (owner, name, function) for owner, name, function in described()}


def parameters_of(function: Callable[..., object]) -> set[str]:
    try:
        return set(inspect.signature(function).parameters) - {"self", "cls"}
    except (TypeError, ValueError):  # of an exception without a signature of its own
        return set()


def listed_in(text: str) -> set[str]:
    """The names at the head of the entries of the section on parameters."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^[A-Z][\w ]*\n---|\Z)", text, re.S | re.M)
    lines = section.group(1).split("\n") if section else []
    heads = [line.partition(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return {name.strip(" *") for head in heads for name in head.split(",")}


@pytest.mark.parametrize("place", DESCRIBED)
def test_every_parameter_is_listed(place):
    owner, name, function = DESCRIBED[place]
    listed = listed_in(EXAMPLES.whole(owner, name, inspect.getdoc(function)))
    assert parameters_of(function) - listed - OLD_NAMES == set(), "list it in the docstring, or in reference/examples"
    assert listed - parameters_of(function) == set(), "there is no such parameter"


@pytest.mark.parametrize("place", [place for place, (_, _, found) in DESCRIBED.items() if not isinstance(found, type)])
def test_what_is_returned_is_said(place):
    owner, name, function = DESCRIBED[place]
    assert "Returns\n-------\n" in EXAMPLES.whole(owner, name, inspect.getdoc(function))


def test_what_to_see_also_is_there():
    methods = {name: {member.name for member in members(getattr(bb, name))} for name in CLASSES}
    known = {*public_names(), *MODULES, *(f"{name}.{each}" for name, found in methods.items() for each in found)}
    for owner, name, _ in DESCRIBED.values():
        holders = [
            found for each, found in methods.items() if owner in {at.__name__ for at in getattr(bb, each).__mro__}
        ]
        near = EXAMPLES.see_also(owner, name)
        assert set(near) <= known.union(*holders), f"{owner}.{name}"
        assert name not in near or owner == "bayesbox", f"{owner}.{name}"


def test_parameters_are_put_before_what_is_returned_and_the_example(tmp_path):
    entries = "# P\n\n## f\n\n- x : int\n- returns : float\n- see also : g, h\n\n```python\n>>> f(1)\n\n```\n"
    (tmp_path / "P.md").write_text(entries)
    made = Examples(tmp_path)
    head, sections = "It is f.", "Parameters\n----------\nx : int\n\nReturns\n-------\nfloat"
    session = "Examples\n--------\n>>> f(2)"
    assert made.whole("P", "f", head) == f"{head}\n\n{sections}"
    assert made.whole("P", "f", f"{head}\n\n>>> f(2)") == f"{head}\n\n{sections}\n\n{session}"
    assert made.whole("P", "f", f"{head}\n\n{session}") == f"{head}\n\n{sections}\n\n{session}"
    before = f"{head}\n\nParameters\n----------\ny : int\n    More.\n\n{session}"
    assert listed_in(made.whole("P", "f", before)) == {"x", "y"}
    assert made.whole("P", "g", head) == head
    assert made.see_also("P", "f") == ["g", "h"]


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


def test_what_is_given_is_described():
    others = {"Any", "AnyArray", "Doubles", "Fraction", "Iterator", "Labels", "NDArray", "None", "Self"}
    assert set(given_by(public_names())) - {*public_names(), *others} <= {*RESULTS, *NO_RESULTS}, "see api_results.py"
    assert set(given_by(public_names())) >= NO_RESULTS


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_docstrings_and_are_given(name):
    found = result_class(name)
    inner = INNER_OF_RESULTS.get(name, set())
    assert found.__doc__
    assert [each.name for each in members(found) if not each.function.__doc__ and each.name not in inner] == []
    assert inner <= {
        *dir(found),
        *getattr(found, "__dataclass_fields__", ()),
        *getattr(found, "__slots__", ()),
        "model",
    }
    assert not inner & set(fields_of(found))
    said = (
        (REFERENCE / "api" / "results.md").read_text(encoding="utf-8").partition(f"## {name}\n")[2].partition("## ")[0]
    )
    pages_of_methods = "".join(path.read_text(encoding="utf-8") for path in (REFERENCE / "api").glob("*.md"))
    assert "Given by: " in said or f"results.md#{name.lower()}" in pages_of_methods
