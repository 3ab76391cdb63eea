"""Shapes, colours and sizes: eleven rows, three categories, and what each rule does to a zero."""

from fractions import Fraction

import pytest
from tests.oracle.near import joint, near, posterior
from tests.tables import SHAPES

import bayesbox as bb

MEDIUM = {"shape": "circle", "colour": "blue", "size": "medium"}
SMALL = MEDIUM | {"size": "small"}


def test_circle_blue_medium_without_smoothing():
    clf = bb.NaiveBayes(smoothing="mle").fit(*SHAPES)
    assert joint(clf, MEDIUM) == {"+": near(Fraction(9, 275)), "-": near(Fraction(1, 99))}
    assert posterior(clf, MEDIUM) == {"+": near(Fraction(81, 106)), "-": near(Fraction(25, 106))}
    assert clf.predict([MEDIUM]).tolist() == ["+"]


def test_a_zero_decides_without_smoothing():
    clf = bb.NaiveBayes(smoothing="mle").fit(*SHAPES)
    assert posterior(clf, SMALL) == {"+": 0.0, "-": 1.0}
    assert joint(clf, SMALL)["+"] == 0.0


@pytest.mark.parametrize(
    ("rule", "plus", "minus", "rounded"),
    [
        (bb.rules.ReplaceZero("half"), Fraction(3, 1210), Fraction(1, 33), 0.0756303),
        (bb.rules.ReplaceZero("prior"), Fraction(3, 1331), Fraction(1, 33), 0.0692308),
        (bb.rules.AsWritten(1, 1), Fraction(5, 297), Fraction(216, 3773), 0.2272426),
    ],
    ids=["half", "prior", "as written"],
)
def test_a_zero_corrected(rule, plus, minus, rounded):
    clf = bb.NaiveBayes(smoothing=rule).fit(*SHAPES)
    assert joint(clf, SMALL) == {"+": near(plus), "-": near(minus)}
    found = posterior(clf, SMALL)["+"]
    assert found == near(plus / (plus + minus))
    assert found == pytest.approx(rounded, abs=5e-8)


def test_counts_behind_the_independence_questions():
    """P(red) = 6/11 and P(large) = 4/11; given +, 2/5 and 2/5: the marginals stand in the book."""
    book = bb.NaiveBayes().fit(*SHAPES).book_
    colour, size = book["colour"], book["size"]
    red, large = colour.levels.index("red"), size.levels.index("large")
    assert (Fraction(int(colour.counts[:, red].sum()), 11), Fraction(int(size.counts[:, large].sum()), 11)) == (
        Fraction(6, 11),
        Fraction(4, 11),
    )
    assert (Fraction(int(colour.counts[0, red]), 5), Fraction(int(size.counts[0, large]), 5)) == (
        Fraction(2, 5),
        Fraction(2, 5),
    )
