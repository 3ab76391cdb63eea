"""Values at the edge of their types, and options that are nearly right: an answer without NaN, or a plain refusal."""

import datetime
import warnings

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, BadWeight, KindContradiction, NeverLearned

Y = ["a", "b", "a", "b", "a", "b"]
HUGE = np.array([2**64 - 1, 1, 2**63, 5, 1, 2**64 - 1], dtype=np.uint64)
COUNTS = np.array([[3.0, 0, 1], [0, 2, 2], [4, 1, 0], [1, 3, 0], [2, 0, 0], [0, 5, 1]])


def test_integers_beyond_the_signed_range_are_levels_like_others(tmp_path):
    clf = bb.NaiveBayes(columns={"id": "category"}).fit({"id": HUGE}, Y)
    assert clf.book_["id"].levels == ("1", "18446744073709551615", "5", "9223372036854775808")
    texts = bb.NaiveBayes().fit({"id": [str(value) for value in HUGE]}, Y)
    assert clf.book_.digest() == texts.book_.digest()


def test_labels_beyond_the_signed_range_keep_their_value(tmp_path):
    y = np.array([2**63, 2**64 - 1] * 3, dtype=np.uint64)
    clf = bb.NaiveBayes().fit(COUNTS, y)
    clf.save(tmp_path / "m.bayes")
    for model in (clf, bb.load(tmp_path / "m.bayes")):
        assert model.classes_.tolist() == [2**63, 2**64 - 1]
        assert set(model.predict(COUNTS).tolist()) <= set(y.tolist())


def test_integers_of_128_bits():
    frame = pl.DataFrame({"age": pl.Series([25, 20, 25, 45, 20, 25], dtype=pl.Int128)})
    narrow = bb.NaiveBayes().fit({"age": [25, 20, 25, 45, 20, 25]}, Y)
    assert bb.NaiveBayes().fit(frame, Y).book_.digest() == narrow.book_.digest()


def test_a_matrix_of_numpy_is_an_array():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix(COUNTS)
    assert bb.NaiveBayes().fit(matrix, Y).book_.digest() == bb.NaiveBayes().fit(COUNTS, Y).book_.digest()


def test_a_model_of_sparse_counts_is_the_same_after_loading(tmp_path):
    matrix = sparse.csr_array(COUNTS)
    clf = bb.NaiveBayes().fit(matrix, Y)
    clf.save(tmp_path / "m.bayes")
    for model in (bb.load(tmp_path / "m.bayes"), clf + clf):
        assert model.n_features_in_ == 3
        assert model.predict_proba(matrix).shape == (6, 2)
    np.testing.assert_array_equal(bb.load(tmp_path / "m.bayes").predict_proba(matrix), clf.predict_proba(matrix))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_sparse_count_that_is_no_number(value):
    broken = sparse.csr_array(np.where(COUNTS == 5, value, COUNTS))
    with refusal(BadData, where="row 6, column 1"):
        bb.NaiveBayes().fit(broken, Y)
    with refusal(BadData, where="row 6, column 1"):
        bb.NaiveBayes().fit(sparse.csr_array(COUNTS), Y).predict(broken)


def test_counts_are_not_negative():
    clf = bb.NaiveBayes().fit(sparse.csr_array(COUNTS), Y)
    with refusal(BadData, found=-5.0):
        clf.predict(sparse.csr_array(-COUNTS))
    for kind in ("count", "count:poisson"):
        with refusal(BadData, column="b", where="row 4", found=-2):
            bb.NaiveBayes(columns={"b": kind}).fit({"b": [0, 1, 3, -2, 1, -1]}, Y)


@pytest.mark.parametrize("value", [np.inf, 1e308])
def test_a_count_too_large_for_a_poisson_is_left_out(value):
    clf = bb.NaiveBayes(columns={"b": "count:poisson"}).fit({"b": [0, 1, 3, 2, 1, 1]}, Y)
    np.testing.assert_allclose(clf.predict_proba({"b": [value]}), [[0.5, 0.5]], rtol=1e-12)


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("numeric", ["gaussian", "student"])
def test_an_infinite_number_is_refused_in_answers_too(ask, numeric):
    clf = bb.NaiveBayes(numeric=numeric).fit({"x": [1.0, 2, 3, 4, 5, 7], "c": list("uvuvuu")}, Y)
    with refusal(BadData, column="x", where="row 2", found=float("-inf")):
        getattr(clf, ask)({"x": [1.0, -np.inf], "c": ["u", "v"]})


def test_labels_with_a_fraction_are_refused_from_a_list_too():
    for y in ([0.5, 1.0] * 3, np.array([0.5, 1.0] * 3)):
        with refusal(BadData, what="continuous"):
            bb.NaiveBayes().fit(COUNTS, y)


def test_weights_that_are_too_much():
    with pytest.raises(BadWeight):
        bb.NaiveBayes().fit(COUNTS, Y, sample_weight=[1e308] * 6)
    assert np.isfinite(bb.NaiveBayes().fit(COUNTS, Y, sample_weight=[1e307] * 6).predict_proba(COUNTS)).all()
    with refusal(BadWeight, found=["a", "b", "c", "d", "e", "f"]):
        bb.NaiveBayes().fit(COUNTS, Y, sample_weight=list("abcdef"))


def test_one_class_of_a_prior_may_be_left_out(tmp_path):
    clf = bb.NaiveBayes(prior={"a": 0.2}).fit(COUNTS, Y)
    clf.save(tmp_path / "m.bayes")
    for model in (clf, bb.load(tmp_path / "m.bayes"), bb.NaiveBayes().fit(COUNTS, Y).with_prior({"b": 0.8})):
        np.testing.assert_allclose(np.exp(model.class_log_prior_), [0.2, 0.8], rtol=1e-15)


@pytest.mark.parametrize(
    "prior", [[0.2, 0.7], [1.0], "even", {"a": 1.0}, {"a": "much", "b": 0.5}, {"a": 0.2, "c": 0.8}, {}]
)
def test_other_priors_are_refused(prior):
    with refusal(BadOption, what="prior"):
        bb.NaiveBayes(prior=prior).fit(COUNTS, Y)


@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
@pytest.mark.parametrize("model", [bb.AODE, bb.TAN, bb.KDB, bb.FullBayes, bb.AveragedNaiveBayes, bb.NaiveBayes])
@pytest.mark.parametrize("value", [5.0, None])
def test_columns_that_say_nothing_leave_the_prior(model, value):
    x = {"x": [value] * 6}
    clf = model().fit(x, ["a", "b", "b", "b", "b", "b"])
    np.testing.assert_allclose(clf.predict_proba(x)[0], [1 / 6, 5 / 6], rtol=1e-12)
    np.testing.assert_allclose(clf.explain(x).terms, 0, atol=1e-12)
    np.testing.assert_allclose(clf.leave_one_out(x, ["a", "b", "b", "b", "b", "b"])[1], [0.2, 0.8], rtol=1e-12)


def test_several_models_have_a_sum():
    parts = [bb.NaiveBayes().fit(COUNTS[rows], Y[rows]) for rows in (slice(0, 2), slice(2, 4), slice(4, 6))]
    assert sum(parts).book_.digest() == bb.NaiveBayes().fit(COUNTS, Y).book_.digest()
    with pytest.raises(TypeError, match="unsupported operand"):
        parts[0] + 3


def test_a_class_that_is_not_there():
    clf = bb.NaiveBayes().fit(COUNTS, Y)
    with refusal(BadOption, found="c"):
        clf.explain(COUNTS).log_odds("c", "a")
    with refusal(NeverLearned, what="`c`"):
        clf.forget(COUNTS[:1], ["c"])


@pytest.mark.parametrize("model", [bb.NaiveBayes, bb.FullBayes, bb.TAN])
def test_a_single_column_may_have_any_name(model, tmp_path):
    values = [25.0, 20.5, 25.0, 45.0, 20.0, 26.0]
    clf = model().fit({"counts": values}, Y)
    assert clf.feature_names_in_.tolist() == ["counts"]
    clf.save(tmp_path / "m.bayes")
    other = model().fit({"age": values}, Y).predict_proba({"age": values})
    for fitted in (clf, bb.load(tmp_path / "m.bayes")):
        np.testing.assert_array_equal(fitted.predict_proba({"counts": values}), other)
    with refusal(BadData, what="3"):
        clf.predict(sparse.csr_array(COUNTS))


def test_text_where_counts_were_learned_is_named_by_its_column():
    clf = bb.NaiveBayes().fit(sparse.csr_array(COUNTS), Y)
    with refusal(BadData, column="1", where="row 1", found="two"):
        clf.predict([[1, "two", 3]])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([datetime.date(2024, 5, 1)] * 6, "2024-05-01"),
        (np.array(["NaT", "2024-05-01"] * 3, dtype="M8[s]"), "2024-05-01T00:00:00"),
        ([datetime.timedelta(days=2)] * 6, "2 days, 0:00:00"),
    ],
)
def test_a_date_is_no_number(values, text):
    clf = bb.NaiveBayes().fit({"age": [25.0, 20, 25, 45, 20, 25]}, Y)
    with refusal(KindContradiction, where="row", column="age", found=text):
        clf.predict({"age": values})
    for kind in ("real", "count"):
        with refusal(KindContradiction, where="row", column="age", found=text):
            bb.NaiveBayes(columns={"age": kind}).fit({"age": values}, Y)


@pytest.mark.parametrize("model", [bb.NaiveBayes, "naive", 3])
def test_a_model_to_train_is_an_estimator(model):
    with refusal(BadOption, remedy="model="):
        bb.train({"age": [25.0, 20.0], "risk": ["a", "b"]}, target="risk", model=model)


NET = bb.BayesianNetwork({"grass": ["rain"]})
CHAIN = bb.HiddenMarkovModel.from_tables(start=[0.5, 0.5], transition=[[0.5, 0.5]] * 2, emission=[[0.5, 0.5]] * 2)
FITTED = bb.NaiveBayes().fit({"car": ["suv", "bus"]}, ["a", "b"])
CASE = {"car": ["suv"]}


@pytest.mark.parametrize("number", [-1, "3", 1.5, True, [1]])
def test_what_is_no_whole_number_is_refused(number):
    NET.fit({"rain": ["yes", "no"], "grass": ["wet", "dry"]})
    for call in (NET.sample, CHAIN.sample, lambda value: NET.sample(3, seed=value)):
        with pytest.raises(BadOption):
            call(number)
    with refusal(BadOption, what="seed"):
        CHAIN.sample(3, seed=number)
    with refusal(BadOption, what="steps"):
        CHAIN.forecast([0, 1], number)
    with refusal(BadOption, what="restarts"):
        bb.HiddenMarkovModel(restarts=number)
    assert NET.sample(np.int64(3), seed=np.int64(1)) == NET.sample(3, seed=1)
    assert len(NET.sample(2, seed=None)) == 2


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"costs": 3}, 3),
        ({"costs": [[0, 1], [1, 0]]}, [[0, 1], [1, 0]]),
        ({"costs": {"a": 1}}, "a"),
        ({"costs": {("a", "b"): "x"}}, "x"),
        ({"threshold": 3}, 3),
        ({"threshold": {"a": "x"}}, "x"),
        ({"abstain": "x"}, "x"),
    ],
)
def test_decisions_of_the_wrong_type(options, found):
    with refusal(BadOption, found=found):
        FITTED.decide(CASE, **options)
    assert FITTED.decide(CASE, costs={("b", "a"): np.int64(50)}).tolist() == ["b"]


@pytest.mark.parametrize("path", [None, 3, ["m.bayes"]])
def test_what_is_no_name_of_a_file(path):
    for call in (bb.load, bb.read_network, bb.HiddenMarkovModel.load, FITTED.save, NET.write):
        with pytest.raises(BadOption):
            call(path)


def test_hypotheses_that_are_not_fitted():
    optimal = bb.BayesOptimal([FITTED, bb.NaiveBayes()])
    for call in (optimal.predict, lambda _: optimal.classes_, lambda rows: optimal.fit(rows, ["a"])):
        with refusal(BadOption, found="NaiveBayes"):
            call(CASE)
    with refusal(BadOption, found=3):
        bb.BayesOptimal(3).predict(CASE)
    with refusal(BadOption, found=["x"]):
        bb.BayesOptimal([FITTED], ["x"]).predict(CASE)


def test_the_root_of_a_tree_is_a_column():
    for rows in ({"car": ["suv", "bus"]}, {"car": ["suv", "bus"], "age": ["old", "new"]}):
        with refusal(bb.BadData, column="cat", where="root"):
            bb.TAN(root="cat").fit(rows, ["a", "b"])
