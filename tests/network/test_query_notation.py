"""The notation: what it means, that it can be written back, and how it says what is wrong."""

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.refusal import refusal

from bayesbox.errors import BadOption
from bayesbox.network.query.notation import (
    DECIMAL,
    Independence,
    Query,
    Term,
    Virtual,
    number_text,
    parse,
    parse_query,
    parse_terms,
)

SEVEN = Fraction(7, 10)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("P(B)", Query((Term("B"),))),
        ("P(B|J=true,M=true)", Query((Term("B"),), (Term("J", "true"), Term("M", "true")))),
        ("  P ( B | J = true ) ", Query((Term("B"),), (Term("J", "true"),))),
        ("P(colour=red, size | class=+)", Query((Term("colour", "red"), Term("size")), (Term("class", "+"),))),
        ("P(income=<=50K)", Query((Term("income", "<=50K"),))),
        ("P(capital gain<=50K)", Query((Term("capital gain<", "50K"),))),
        ("P(marital-status=Never-married)", Query((Term("marital-status", "Never-married"),))),
        ("P(start=12:30 | url=a=b~c)", Query((Term("start", "12:30"),), (Term("url", "a=b~c"),))),
        (r'P("a, \"b\"\\\n"="x)|y")', Query((Term('a, "b"\\\n', "x)|y"),))),
        (r"P(path=C:\new)", Query((Term("path", r"C:\new"),))),
        ('P(a="")', Query((Term("a", ""),))),
        ("P(a_|_b=1)", Query((Term("a_"),), (Term("_b", "1"),))),
        ("P(a_|_ b=1)", Query((Term("a_"),), (Term("_ b", "1"),))),
        ("P(a _|_b=1)", Query((Term("a _"),), (Term("_b", "1"),))),
        ("P(P=P)", Query((Term("P", "P"),))),
        ("P(a|D~0.7)", Query((Term("a"),), (Virtual("D", SEVEN),))),
        ("P(a|D ~ .7, D~7e-1, E~7/10)", Query((Term("a"),), tuple(Virtual(n, SEVEN) for n in "DDE"))),
        (
            'P(a | D~(yes:0.7, "n:o" : 3), b=1)',
            Query((Term("a"),), (Virtual("D", (("yes", SEVEN), ("n:o", Fraction(3)))), Term("b", "1"))),
        ),
        ("colour _|_ size", Independence((Term("colour"),), (Term("size"),))),
        (
            "colour=red _|_ size=large | class=+",
            Independence((Term("colour", "red"),), (Term("size", "large"),), (Term("class", "+"),)),
        ),
        ("a, b\t_|_\nc=1,d | e, f=2", Independence(parse_terms("a,b"), parse_terms("c=1,d"), parse_terms("e,f=2"))),
        ("a=x_|_y _|_ b", None),
        ("P _|_ Q", Independence((Term("P"),), (Term("Q"),))),
    ],
)
def test_meaning(text, question):
    if question is None:
        with pytest.raises(BadOption):
            parse(text)
    else:
        assert parse(text) == question


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "empty"),
        ("P()", 3, "a name"),
        ("P(B | J=)", 9, "a value"),
        ("P(B | J)", 8, "`=`, `~` or `:=`"),
        ("P(B | J=1", 10, "`,` or `)`; the text ends"),
        ("P(B", 4, "`,`, `|` or `)`"),
        ("P(B) C", 6, "the end of the question"),
        ("P(x=f(x))", 6, "a value without quotes continues"),
        ('P(x=5"4)', 6, "a value without quotes continues"),
        ('P("x)', 3, "not closed"),
        (r'P("a\d")', 6, "after the backslash"),
        ("P(D~0.7)", 4, "`,`, `|` or `)`"),
        ("P(a | D~1.5)", 9, "from 0 to 1"),
        ("P(a | D~-1)", 9, "number"),
        ("P(a | D~1/0)", 9, "number"),
        ("P(a | D~(yes 0.7))", 17, "`:`"),
        ("P(a | D~(yes:0, no:0.0))", 9, "above 0"),
        ("P(a | D~(yes:1, yes:2))", 9, "given twice"),
        ("P(a, b, a)", 10, "occurs twice"),
        ("P(a _|_ b)", 5, "`,`, `|` or `)`"),
        ("a _|_", 6, "a name"),
        ("a=1", 4, "`_|_` between spaces"),
        ("a_|_b", 3, "`_|_` between spaces"),
        ("a _|_ b | c~0.5", 12, "the end of the question"),
        ("a _|_ b _|_ c", 9, "the end of the question"),
    ],
)
def test_what_is_wrong_and_where(text, column, expected):
    with pytest.raises(BadOption) as caught:
        parse(text)
    message = str(caught.value)
    assert message.startswith(f"column {column} of {text!r}: ")
    assert expected in message


def test_a_long_text_is_cut_around_the_place():
    text = "P(" + ", ".join(f"column{i}" for i in range(100)) + " | x)"
    with pytest.raises(BadOption) as caught:
        parse(text)
    assert str(caught.value).startswith(f"column {len(text)} of '...")
    assert " | x)': expected `=`, `~` or `:=`" in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("thing", [None, 3, b"P(a)"])
def test_no_text(thing):
    with pytest.raises(BadOption):
        parse(thing)


def test_a_query_is_wanted():
    with refusal(BadOption, found="a _|_ b"):
        parse_query("a _|_ b")


def test_names_and_events():
    assert parse("P(a=1, b | c=2, a=3)").names == ["a", "b", "c"]
    assert parse("a _|_ b, c | a=1").names == ["a", "b", "c"]
    assert parse("P(a=1, b=2)").is_event
    assert not parse("P(a=1, b)").is_event


WORDS = st.one_of(
    st.sampled_from(["colour", "<=50K", "_", "_|_", "a _|_ b", "P(", " x", "", "\\", '"', "\n"]), st.text()
)
TERMS = st.builds(Term, WORDS, st.none() | WORDS)
EVENTS = st.builds(Term, WORDS, WORDS)
NUMBERS = st.one_of(
    st.fractions(0, 1),
    st.floats(0, 1).map(repr).filter(DECIMAL.fullmatch).map(Fraction),
    st.sampled_from(["0", "1", "1e-999", "0." + "1" * 40 + "e-999"]).map(Fraction),
)
LIKELIHOODS = st.lists(
    st.tuples(WORDS, NUMBERS | st.sampled_from([Fraction(10**15), Fraction(10**999)])),
    min_size=1,
    max_size=3,
    unique_by=lambda state: state[0],
).filter(lambda states: any(number for _, number in states))
VIRTUALS = st.builds(Virtual, WORDS, NUMBERS | LIKELIHOODS.map(tuple))


def some(items, least=1):
    return st.lists(items, min_size=least, max_size=3).map(tuple)


TARGETS = st.lists(TERMS, min_size=1, max_size=3, unique_by=lambda term: term.name).map(tuple)
QUERIES = st.builds(Query, TARGETS, some(EVENTS | VIRTUALS, 0))
INDEPENDENCES = st.builds(Independence, some(TERMS), some(TERMS), some(TERMS, 0))


@given(question=QUERIES | INDEPENDENCES)
@settings(max_examples=300)
def test_written_and_read_again(question):
    assert parse(str(question)) == question


PIECES = st.sampled_from(
    ["P(", "P", "(", ")", "|", ",", "=", "~", ":", '"', "\\", "_|_", " ", "a", "b", "0.7", "1/0", "9"]
)


@given(text=st.text() | st.lists(PIECES, max_size=20).map("".join))
@example("P(a|b~" + "9" * 5000 + ")")
@example("P(a|b~1e999999999)")
@example("P(a|b~" + "9" * 1300 + "/1)")
@settings(max_examples=400)
def test_any_text_is_read_or_refused(text):
    read = read_or_refused(text)
    if isinstance(read, str):
        assert read.startswith("column ")
    else:
        assert parse(str(read)) == read


def read_or_refused(text):
    try:
        return parse(text)
    except BadOption as error:
        return str(error)


@pytest.mark.parametrize(
    ("number", "text"),
    [("0.7", "0.7"), ("1/3", "1/3"), ("2", "2"), ("1e-5", "1e-05"), ("1e400", "1" + "0" * 400 + "/1")],
)
def test_numbers_are_written_exactly(number, text):
    assert number_text(Fraction(number)) == text
