"""The 1-of-M pitfall: an attribute of three states is one category, not three flags."""

import warnings
from fractions import Fraction

import numpy as np
from tests.oracle.near import near, normalised, posterior
from tests.refusal import warning

import bayesbox as bb
from bayesbox.errors import SuspiciousData

STATES = ["a", "a", "a", "b", "c", "a", "b", "b", "c", "c"]
LABELS = ["p"] * 5 + ["q"] * 5
COUNTS = {"p": {"a": 3, "b": 1, "c": 1}, "q": {"a": 1, "b": 2, "c": 2}}


def one_hot(states):
    return {f"is_{level}": [int(state == level) for state in states] for level in "abc"}


def test_a_category_stays_one_column():
    clf = bb.NaiveBayes().fit({"state": STATES}, LABELS)
    assert clf.n_features_in_ == 1
    assert list(clf.book_) == ["state"]
    assert clf.book_["state"].levels == ("a", "b", "c")
    assert clf.explain({"state": ["a"]}).terms.shape == (1, 2, 1)
    for state in "abc":
        exact = normalised({c: Fraction(1, 2) * Fraction(COUNTS[c][state] + 1, 5 + 3) for c in "pq"})
        assert posterior(clf, {"state": state}) == {c: near(p) for c, p in exact.items()}


def test_three_flags_overcount():
    whole = bb.NaiveBayes(smoothing="mle").fit({"state": STATES}, LABELS)
    with warning(SuspiciousData, reason="one-hot", columns=("is_a", "is_b", "is_c")):
        flags = bb.NaiveBayes(smoothing="mle").fit(one_hot(STATES), LABELS)
    folded = bb.NaiveBayes(smoothing="mle", one_hot={"is": ["is_a", "is_b", "is_c"]}).fit(one_hot(STATES), LABELS)
    row = {name: values[0] for name, values in one_hot(["a"]).items()}
    once = normalised({c: Fraction(1, 2) * Fraction(COUNTS[c]["a"], 5) for c in "pq"})
    thrice = normalised(
        {
            c: Fraction(1, 2)
            * Fraction(COUNTS[c]["a"], 5)
            * Fraction(5 - COUNTS[c]["b"], 5)
            * Fraction(5 - COUNTS[c]["c"], 5)
            for c in "pq"
        }
    )
    assert once["p"] == Fraction(3, 4)
    assert thrice["p"] == Fraction(16, 19)
    assert posterior(whole, {"state": "a"})["p"] == near(once["p"])
    assert posterior(flags, row)["p"] == near(thrice["p"])
    assert posterior(folded, row)["p"] == near(once["p"])


def test_among_many_flags_the_names_must_agree_too():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 40)
    noise = {f"w{place}": (rng.random(40) < 0.1).astype(int) for place in range(300)}
    colour = rng.integers(0, 4, 40)
    group = {f"colour_{level}": (colour == level).astype(int) for level in range(4)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bb.NaiveBayes().fit({**noise, **group, "z": labels ^ 1}, labels)
    told = [str(each.message) for each in caught if "one-hot encoded" in str(each.message)]
    assert len(told) == 1
    assert "colour_0, colour_1, colour_2, colour_3 look like one variable, one-hot encoded in 4 columns" in told[0]
