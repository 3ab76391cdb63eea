"""Rows that are to be answered: columns they lack, levels that were never seen, and what is said of both."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.described import command_speaks
from bayesbox.errors import BadData, MissingColumns, UnknownColumn, UnseenLevels
from bayesbox.table.naive.classifier import NaiveClassifier

ROWS = 60
RANDOM = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {
        "tenure": np.arange(ROWS) % 7 + RANDOM.normal(size=ROWS),
        "contract": RANDOM.choice(["Month-to-month", "One year", "Two year"], ROWS),
        "senior": RANDOM.integers(0, 2, ROWS),
        "zip": RANDOM.integers(0, 3, ROWS) * 2,
    }
)
CHURN = np.where(FRAME["tenure"] > 3, "no", "yes")
KINDS = {"zip": "category"}
FORMS = {
    "pandas": lambda frame: frame,
    "polars": pl.DataFrame,
    "arrow": pa.Table.from_pandas,
    "columns": lambda frame: frame.to_dict("list"),
    "dictionary": lambda frame: frame.astype({"contract": "category"}) if "contract" in frame else frame,
}
ESTIMATORS = {
    "naive": bb.NaiveBayes(columns=KINDS),
    "averaged": bb.AveragedNaiveBayes(columns=KINDS),
    "tan": bb.TAN(columns=KINDS),
    "aode": bb.AODE(columns=KINDS),
    "kdb": bb.KDB(1, columns=KINDS),
    "full": bb.FullBayes(columns=KINDS),
    "auto": bb.AutoBayes(budget=0.1, columns=KINDS),
}


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request):
    return ESTIMATORS[request.param].fit(FRAME, CHURN)


@pytest.fixture
def naive():
    return bb.NaiveBayes(columns=KINDS).fit(FRAME, CHURN)


def said(kind, ask, rows):
    with pytest.warns(kind) as warned:
        answer = ask(rows)
    assert len(warned) == 1
    return warned[0].message, answer


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "explain"])
def test_a_renamed_column_is_named_with_the_nearest(fitted, method):
    renamed = FRAME.rename(columns={"tenure": "Tenure"})
    found, _ = said(MissingColumns, lambda rows: getattr(fitted, method)(rows), renamed)
    assert (found.missing, found.nearest) == (("tenure",), {"tenure": "Tenure"})


def test_a_warning_names_the_line_that_asks(naive):
    with pytest.warns(MissingColumns) as warned:
        naive.predict_proba(FRAME.drop(columns="tenure"))
    assert warned[0].filename == __file__


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_frame_warns(naive, form):
    found, without = said(
        MissingColumns, lambda rows: naive.predict_proba(rows), FORMS[form](FRAME.drop(columns="tenure"))
    )
    assert (found.missing, found.nearest) == (("tenure",), {})
    np.testing.assert_array_equal(without, naive.predict_proba(FRAME.assign(tenure=np.nan)))


def test_rows_that_say_what_they_know_do_not_warn(naive):
    assert naive.predict([{"contract": "One year"}, {"senior": 1}]).shape == (2,)
    found, _ = said(MissingColumns, lambda rows: naive.predict(rows), [{"Contract": "One year", "senior": 1}])
    assert found.nearest == {"contract": "Contract"}


def test_no_column_at_all_is_an_error(fitted):
    with refusal(UnknownColumn):
        fitted.predict(FRAME[["tenure"]].rename(columns={"tenure": "weight of the car"}))


def test_absent_columns_can_be_refused(tmp_path):
    strict = bb.NaiveBayes(absent="error").fit(FRAME, CHURN)
    strict.save(tmp_path / "strict.bayes")
    for clf in (strict, bb.load(tmp_path / "strict.bayes")):
        assert clf.absent == "error"
        with refusal(BadData, column="tenure"):
            clf.predict(FRAME.drop(columns="tenure"))
        with refusal(BadData, column="tenure"):
            bb.predict(clf, FRAME.drop(columns="tenure"))
        assert clf.predict([{"contract": "One year"}]).shape == (1,)
    with refusal(bb.BadOption):
        bb.NaiveBayes(absent="raise").fit(FRAME, CHURN)


def test_an_array_of_another_width_is_refused():
    numbers = FRAME[["tenure", "senior"]].to_numpy()
    clf = bb.NaiveBayes().fit(numbers, CHURN)
    with refusal(BadData):
        clf.predict(numbers[:, :1])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "explain"])
def test_unseen_levels_are_ignored_and_counted(fitted, method):
    typo = FRAME.assign(contract=["Monthly", "?", *FRAME["contract"][2:]])
    found, _ = said(UnseenLevels, lambda rows: getattr(fitted, method)(rows), typo)
    assert found.counts == {"contract": 2}
    assert found.examples == {"contract": ("?", "Monthly")}
    assert found.known == {"contract": ("Month-to-month", "One year", "Two year")}
    assert (found.rows, found.missing_marks) == (ROWS, ("?",))
    assert "--na" not in found.remedy
    with command_speaks():
        assert "--na '?'" in found.remedy


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_frame_counts_unseen_levels(naive, form):
    rows = FORMS[form](FRAME.assign(contract="Monthly"))
    found, answer = said(UnseenLevels, lambda asked: naive.predict_proba(asked), rows)
    assert found.counts == {"contract": ROWS}
    np.testing.assert_array_equal(answer, naive.predict_proba(FRAME.assign(contract=None)))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize(
    ("column", "values", "examples"), [("senior", [7, 2], ("2", "7")), ("zip", [3, 9], ("3", "9"))]
)
def test_numbers_that_are_unseen_levels_are_counted_too(naive, dtype, column, values, examples):
    """The core looks such columns up as they are: a hole between the levels, and a value beyond them."""
    rows = FRAME.assign(**{column: [*values, *FRAME[column][2:]]}).astype({column: dtype})
    missing = FRAME.assign(**{column: [np.nan, np.nan, *FRAME[column][2:]]})
    for method in (naive.predict, naive.predict_proba, naive.predict_log_proba):
        found, answer = said(UnseenLevels, lambda asked, method=method: method(asked), rows)
        assert (found.counts, sorted(found.examples[column])) == ({column: 2}, list(examples))
        np.testing.assert_array_equal(answer, method(missing))
    naive.predict_proba(FRAME.astype({column: dtype}))


def test_an_unseen_level_keeps_the_base_rate():
    """By Laplace's rule a typo would turn 73:27 into 50:50."""
    X, y = {"contract": ["Month-to-month"] * 73 + ["One year"] * 27}, ["no"] * 73 + ["yes"] * 27
    clf = bb.NaiveBayes().fit(X, y)
    with pytest.warns(UnseenLevels):
        assert clf.predict_proba({"contract": ["Monthly"]})[0].tolist() == pytest.approx([0.73, 0.27], rel=1e-12)


def test_a_declared_level_has_the_probability_of_a_zero_count():
    clf = bb.NaiveBayes(columns={"car": bb.Category(["suv", "van", "bus"])}).fit({"car": ["suv", "van"]}, ["a", "b"])
    assert np.exp(clf.joint_log_proba({"car": ["bus"]}))[0].tolist() == pytest.approx([1 / 8, 1 / 8])


def test_a_level_that_only_the_dictionary_holds_is_not_counted(naive):
    some = pd.Categorical(["One year"] * ROWS, categories=["Monthly", "One year"])
    naive.predict(FRAME.assign(contract=some))


def test_bb_predict_says_both_once(naive, tmp_path):
    path = tmp_path / "new.csv"
    FRAME.rename(columns={"tenure": "Tenure"}).assign(contract="Monthly").to_csv(path, index=False)
    with pytest.warns(bb.DataWarning) as warned:
        bb.predict(naive, path, proba=True)
    assert [type(each.message) for each in warned] == [MissingColumns, UnseenLevels]
    assert warned[1].message.counts == {"contract": ROWS}


@pytest.mark.parametrize("unseen", ["smooth", "error"])
def test_other_treatments_of_unseen_levels_do_not_warn(unseen):
    clf = bb.NaiveBayes(unseen=unseen).fit(FRAME, CHURN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if unseen == "smooth":
            clf.predict(FRAME.assign(contract="Monthly"))
        else:
            with refusal(bb.errors.UnseenLevel, column="contract"):
                clf.predict(FRAME.assign(contract="Monthly"))


def test_the_sum_of_two_batches():
    one = UnseenLevels({"car": 2}, {"car": ["x", "y"]}, {"car": ["suv"]}, rows=5)
    other = UnseenLevels({"car": 1, "zip": 1}, {"car": ["?"], "zip": ["9"]}, {"car": ["suv"], "zip": ["1"]}, rows=3)
    both = one + other
    assert (both.counts, both.rows) == ({"car": 3, "zip": 1}, 8)
    assert both.examples == {"car": ("?", "x", "y"), "zip": ("9",)}


def test_the_flags_given_as_numbers_are_looked_for_once(monkeypatch):
    flags = pd.DataFrame(RANDOM.integers(0, 2, (ROWS, 40)), columns=[f"flag {place}" for place in range(40)])
    clf = bb.NaiveBayes().fit(flags, CHURN)
    calls = []
    whole = NaiveClassifier.number_flags
    monkeypatch.setattr(NaiveClassifier, "number_flags", lambda self: calls.append(self) or whole(self))
    clf.predict(flags)
    assert len(calls) == 1
    assert set(clf.classifier_.known_levels()) == set(flags)
