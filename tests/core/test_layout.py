"""The folders of the C++ core: which of them knows Python, and which may include which."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CPP = Path(__file__).parents[2] / "cpp"
UNITS = CPP.parent / "CMakeLists.txt"

MAY_INCLUDE = {  # besides their own: `core` lies below all, `bind` above all, and subjects do not know each other
    "core": set[str](),
    "table": {"core"},
    "text": {"core"},
    "mail": {"core", "text"},
    "network": {"core"},
    "chain": {"core"},
    "tree": {"core"},
    "bind": {"core", "table", "text", "mail", "network", "chain", "tree"},
}
PYTHON = re.compile(r"#\s*include\s*[<\"](?:nanobind/|Python\.h)|\bnb::|\bnanobind::|\bPy[A-Z]\w*_\w+|\bPyObject\b")
# Macros that read the objects of Python directly: one module serves Python 3.12 and all later ones, so it has none.
UNSTABLE = re.compile(
    r"\bPy(?:List|Tuple|Dict|Bytes|Set|Float)_(?:GET|SET|AS)_[A-Z_]+|\bPySequence_Fast_\w+|\btp_\w+"
    r"|\bPyUnicode_(?:KIND|DATA|READ|READ_CHAR|GET_LENGTH|IS_\w+|1BYTE_DATA|2BYTE_DATA|4BYTE_DATA)\b"
)
FULL_API = re.compile(
    r"#if !defined\(Py_LIMITED_API\)\n.*?#(?:else|endif)|(?<=#else\n)(?:(?!#endif).)*?#endif", re.DOTALL
)
INCLUDE = re.compile(r"^\s*#\s*include\s*\"([^\"]+)\"", re.MULTILINE)


def sources(folder: str) -> list[Path]:
    return sorted((*(CPP / folder).glob("*.hpp"), *(CPP / folder).glob("*.cpp")))


def knows_python(text: str) -> bool:
    return PYTHON.search(text) is not None


def beyond_the_stable_abi(text: str) -> list[str]:
    return UNSTABLE.findall(FULL_API.sub("", text))


def forbidden_includes(folder: str, text: str) -> Iterator[str]:
    """The includes of a file of `folder` that do not name a folder it may know."""
    for name in INCLUDE.findall(text):
        if Path(name).parent.as_posix() not in MAY_INCLUDE[folder] | {folder}:
            yield name


def test_every_folder_has_its_place() -> None:
    assert {path.name for path in CPP.iterdir()} == {*MAY_INCLUDE, "tests"}
    for folder in MAY_INCLUDE:
        assert sources(folder), folder
        assert sources(folder) == sorted(path for path in (CPP / folder).rglob("*") if path.is_file()), folder


@pytest.mark.parametrize("folder", [*sorted(set(MAY_INCLUDE) - {"bind"}), "tests"])
def test_only_the_bindings_know_python(folder: str) -> None:
    assert [path.name for path in sources(folder) if knows_python(path.read_text())] == []


@pytest.mark.parametrize("path", sources("bind"), ids=lambda path: path.name)
def test_bindings_keep_to_the_stable_abi(path: Path) -> None:
    assert beyond_the_stable_abi(path.read_text()) == []


def test_the_stable_abi_is_told_from_the_rest() -> None:
    assert beyond_the_stable_abi("PyList_SET_ITEM(list, 0, text); PyUnicode_KIND(text)") == [
        "PyList_SET_ITEM",
        "PyUnicode_KIND",
    ]
    guarded = "#if !defined(Py_LIMITED_API)\n  PyUnicode_DATA(text);\n#endif\n"
    assert beyond_the_stable_abi(guarded) == []
    assert beyond_the_stable_abi(guarded + "Py_TYPE(value)->tp_name") == ["tp_name"]


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_folders_include_those_below_only(folder: str) -> None:
    found = {path.name: list(forbidden_includes(folder, path.read_text())) for path in sources(folder)}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("words", "only"),
    [
        ("gil_scoped_release", "bind/interrupt.hpp"),  # others make a LongCall, which looks for interrupts
        ("std::j?thread", "core/threads.hpp"),  # others call run_on_threads, which an interrupt ends
    ],
)
def test_long_calls_and_threads_can_be_interrupted(words: str, only: str) -> None:
    every = [path for folder in MAY_INCLUDE for path in sources(folder)]
    assert [path for path in every if re.search(words, path.read_text())] == [CPP / only]


def test_threads_of_python_can_be_interrupted() -> None:
    """They come from `worker_threads`, which stops them when their caller is interrupted.

    That of a comparison in the browser has no caller that waits: it is cancelled from the page, and ends with the app.
    Those of the service run as long as it does, and are stopped when it is closed.
    """
    package = CPP.parent / "src" / "bayesbox"
    found = {path for path in package.rglob("*.py") if re.search(r"PoolExecutor\b|\bThread\(", path.read_text())}
    compared = package / "app" / "compared.py"
    service = {package / "serve" / each for each in ("http/service.py", "http/workers.py", "store/durable.py")}
    assert found == {compared, package / "source" / "pool.py", *service}
    assert len(re.findall(r"\bThread\(", compared.read_text())) == compared.read_text().count("daemon=True") == 1


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_every_unit_is_built(folder: str) -> None:
    named = set(re.findall(rf"cpp/{folder}/(\w+\.cpp)", UNITS.read_text()))
    assert {path.name for path in sources(folder) if path.suffix == ".cpp"} == named


@pytest.mark.parametrize(
    "line",
    [
        "#include <nanobind/nanobind.h>",
        "#include <nanobind/stl/string.h>",
        "# include <Python.h>",
        "nb::object found;",
        "nanobind::module_& m",
        "PyObject* list = nullptr;",
        "PyErr_Clear();",
    ],
)
def test_a_line_that_knows_python_is_found(line: str) -> None:
    header = (CPP / "core" / "column.hpp").read_text()
    assert not knows_python(header)
    assert knows_python(f"{header}\n{line}\n")


@pytest.mark.parametrize(
    ("folder", "include"),
    [
        ("core", "table/count.hpp"),
        ("text", "mail/message.hpp"),
        ("table", "network/junction.hpp"),
        ("chain", "bind/buffer.hpp"),
        ("network", "../core/column.hpp"),
        ("tree", "trees.hpp"),
    ],
)
def test_an_include_from_above_is_found(folder: str, include: str) -> None:
    assert list(forbidden_includes(folder, f'#include <vector>\n#include "{include}"\n')) == [include]
