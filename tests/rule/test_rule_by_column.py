"""A smoothing rule of one column, in place of that of the model."""

from fractions import Fraction

import numpy as np
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadOption, UnknownColumn

OUTLOOK = {"s": "sunny", "o": "overcast", "r": "rainy"}
WARMTH = {"h": "hot", "m": "mild", "c": "cool"}
WEATHER = {
    "outlook": [OUTLOOK[each] for each in "ssorrrossrsoor"],
    "temperature": [WARMTH[each] for each in "hhhmcccmcmmmhm"],
    "windy": [each == "t" for each in "ftfffttfffttft"],
}
PLAY = ["yes" if each == "y" else "no" for each in "nnyyynynyyyyyn"]
ROW = [{"outlook": "overcast", "windy": True}]


def shares(clf, row):
    return np.exp(clf.joint_log_proba(row))[0]


def printed(m):
    """(N_ic + m) / (N_c + m / p) as a text prints its m-estimate: p is 1/3 for outlook, 1/2 for windy."""
    return {
        "outlook": bb.Category(smoothing=bb.rules.AsWritten(m, 3 * m)),
        "windy": bb.Flag(smoothing=bb.rules.AsWritten(m, 2 * m)),
    }


def test_the_m_estimate_as_printed_with_another_p_for_each_column():
    clf = bb.NaiveBayes(smoothing="mle", columns=printed(1)).fit(WEATHER, PLAY)
    no = Fraction(5, 14) * Fraction(0 + 1, 5 + 3) * Fraction(3 + 1, 5 + 2)
    yes = Fraction(9, 14) * Fraction(4 + 1, 9 + 3) * Fraction(3 + 1, 9 + 2)
    assert shares(clf, ROW).tolist() == pytest.approx([float(no), float(yes)], rel=1e-14)


def test_columns_without_a_rule_take_that_of_the_model():
    both = bb.NaiveBayes(smoothing="m:2", columns={"outlook": bb.Category(smoothing="mle")}).fit(WEATHER, PLAY)
    same = bb.NaiveBayes(smoothing="m:2", column_smoothing={"outlook": "mle"}).fit(WEATHER, PLAY)
    row = [{"outlook": "sunny", "temperature": "cool"}]
    no = Fraction(5, 14) * Fraction(3, 5) * (Fraction(1) + Fraction(2, 3)) / 7
    assert shares(both, row)[0] == pytest.approx(float(no), rel=1e-14)
    np.testing.assert_array_equal(shares(both, row), shares(same, row))
    assert both.book_.digest() == same.book_.digest() == bb.NaiveBayes().fit(WEATHER, PLAY).book_.digest()


@pytest.mark.parametrize(
    "given",
    [{"columns": printed(2)}, {"column_smoothing": {"outlook": bb.rules.PriorCounts({"sunny": 2}), "windy": "m:3"}}],
)
def test_saved_and_left_out_one_at_a_time(given, tmp_path):
    clf = bb.NaiveBayes(unseen="smooth", **given).fit(WEATHER, PLAY)
    clf.save(tmp_path / "weather.bayes")
    again = bb.load(tmp_path / "weather.bayes")
    np.testing.assert_array_equal(again.predict_proba(WEATHER), clf.predict_proba(WEATHER))
    assert again.classifier_.rules == clf.classifier_.rules
    found = clf.leave_one_out(WEATHER, PLAY)
    for place in range(len(PLAY)):
        others = {name: values[:place] + values[place + 1 :] for name, values in WEATHER.items()}
        refit = bb.NaiveBayes(unseen="smooth", **given).fit(others, PLAY[:place] + PLAY[place + 1 :])
        row = {name: values[place : place + 1] for name, values in WEATHER.items()}
        np.testing.assert_allclose(found[place], refit.predict_proba(row)[0], rtol=1e-12)


def test_prior_counts_of_all_columns_do_not_leak_into_others():
    rule = bb.rules.PriorCounts({"sunny": 2, "rainy": 1, "overcast": 1})
    with refusal(BadOption, where="smoothing"):
        bb.NaiveBayes(smoothing=rule).fit(WEATHER, PLAY)
    with refusal(BadOption, where="smoothing"):
        bb.train({**WEATHER, "play": PLAY}, target="play", model=bb.NaiveBayes(smoothing=rule))
    clf = bb.NaiveBayes(columns={"outlook": bb.Category(smoothing=rule)}).fit(WEATHER, PLAY)
    network = clf.to_network("play")
    assert list(network.states("temperature")) == ["cool", "hot", "mild"]


def test_a_rule_of_a_column_that_is_not_there_is_refused():
    with refusal(UnknownColumn, column="outlok"):
        bb.NaiveBayes(column_smoothing={"outlok": "m:2"}).fit(WEATHER, PLAY)


@pytest.mark.parametrize("estimator", [bb.TAN, bb.AODE, bb.FullBayes])
def test_models_with_one_rule_refuse_another(estimator):
    with refusal(BadOption):
        estimator(columns={"outlook": bb.Category(smoothing="m:2")}).fit(WEATHER, PLAY)


def test_the_table_of_the_column_has_its_rule():
    plain = bb.NaiveBayes().fit(WEATHER, PLAY)
    own = bb.NaiveBayes(column_smoothing={"outlook": "m:2"}).fit(WEATHER, PLAY)
    assert own.classifier_.model.conditional("outlook").parameters()["overcast"][0] == pytest.approx((2 / 3) / 7)
    assert plain.classifier_.model.conditional("outlook").parameters()["overcast"][0] == pytest.approx(1 / 8)
