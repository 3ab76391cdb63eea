"""Play tennis: fourteen days of weather."""

from fractions import Fraction

import pytest
from tests.oracle.near import joint, near, posterior
from tests.tables import TENNIS

import bayesbox as bb

DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
EACH = {
    "yes": {
        "outlook": Fraction(2, 9),
        "temperature": Fraction(3, 9),
        "humidity": Fraction(3, 9),
        "windy": Fraction(3, 9),
    },
    "no": {
        "outlook": Fraction(3, 5),
        "temperature": Fraction(1, 5),
        "humidity": Fraction(4, 5),
        "windy": Fraction(3, 5),
    },
}
PRIOR = {"yes": Fraction(9, 14), "no": Fraction(5, 14)}


@pytest.fixture(scope="module")
def clf():
    return bb.NaiveBayes(smoothing="mle").fit(*TENNIS)


@pytest.mark.parametrize("column", DAY)
def test_each_value(clf, column):
    found = joint(clf, {column: DAY[column]})
    assert found == {label: near(PRIOR[label] * EACH[label][column]) for label in PRIOR}


def test_sunny_cool_high_windy(clf):
    yes, no = Fraction(1, 189), Fraction(18, 875)
    assert joint(clf, DAY) == {"yes": near(yes), "no": near(no)}
    assert posterior(clf, DAY) == {"yes": near(yes / (yes + no)), "no": near(no / (yes + no))}
    assert posterior(clf, DAY)["no"] == pytest.approx(0.7954173, abs=5e-8)
    assert clf.predict([DAY]).tolist() == ["no"]


def test_windy_as_bool():
    windy = [value == "true" for value in TENNIS.X["windy"]]
    clf = bb.NaiveBayes(smoothing="mle").fit(TENNIS.X | {"windy": windy}, TENNIS.y)
    assert joint(clf, DAY | {"windy": True}) == {"yes": near(Fraction(1, 189)), "no": near(Fraction(18, 875))}
