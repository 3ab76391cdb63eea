"""The customer of a shop and four radio stations: a model of given probabilities, without data."""

import itertools
import math
from fractions import Fraction

import pytest
from tests.oracle.near import joint, near, normalised, posterior

import bayesbox as bb

LIKES = {
    "young": [Fraction(95, 100), Fraction(5, 100), Fraction(2, 100), Fraction(20, 100)],
    "old": [Fraction(3, 100), Fraction(82, 100), Fraction(34, 100), Fraction(92, 100)],
}
PRIORS = {"young": Fraction(4, 10), "old": Fraction(6, 10)}
STATIONS = ["Radio1", "Radio2", "Radio3", "Radio4"]
TABLES = {
    station: {age: {"like": float(p[i]), "dislike": float(1 - p[i])} for age, p in LIKES.items()}
    for i, station in enumerate(STATIONS)
}


@pytest.fixture(scope="module")
def clf():
    return bb.NaiveBayes.from_tables(prior={age: float(p) for age, p in PRIORS.items()}, tables=TABLES)


@pytest.mark.parametrize("likes", list(itertools.product([True, False], repeat=4)))
def test_joint_given_the_age_is_the_product(clf, likes):
    customer = {station: "like" if one else "dislike" for station, one in zip(STATIONS, likes, strict=True)}
    given = {age: math.prod(p if one else 1 - p for p, one in zip(LIKES[age], likes, strict=True)) for age in LIKES}
    found = joint(clf, customer)
    for age, product in given.items():
        assert found[age] / float(PRIORS[age]) == near(product)
    exact = normalised({age: product * PRIORS[age] for age, product in given.items()})
    assert posterior(clf, customer) == {age: near(p) for age, p in exact.items()}


def test_an_unasked_station_is_left_out(clf):
    assert joint(clf, {"Radio1": "like"}) == {age: near(PRIORS[age] * LIKES[age][0]) for age in PRIORS}
