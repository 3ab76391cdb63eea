"""`bayes query`: what it prints, and how it ends."""

import json
import subprocess
import sys

import pytest
from tests.tables import SHAPES

from bayesbox.cli.main import run


@pytest.fixture
def shapes(tmp_path):
    columns = SHAPES.X | {"class": SHAPES.y}
    rows = zip(*columns.values(), strict=True)
    path = tmp_path / "shapes.csv"
    path.write_text("\n".join([",".join(columns), *(",".join(row) for row in rows)]) + "\n")
    return str(path)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,income,smoker,n\n34,<=50K,1,1\n34.0,>50K,0,2\n?,>50K,1,4\n20,<=50K,1,0.5\n")
    return str(path)


@pytest.fixture
def asked(capsys):
    def ask(*arguments, code=0):
        assert run(["query", *arguments]) == code
        return capsys.readouterr()

    return ask


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("P(colour=red)", "6/11 = 0.5454545"),
        ("P(size=large)", "4/11 = 0.3636364"),
        ("P(colour=red, size=large)", "2/11 = 0.1818182"),
        ("P(colour=red | class=+)", "2/5 = 0.4"),
        ("P(colour=red, size=large | class=+)", "1/5 = 0.2"),
        ("P(size=small | class=+)", "0"),
        ("P(colour=red | colour=red)", "1"),
    ],
)
def test_a_figure(asked, shapes, question, line):
    said = asked(shapes, question)
    assert said.out == line + "\n"
    assert said.err == ""


def test_a_table(asked, shapes):
    assert asked(shapes, "P(size | class=+)").out.splitlines() == [
        "  size    fraction  probability",
        "  large        2/5  0.4",
        "  medium       3/5  0.6",
        "  small          0  0",
    ]
    assert asked(shapes, "P(colour, class)").out.splitlines()[1:3] == [
        "  blue    +          3/11  0.2727273",
        "  blue    -          2/11  0.1818182",
    ]


def test_independence(asked, shapes):
    first, *tests = asked(shapes, "colour=red _|_ size=large").out.splitlines()
    assert (
        first == "not independent: P(colour=red, size=large) = 2/11, P(colour=red) P(size=large) = 6/11 x 4/11 = 24/121"
    )
    assert tests == [
        "  test        statistic  degrees of freedom         p",
        "  chi-square   0.052381                   1  0.818971",
        "  G           0.0523123                   1  0.819087",
    ]
    assert asked(shapes, "colour=red _|_ size=large | class=+").out.splitlines()[0] == (
        "not independent: P(colour=red, size=large | class=+) = 1/5, "
        "P(colour=red | class=+) P(size=large | class=+) = 2/5 x 2/5 = 4/25"
    )


def test_json(asked, shapes):
    assert json.loads(asked(shapes, "P(colour=red|class=+)", "--json").out) == {
        "question": "P(colour=red | class=+)",
        "fraction": "2/5",
        "probability": 0.4,
        "given": 5,
        "counted": 11,
        "left_out": 0,
    }
    assert json.loads(asked(shapes, "P(colour|class=+)", "--json").out) == {
        "question": "P(colour | class=+)",
        "columns": ["colour"],
        "rows": [
            {"levels": ["blue"], "fraction": "3/5", "probability": 0.6},
            {"levels": ["red"], "fraction": "2/5", "probability": 0.4},
        ],
        "given": 5,
        "counted": 11,
        "left_out": 0,
    }
    found = json.loads(asked(shapes, "colour _|_ size | class", "--json").out)
    keys = ["question", "independent", "joint", "product", "parts", "chi_square", "g", "counted", "left_out"]
    assert list(found) == keys
    assert found["independent"] is False
    assert found["joint"] == {"fraction": "1/6", "probability": 1 / 6}
    assert found["parts"][2] == {"query": "P(size=large | class=-)", "fraction": "1/3", "probability": 1 / 3}
    assert found["chi_square"]["degrees_of_freedom"] == 3
    assert found["chi_square"]["statistic"] == pytest.approx(8 / 9)


def test_options(asked, people):
    said = asked(people, "P(income=<=50K | age=34)", "--na", "?")
    assert (said.out, said.err) == ("1/2 = 0.5\n", "1 row dropped, with a missing value\n")
    assert asked(people, "P(income=<=50K)", "--weight", "n", "--na", "?").out == "1/5 = 0.2\n"
    said = asked(people, "P(income=<=50K | age=34)", "--weight", "n", "--na", "?")
    assert (said.out, said.err) == ("1/3 = 0.3333333\n", "4 rows dropped, with a missing value\n")
    assert asked(people, "P(age=34.0)", "--types", "age=category").out == "1/4 = 0.25\n"
    assert "  true" in asked(people, "P(smoker)", "--types", "smoker=flag").out
    halves = asked(people, "P(income | age=34, smoker=1)", "--weight", "n", "--na", "?", "--json").out
    assert json.loads(halves)["counted"] == 3.5


def test_a_long_fraction_is_left_out_for_the_eye(asked, tmp_path):
    path = tmp_path / "tenths.csv"
    path.write_text("a,w\nx,0.1\ny,0.3\n")
    assert asked(str(path), "P(a=x)", "--weight", "w").out == "0.25\n"
    assert "/" in json.loads(asked(str(path), "P(a=x)", "--weight", "w", "--json").out)["fraction"]


def test_several_files(asked, shapes):
    assert asked(shapes, shapes, "P(colour=red)", "--json").out.count('"counted": 22') == 1


@pytest.mark.parametrize(
    ("question", "code", "message"),
    [
        ("P(shape | size=small, class=+)", 3, "the evidence size=small, class=+ never occurs"),
        ("P(size=small | siz=1)", 3, "no column `siz`. Did you mean `size`?"),
        ("P(size=smal)", 2, "column `size` never has the value `smal`. Did you mean `small`?"),
        ("P(size<=small)", 2, "comparisons are not supported, only equality: `size=value`"),
        ("P(size", 2, "column 7 of 'P(size': expected"),
        ("size _|_ size=small", 2, "`size` occurs twice"),
    ],
)
def test_refused(asked, shapes, question, code, message):
    said = asked(shapes, question, code=code)
    assert said.out == ""
    assert message in said.err
    assert "Traceback" not in said.err
    assert len(said.err.splitlines()) == 1


def test_no_data(asked, shapes):
    assert "pass the data, then the question" in asked(shapes, code=2).err
    assert "Missing argument" in asked(code=2).err
    assert "file not found" in asked("nowhere.csv", "P(a)", code=74).err


def test_the_question_is_read_before_the_data(asked):
    assert "expected" in asked("nowhere.csv", "P(a", code=2).err


def test_no_heavy_import(shapes):
    code = (
        "import sys; from bayesbox.cli.main import run;"
        f"assert run(['query', {shapes!r}, 'colour=red _|_ size=large | class=+']) == 0;"
        f"assert run(['query', {shapes!r}, 'P(colour | class=+)']) == 0;"
        "sys.exit([m for m in ('scipy', 'sklearn') if m in sys.modules] or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_fractions_too_long_to_read_have_no_column(bayes, folder):
    sixty = "0.123456789012345, 0.876543210987655"
    (folder / "long.bif").write_text(
        "network long { }\n"
        "variable a { type discrete [ 2 ] { yes, no }; }\nvariable b { type discrete [ 2 ] { yes, no }; }\n"
        f"probability ( a ) {{ table {sixty}; }}\n"
        f"probability ( b | a ) {{ (yes) {sixty}; (no) 0.3333333333333, 0.6666666666667; }}\n"
    )
    assert "fraction" not in bayes("query", "long.bif", "P(a | b=yes)").out
    assert "0.3" in bayes("query", "long.bif", "P(b | a=no)").out


def test_a_table_without_rows(bayes, folder):
    (folder / "none.csv").write_text("colour,size\n")
    assert "none.csv: the data have no rows" in bayes("query", "none.csv", "P(colour)", code=3).err


def test_the_work_of_a_table(asked, shapes):
    question = "colour=red _|_ size=large"
    assert (
        "P(colour=red) P(size=large) = 6/11 x 4/11 = 24/121 = 0.1983471" in asked(shapes, question, "--show-work").out
    )
    found = json.loads(asked(shapes, question, "--show-work", "--json").out)
    assert found["work"]["steps"][2]["rows"][0]["cells"][0]["text"] == "6/11 x 4/11 = 24/121 = 0.1983471"
    assert asked(shapes, question, "--show-work", "--latex").out.startswith("\\noindent")
    assert asked(shapes, "P(colour | class=+)", "--show-work", "--html").out.startswith("<!doctype html>")
    assert "--work-method" in asked(shapes, question, "--show-work", "--work-method", "elimination", code=2).err
