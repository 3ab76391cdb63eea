"""Car insurance: an age and a car, a declared level that never occurs, and a class whose ages are all equal."""

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.exact_normal import normal_pdf
from tests.oracle.near import joint, near, posterior
from tests.tables import CARS

import bayesbox as bb

CAR = bb.Category(["sports", "vintage", "suv", "truck"])
ASKED = {"age": 23, "car": "truck"}
AGES = {"H": [20, 45, 20, 25], "L": [25, 25]}


@pytest.fixture
def point_mass():
    return bb.NaiveBayes(columns={"car": CAR, "age": bb.Real(floor=0)}).fit(*CARS)


def test_age(point_mass):
    age = point_mass.book_["age"]
    assert age.mean.tolist() == [27.5, 25.0]
    assert age.variance.tolist() == [float(Fraction(425, 4)), 0.0]
    assert age.std.tolist() == [math.sqrt(106.25), 0.0]
    assert age.std[0] == pytest.approx(10.3078, abs=5e-5)


def test_density_of_the_age():
    clf = bb.NaiveBayes(columns={"age": bb.Real(floor=0)}).fit({"age": CARS.X["age"]}, CARS.y)
    density = normal_pdf(Fraction(23), Fraction(55, 2), Fraction(425, 4))
    assert float(density) == pytest.approx(0.0351852, abs=5e-8)
    assert joint(clf, {"age": 23}) == {"H": near(Fraction(4, 6) * Fraction(density)), "L": 0.0}


def test_laplace_over_the_declared_domain():
    clf = bb.NaiveBayes(columns={"car": CAR}).fit({"car": CARS.X["car"]}, CARS.y)
    expected = {"sports": (2, 3), "vintage": (2, 1), "suv": (3, 1), "truck": (1, 1)}
    for car, (high, low) in expected.items():
        assert joint(clf, {"car": car}) == {
            "H": near(Fraction(4, 6) * Fraction(high, 8)),
            "L": near(Fraction(2, 6) * Fraction(low, 6)),
        }


def test_a_truck_at_23(point_mass):
    given = Fraction(normal_pdf(Fraction(23), Fraction(55, 2), Fraction(425, 4))) * Fraction(1, 8)
    assert float(given) == pytest.approx(0.00439815, abs=5e-9)
    assert float(given * Fraction(4, 6)) == pytest.approx(0.00293210, abs=5e-9)
    assert joint(point_mass, ASKED) == {"H": near(given * Fraction(4, 6)), "L": 0.0}
    assert posterior(point_mass, ASKED) == {"H": 1.0, "L": 0.0}
    assert math.exp(point_mass.log_density([ASKED])[0]) == near(given * Fraction(4, 6))


def test_at_the_point_mass_itself(point_mass):
    assert posterior(point_mass, ASKED | {"age": 25}) == {"H": 0.0, "L": 1.0}


@pytest.mark.parametrize(
    "counts",
    [
        {"sports": 1, "vintage": 1, "suv": 1, "truck": 1},
        {"sports": 4, "vintage": 1, "suv": 2, "truck": 3},
        {"suv": 2, "truck": 1},
    ],
)
def test_prior_counts_by_value(counts):
    seen = {"H": {"sports": 1, "vintage": 1, "suv": 2, "truck": 0}, "L": {"sports": 2}}
    clf = bb.NaiveBayes(smoothing=bb.rules.PriorCounts(counts)).fit({"car": CARS.X["car"]}, CARS.y)
    for car in CAR.levels:
        exact = {
            c: Fraction(n, 6) * Fraction(seen[c].get(car, 0) + counts.get(car, 0), n + sum(counts.values()))
            for c, n in {"H": 4, "L": 2}.items()
        }
        assert joint(clf, {"car": car}) == {c: near(p) for c, p in exact.items()}


def test_the_default_floor_makes_a_class_improbable_not_impossible():
    clf = bb.NaiveBayes(numeric="gaussian", columns={"car": CAR}).fit(*CARS)
    whole = [Fraction(age) for ages in AGES.values() for age in ages]
    mean = sum(whole) / 6
    variance = sum((age - mean) ** 2 for age in whole) / 6
    floor = Fraction(1, 10_000) * variance
    exact = {
        "H": Fraction(4, 6) * Fraction(1, 8) * Fraction(normal_pdf(Fraction(23), Fraction(55, 2), Fraction(425, 4))),
        "L": Fraction(2, 6) * Fraction(1, 6) * Fraction(normal_pdf(Fraction(23), Fraction(25), floor)),
    }
    found = clf.joint_log_proba([ASKED])[0]
    logs = [exact[c].numerator / exact[c].denominator for c in "HL"]
    assert found.tolist() == near([math.log(value) for value in logs])
    assert np.isfinite(found).all()
    improbable = posterior(clf, ASKED)["L"]
    assert 0 < improbable < 1e-50
    assert clf.predict([ASKED]).tolist() == ["H"]


def test_nothing_is_nan_by_default():
    clf = bb.NaiveBayes(columns={"car": CAR}).fit(*CARS)
    rows = [{"age": age, "car": car} for age in (-1e150, 0, 23, 25, 1e150, None) for car in (*CAR.levels, None)]
    p = clf.predict_proba(rows)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
