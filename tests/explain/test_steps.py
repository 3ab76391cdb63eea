"""The work is shown in every form without loss: it fits, it escapes, it says what the model says."""

import json
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from tests.explain.latex import check_latex

import bayesbox as bb
from bayesbox.explain.steps import Cell, Row, Step, Work, line
from bayesbox.explain.work_latex import formula

HOSTILE = "<script>alert(1)</script>\\input{x}$_^&%#~{\n\x1b[2J\"'|"


class Tags(HTMLParser):
    """The tags that are opened, and the text between them; every tag must be closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag != "meta":
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def tennis() -> bb.NaiveBayes:
    rows = {
        "outlook": ["sunny", "sunny", "overcast", "rainy", "rainy", "rainy", "overcast"],
        "windy": [False, True, False, False, False, True, True],
    }
    return bb.NaiveBayes().fit(rows, ["no", "no", "yes", "yes", "yes", "no", "yes"])


def test_the_steps_have_their_names_and_exact_values():
    work = tennis().work({"outlook": "sunny", "windy": True})
    assert [step.name for step in work.steps] == ["prior", "likelihood", "joint", "evidence", "posterior", "decision"]
    prior, likelihood = (work.step(name) for name in ("prior", "likelihood"))
    assert [cell.value for cell in prior.rows[0].cells] == [Fraction(3, 7), Fraction(4, 7)]
    assert str(likelihood.rows[0].cells[1]) == "(0 + 1)/(4 + 3) = 1/7 = 0.1428571"
    no, yes = Fraction(3, 6) * Fraction(3, 5), Fraction(1, 7) * Fraction(2, 6)
    assert [cell.value for cell in likelihood.rows[-1].cells] == [no, yes]
    evidence = Fraction(3, 7) * no + Fraction(4, 7) * yes
    assert work.step("evidence").rows[0].cells[0].value == evidence
    assert work.step("posterior").rows[0].cells[0].value == Fraction(3, 7) * no / evidence


def test_json_has_fractions_and_numbers():
    clf = tennis()
    found = json.loads(json.dumps(clf.work({"outlook": "sunny"}).to_dict(), allow_nan=False))
    cell = found["steps"][0]["rows"][0]["cells"][0]
    assert cell == {"formula": "3/7", "fraction": "3/7", "value": 3 / 7, "text": "3/7 = 0.4285714"}
    assert found["posterior"]["no"] == pytest.approx(clf.predict_proba({"outlook": "sunny"})[0, 0], abs=1e-12)
    assert found["class"] == "no"


def test_the_odds_are_those_of_the_class_against_another():
    clf = bb.NaiveBayes(smoothing="mle").fit({"x": list("aabbbccc")}, list("pqppqrrr"))
    told = [str(row) for row in clf.work({"x": "b"}).step("decision").rows]
    assert told == ["odds p : q = 2", "so the class is p"]
    told = [str(row) for row in clf.work({"x": "b"}, against="r").step("decision").rows]
    assert told == ["odds p : r = infinite: the joint of r is 0", "so the class is p"]


@pytest.mark.parametrize("classes", [2, 3, 12])
@pytest.mark.parametrize("width", [40, 100])
def test_text_fits_its_width_and_loses_no_number(classes: int, width: int):
    names = tuple(f"a class with a rather long name, the {place}." for place in range(classes))
    cells = tuple(Cell(f"({place} + 1)/(123456 + 7)", Fraction(place + 1, 123463)) for place in range(classes))
    rows = (Row("P(a column with a long name=a level with a long name | class)", cells),)
    work = Work(
        "t" * 150, (Step("likelihood", rows, names), Step("evidence", (line("P(x)", "1 + " * 40 + "1", 41.0),)))
    )
    text = work.text(width)
    assert max(map(len, text.splitlines())) <= width
    for cell in cells:
        assert cell.decimal() in text
    assert all(name.split()[-1] in text for name in names)


def test_hostile_names_stay_text():
    clf = bb.NaiveBayes().fit({HOSTILE: [HOSTILE, "b", "b", HOSTILE]}, [HOSTILE, HOSTILE, "safe", "safe"])
    work = clf.work({HOSTILE: HOSTILE})
    page = Tags(work.html())
    assert not page.opened
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.text
    assert "prefers-color-scheme: dark" in work.html()
    check_latex(work.latex())
    assert "\x1b" not in str(work)
    assert work._repr_html_().startswith('<div class="bayes-work">')


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        ("1/2 x 1/3 + 2/5", r"\frac{1}{2} \times \frac{1}{3} + \frac{2}{5}"),
        ("[(5 + 1)/(8 + 6)]^3", r"\left(\frac{5 + 1}{8 + 6}\right)^{3}"),
        ("N(23 | 27.5, 10.3)", r"\text{N}(23 \mid 27.5, 10.3)"),
        ("joint: P(class) P(x | class)", r"\text{joint: }P(\text{class}) \, P(\text{x} \mid \text{class})"),
        ("0.5/11 instead of 0/5", r"\text{0.5/11 instead of 0/5}"),
        ("a_b", r"\text{a\_b}"),
    ],
)
def test_formulas_in_latex(shown: str, written: str):
    assert formula(shown) == written
    check_latex(f"${written}$")


def test_the_work_is_that_of_one_row():
    with pytest.raises(bb.BadData) as caught:
        tennis().work({"outlook": ["sunny", "rainy"], "windy": [True, False]})
    assert caught.value.found == "2 rows"


def test_given_tables_and_priors_are_exact():
    tables = {"x": {"p": {"a": 1 / 3, "b": 2 / 3}, "q": {"a": 0.123456789012345, "b": 1 - 0.123456789012345}}}
    clf = bb.NaiveBayes.from_tables(prior={"p": 1 / 7, "q": 6 / 7}, tables=tables)
    work = clf.work({"x": "a"})
    assert work.step("prior").rows[0].cells[0].value == Fraction(1, 7)
    assert list(work.posterior) == pytest.approx(clf.predict_proba({"x": ["a"]})[0].tolist(), abs=1e-15)
