"""What a column is taken for, and how columns are matched when asked."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.refusal import refusal, warning
from tests.tables import CARS

import bayesbox as bb
from bayesbox.errors import BadOption, KindContradiction, MissingColumns, UnknownColumn, UnseenLevel, UnseenLevels

FRAME = pd.DataFrame(CARS.X)


@pytest.fixture
def clf():
    return bb.NaiveBayes().fit(FRAME, CARS.y)


def test_names(clf):
    assert clf.feature_names_in_.tolist() == ["age", "car"]
    assert clf.n_features_in_ == 2
    array = bb.NaiveBayes().fit(np.array([[1.0, 2.0], [2.0, 1.5]]), ["a", "b"])
    assert array.n_features_in_ == 2
    assert not hasattr(array, "feature_names_in_")
    assert list(array.book_) == ["0", "1"]
    assert array.book_[1].mean.tolist() == [2.0, 1.5]


def test_a_missing_column_is_missing_in_every_row(clf):
    nothing = FRAME.assign(car=pd.Series([None] * 6, dtype=object))
    with pytest.warns(MissingColumns) as warned:
        without = clf.predict_proba(FRAME[["age"]])
    assert (warned[0].message.missing, warned[0].message.nearest) == (("car",), {})
    assert without.tobytes() == clf.predict_proba(nothing).tobytes()
    nowhere = FRAME.assign(age=np.nan)
    with pytest.warns(MissingColumns):
        assert clf.predict_proba(FRAME[["car"]]).tobytes() == clf.predict_proba(nowhere).tobytes()


def test_no_column_in_common(clf):
    with refusal(UnknownColumn, column="age"):
        clf.predict({"weight": [1.0]})


def test_order_and_company_of_columns_do_not_matter(clf):
    p = clf.predict_proba(FRAME).tobytes()
    assert clf.predict_proba(FRAME[["car", "age"]]).tobytes() == p
    assert clf.predict_proba(FRAME.assign(colour="red")).tobytes() == p
    assert clf.predict_proba(pl.DataFrame(CARS.X).select("car", "age")).tobytes() == p


def test_arrays_go_by_position(clf):
    values = FRAME.to_numpy(dtype=object)
    with pytest.warns(bb.errors.ColumnsByPosition):
        assert clf.predict_proba(values).tobytes() == clf.predict_proba(FRAME).tobytes()
    by_position = bb.NaiveBayes().fit(values, CARS.y)
    assert by_position.predict_proba(values).tobytes() == clf.predict_proba(FRAME).tobytes()
    with refusal(bb.BadData, what="3"):
        by_position.predict(np.zeros((1, 3)))


@pytest.mark.parametrize("key", [1, "1", -1])
def test_kinds_by_position(key):
    X = np.array([[1.5, 3], [2.5, 4], [1.0, 3], [9.0, 5]])
    clf = bb.NaiveBayes(columns={key: "category"}).fit(X, list("abab"))
    assert clf.book_["1"].levels == ("3", "4", "5")
    assert clf.book_["0"].form == "grid"


@pytest.mark.parametrize("kind", ["category", bb.Category, bb.Category(), bb.Category([20, 25, 45, 60])])
def test_kinds_by_name(kind):
    clf = bb.NaiveBayes(columns={"age": kind}).fit(FRAME, CARS.y)
    assert clf.book_["age"].levels == ("20", "25", "45")
    size = 4 if getattr(kind, "levels", None) else 3
    expected = np.log(4 / 6) + np.log((2 + 1) / (4 + size))
    assert clf.joint_log_proba([{"age": 20}])[0, 0] == pytest.approx(expected, rel=1e-12)


def test_unknown_declaration():
    with refusal(UnknownColumn, column="agee"):
        bb.NaiveBayes(columns={"agee": "real"}).fit(FRAME, CARS.y)
    with refusal(bb.BadOption, found="reel"):
        bb.NaiveBayes(columns={"age": "reel"}).fit(FRAME, CARS.y)
    with pytest.raises(bb.BadOption):
        bb.NaiveBayes(columns={"age": 3}).fit(FRAME, CARS.y)


def test_ignored_columns_are_not_counted():
    clf = bb.NaiveBayes(columns={"age": bb.Ignore()}).fit(FRAME, CARS.y)
    assert list(clf.book_) == ["car"]
    alone = bb.NaiveBayes().fit(FRAME[["car"]], CARS.y)
    assert clf.predict_proba(FRAME).tobytes() == alone.predict_proba(FRAME).tobytes()


ZERO_ONE = {"x": [0, 1, 1, 0, 1, 1]}
HALVES = ["a", "a", "a", "b", "b", "b"]


@pytest.mark.parametrize("dtype", [int, float, np.int8, np.uint8, np.float32, bool])
def test_zeros_and_ones_are_a_flag(dtype):
    X = pd.DataFrame(ZERO_ONE).astype(dtype)
    clf = bb.NaiveBayes().fit(X, HALVES)
    p = np.exp(clf.joint_log_proba(pd.DataFrame({"x": [0, 1]}).astype(dtype)))
    np.testing.assert_allclose(p, [[0.5 * 2 / 5, 0.5 * 2 / 5], [0.5 * 3 / 5, 0.5 * 3 / 5]], rtol=1e-12)


def test_zeros_and_ones_declared_real():
    clf = bb.NaiveBayes(columns={"x": bb.Real("gaussian")}).fit(ZERO_ONE, HALVES)
    z = (0.5 - 2 / 3) / np.sqrt(2 / 9)
    expected = np.log(0.5) - 0.5 * np.log(2 * np.pi * 2 / 9) - z * z / 2
    np.testing.assert_allclose(clf.joint_log_proba({"x": [0.5]}), [[expected, expected]], rtol=1e-12)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_a_flag_becomes_a_number_whenever_another_value_comes(order):
    batches = [([0, 1], ["a", "b"]), ([1, 1], ["b", "a"]), ([0.5, 0], ["a", "b"])]
    clf = bb.NaiveBayes()
    for index in order:
        clf.partial_fit({"x": batches[index][0]}, batches[index][1])
    whole = bb.NaiveBayes().fit({"x": [0, 1, 1, 1, 0.5, 0]}, ["a", "b", "b", "a", "a", "b"])
    assert clf.book_.digest() == whole.book_.digest()
    asked = {"x": [0.25, 0.75]}
    assert clf.predict_proba(asked).tobytes() == whole.predict_proba(asked).tobytes()
    clf.forget({"x": [0.5, 0]}, ["a", "b"])
    assert clf.book_["x"].levels == ("0", "1")


@pytest.mark.parametrize(
    ("values", "kind"), [(["u", "v"], "category"), ([1.5, 2.5], "number"), ([True, False], "flag")]
)
def test_a_column_without_a_value_takes_the_kind_of_its_first(values, kind):
    clf = bb.NaiveBayes().fit({"x": [None, None], "y": [1.5, 2.0]}, ["a", "b"])
    assert clf.classifier_.schema.kinds["x"].name == "unknown"
    assert "x" not in clf.book_
    assert clf.predict_proba({"x": values, "y": [1.0, 3.0]}).shape == (2, 2)
    clf.partial_fit({"x": values, "y": [1.0, 3.0]}, ["a", "b"])
    assert clf.classifier_.schema.kinds["x"].name == kind
    whole = bb.NaiveBayes().fit({"x": [None, None, *values], "y": [1.5, 2.0, 1.0, 3.0]}, list("abab"))
    assert clf.book_.digest() == whole.book_.digest()


def test_text_in_a_declared_number():
    with refusal(KindContradiction, column="age", where="row 2", found="3,5") as caught:
        bb.NaiveBayes(columns={"age": "real"}).fit({"age": ["25", "3,5"]}, ["a", "b"])
    assert "row 2" in str(caught.value)
    clf = bb.NaiveBayes(columns={"age": "real"}).fit({"age": ["25", " ", "30.5", None]}, list("abba"))
    assert clf.book_["age"].n.tolist() == [1, 1]


def test_another_value_in_a_declared_flag():
    with refusal(KindContradiction, column="x", where="row 3", found="2"):
        bb.NaiveBayes(columns={"x": "flag"}).fit({"x": [0, 1, 2]}, list("aba"))
    texts = bb.NaiveBayes(columns={"x": "flag"}).fit({"x": ["true", "False", "1", "0"]}, list("abab"))
    assert texts.book_["x"].levels == ("false", "true")
    assert texts.book_["x"].counts.tolist() == [[0, 2], [2, 0]]


def test_unseen_levels():
    X, y = {"car": ["suv", "van", "suv"]}, ["a", "b", "b"]
    smooth = bb.NaiveBayes(unseen="smooth").fit(X, y)
    assert np.exp(smooth.joint_log_proba({"car": ["new"]}))[0].tolist() == pytest.approx([1 / 3 * 1 / 3, 2 / 3 * 1 / 4])
    ignore = bb.NaiveBayes().fit(X, y)
    with pytest.warns(UnseenLevels) as warned:
        assert ignore.predict_proba({"car": ["new"]})[0].tolist() == pytest.approx([1 / 3, 2 / 3])
    found = warned[0].message
    assert (found.counts, found.examples, found.known) == ({"car": 1}, {"car": ("new",)}, {"car": ("suv", "van")})
    error = bb.NaiveBayes(unseen="error").fit(X, y)
    assert error.predict({"car": ["suv"]}).tolist() == ["b"]
    with refusal(UnseenLevel, column="car", found="new"):
        error.predict({"car": ["suv", "new"]})


@pytest.mark.parametrize(
    "parameters",
    [
        {"missing": "drop"},
        {"unseen": "raise"},
        {"numeric": "cauchy"},
        {"smoothing": "laplacian"},
        {"smoothing": "lidstone:-1"},
        {"smoothing": "lidstone"},
        {"smoothing": 3},
        {"prior_smoothing": "laplacian"},
    ],
    ids=str,
)
def test_options_are_checked(parameters):
    with pytest.raises(bb.BadOption):
        bb.NaiveBayes(**parameters).fit(FRAME, CARS.y)


def test_a_constant_column_is_left_out_with_a_warning():
    X = {"same": [7.0] * 10, "x": [1.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.0]}
    with warning(bb.DataWarning, what="`same`"):
        clf = bb.NaiveBayes().fit(X, list("ababababab"))
    alone = bb.NaiveBayes().fit({"x": X["x"]}, list("ababababab"))
    assert clf.predict_proba(X).tobytes() == alone.predict_proba(X).tobytes()
    assert clf.predict_proba({"same": [9.0], "x": [1.0]}).tobytes() == alone.predict_proba({"x": [1.0]}).tobytes()


HOLED = {"age": [25.0, 31.0, 40.5, None, 51.0, 62.0, 58.0, 49.5]}
HOLED_CLASSES = ["a"] * 4 + ["b"] * 4


@pytest.mark.parametrize("numeric", ["gaussian", "student", "kernel", "lognormal", "width:3"])
def test_missing_as_a_level_that_is_impossible_in_a_class(numeric):
    level = bb.NaiveBayes(missing="level", smoothing="mle", numeric=numeric).fit(HOLED, HOLED_CLASSES)
    asked = {"age": [44.0, None]}
    observed = bb.NaiveBayes(smoothing="mle", numeric=numeric).fit(HOLED, HOLED_CLASSES).joint_log_proba(asked)[0]
    joint = level.joint_log_proba(asked)
    np.testing.assert_allclose(joint[0], observed + np.log([3 / 4, 1]), rtol=1e-12)
    np.testing.assert_allclose(joint[1], [np.log(1 / 2 * 1 / 4), -np.inf], rtol=1e-12)
    np.testing.assert_allclose(level.explain(asked).terms[:, :, 0], joint - np.log(1 / 2), rtol=1e-12)
    assert level.predict_proba({"age": np.array([44, 30])})[0].tobytes() == level.predict_proba(asked)[0].tobytes()


@pytest.mark.parametrize("given", [["a", "b"], "ab", {"car": "ab"}, {"car": 3}])
def test_one_hot_is_a_dict_of_lists(given):
    with pytest.raises(bb.BadOption):
        bb.NaiveBayes(one_hot=given).fit({"a": [1, 0, 1], "b": [0, 1, 0]}, ["x", "y", "x"])


def test_columns_of_an_array_are_folded_by_position():
    flags = np.array([[1, 0], [0, 1], [1, 0]])
    clf = bb.NaiveBayes(one_hot={"car": [0, 1]}).fit(flags, ["x", "y", "x"])
    assert clf.book_["car"].counts.tolist() == [[2, 0], [0, 1]]
    assert clf.predict(flags).tolist() == ["x", "y", "x"]


def test_the_probability_of_a_column_is_a_number():
    with refusal(bb.BadOption, found="half"):
        bb.AveragedNaiveBayes(inclusion="half").fit({"a": [1.5, 0.5]}, ["x", "y"])


def test_a_floor_without_a_density_means_a_gaussian():
    X, y = {"x": [1.0, 2.0, 4.0, 7.0, 8.0, 9.5]}, list("ababab")
    floored = bb.NaiveBayes(columns={"x": bb.Real(floor=0.01)}).fit(X, y)
    assert floored.classifier_.model.conditional("x").describe() == "gaussian"
    assert floored.book_["x"].form == "moments"
    named = bb.NaiveBayes(columns={"x": bb.Real("gaussian", floor=0.01)}).fit(X, y)
    assert floored.predict_proba(X).tolist() == named.predict_proba(X).tolist()
    assert bb.NaiveBayes().fit(X, y).classifier_.model.conditional("x").describe().startswith("robust")
    with refusal(BadOption, found=0.01):
        bb.Real("robust", floor=0.01)
