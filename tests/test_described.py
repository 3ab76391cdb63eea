"""Remedies: an error of Python names Python's, one of the command the command's."""

import ast
import pickle
import warnings
from pathlib import Path

import pytest

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.described import Remedy, command_speaks, declaring, ignoring
from bayesbox.errors import BadData, KindContradiction, SuspiciousData

PACKAGE = Path(bb.__file__).parent
ROWS = "post code,age,y\n" + "".join(f"{1000 + row},{row % 7},{'ab'[row % 2]}\n" for row in range(40))


def test_the_face_chooses_the_remedy_when_it_is_shown():
    error = BadData("a word", remedy="Declare it: " + declaring("zip", "category") + ".")
    assert error.remedy == "Declare it: columns={'zip': 'category'}."
    with command_speaks():
        assert error.remedy == "Declare it: --types zip=category."
        assert str(error) == "a word. Declare it: --types zip=category."
    assert "--types" not in str(error)


def test_a_remedy_survives_a_pickle():
    error = pickle.loads(pickle.dumps(BadData("a word", remedy=ignoring("TBG measured"))))
    assert error.advice == Remedy("columns={'TBG measured': 'ignore'}", "--ignore 'TBG measured'")


def test_python_and_the_command_name_their_own(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(ROWS + "old,3,a\n")
    with pytest.raises(KindContradiction) as caught:
        bb.train("rows.csv", "y", model=bb.NaiveBayes(columns={"post code": "real"}))
    assert "columns={'post code': 'category'}" in str(caught.value)
    assert "--" not in str(caught.value)
    assert run(["train", "rows.csv", "-t", "y", "--types", "post code=real"]) == 3
    told = capfd.readouterr().err
    assert "--types 'post code=category'" in told
    assert "columns=" not in told


def test_warnings_too(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"P{row:03},{row % 7},{'ab'[row % 2]}\n" for row in range(40))
    Path("rows.csv").write_text("patient id,age,y\n" + lines)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bb.train("rows.csv", "y")
    (found,) = [each.message for each in caught if isinstance(each.message, SuspiciousData)]
    assert "Ignore it: " + ignoring("patient id").python in found.advice.python
    assert "--" not in str(found)
    assert run(["train", "rows.csv", "-t", "y"]) == 0
    assert "--ignore 'patient id'" in capfd.readouterr().err


def command_words(tree: ast.AST) -> list[str]:
    """The texts with an option of the command that are remedies of both faces."""
    own = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Remedy"
        for part in ast.walk(node)
    }
    remedies = (node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "remedy")
    return [
        part.value
        for remedy in remedies
        for part in ast.walk(remedy)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and "--" in part.value and id(part) not in own
    ]


def test_no_remedy_of_the_library_names_an_option_of_the_command_alone():
    found = {
        str(path.relative_to(PACKAGE)): words
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in ("cli", "serve")
        and (words := command_words(ast.parse(path.read_text())))
    }
    foreign = ("pip install", "venv-pack")  # options of pip and of spark-submit
    others = {
        path: [text for text in words if not any(each in text for each in foreign)] for path, words in found.items()
    }
    assert not any(others.values()), f"write Remedy(python, command): {others}"


def test_such_a_remedy_is_seen():
    """The gate itself."""
    assert command_words(ast.parse("BadData('x', remedy='Try --na ?')")) == ["Try --na ?"]
    assert command_words(ast.parse("BadData('x', remedy='Try ' + Remedy('na', '--na ?'))")) == []
