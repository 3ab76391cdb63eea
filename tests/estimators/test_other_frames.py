"""Frames of other libraries, single rows, and rows whose columns have names where those learned had none."""

import enum

import dask.dataframe as dd
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadData, ColumnsByPosition

RNG = np.random.default_rng(7)
ROWS = pd.DataFrame(
    {
        "age": RNG.normal(40, 12, 300).round(1),
        "car": RNG.choice(["suv", "truck", None], 300, p=[0.5, 0.4, 0.1]),
        "member": RNG.random(300) < 0.3,
    }
)
Y = pd.Series(np.where(ROWS["age"] + 10 * ROWS["member"] > 45, "high", "low"), name="risk")
ESTIMATORS = [bb.NaiveBayes(), bb.AveragedNaiveBayes(), bb.AODE(), bb.TAN(), bb.FullBayes(), bb.AutoBayes(budget=0.2)]


class Computed:
    """A frame of Dask that counts how many rows are computed at a time."""

    def __init__(self, monkeypatch, frame):
        self.most, kind = 0, type(frame)
        compute = kind.compute

        def counted(this, *args, **kwargs):
            found = compute(this, *args, **kwargs)
            self.most = max(self.most, len(found))
            return found

        monkeypatch.setattr(kind, "compute", counted)


# -- Dask ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_dask_learns_what_pandas_does(estimator):
    frame, labels = dd.from_pandas(ROWS, npartitions=4), dd.from_pandas(Y, npartitions=4)
    one, other = estimator.fit(ROWS, Y), bb.train(dd.from_pandas(ROWS.assign(risk=Y), npartitions=3), target="risk")
    by_dask = type(estimator)(**estimator.get_params()).fit(frame, labels)
    assert by_dask.book_.digest() == one.book_.digest()
    assert list(by_dask.feature_names_in_) == list(ROWS.columns)
    assert np.array_equal(by_dask.predict_proba(ROWS), one.predict_proba(ROWS))
    assert np.array_equal(one.predict(frame), one.predict(ROWS))
    assert other.book_["age"].n.tolist() == one.book_["age"].n.tolist()


def test_dask_is_read_a_partition_at_a_time(monkeypatch):
    both = dd.from_pandas(ROWS.assign(risk=Y), npartitions=10)
    frame, labels = both[["age", "car", "member"]], both["risk"]
    computed = Computed(monkeypatch, both)
    clf = bb.NaiveBayes().fit(frame, labels)
    clf.predict_proba(frame)
    clf.decide(frame)
    assert bb.train(both, target="risk").book_.digest() == clf.book_.digest()
    assert bb.predict(clf, both, proba=True).num_rows == 300
    assert 0 < computed.most <= 31


def test_labels_and_weights_beside_dask():
    frame, weights = dd.from_pandas(ROWS, npartitions=4), np.arange(300) % 3
    one = bb.NaiveBayes().fit(ROWS, Y, sample_weight=weights)
    for labels in (Y, Y.tolist(), dd.from_pandas(Y, npartitions=2), pa.array(Y)):
        clf = bb.NaiveBayes().fit(frame, labels, sample_weight=weights)
        assert clf.book_.digest() == one.book_.digest()
    assert one.score(frame, dd.from_pandas(Y, npartitions=4)) == one.score(ROWS, Y)
    assert bb.NaiveBayes().fit(ROWS, dd.from_pandas(Y, npartitions=4)).score(ROWS, Y) > 0.8
    for short in (Y[:299], [*Y.tolist(), "low"]):
        with refusal(BadData):
            bb.NaiveBayes().fit(frame, short)
    with refusal(BadData):
        bb.NaiveBayes().fit(frame, Y, sample_weight=weights[:10])


def test_empty_partitions():
    some = dd.from_pandas(ROWS.assign(risk=Y), npartitions=6)
    some = some[some["age"] > 55]
    known = ROWS["age"] > 55
    clf = bb.NaiveBayes().fit(some[["age", "car"]], some["risk"])
    assert clf.book_["age"].n.sum() == known.sum()
    assert np.array_equal(clf.predict(some[["age", "car"]]), clf.predict(ROWS.loc[known, ["age", "car"]]))
    nothing = some[some["age"] > 1000]
    with refusal(BadData):
        bb.NaiveBayes().fit(nothing[["age", "car"]], nothing["risk"])
    with refusal(BadData):
        clf.predict(nothing[["age", "car"]])


def test_documents_in_dask():
    texts = pd.Series(["kiwi sheep", "kiwi bird", "munich", "munich beer"])
    clf = bb.TextClassifier().fit(dd.from_pandas(texts, npartitions=2), ["nz", "nz", "de", "de"])
    assert clf.predict(dd.from_pandas(texts, npartitions=2)).tolist() == ["nz", "nz", "de", "de"]


# -- others ----------------------------------------------------------------------------------------------------------


class ByInterchange:
    """A frame that has nothing but `__dataframe__`."""

    def __init__(self, table):
        self.table = table

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.table.__dataframe__(nan_as_null, allow_copy)


class Stream:
    """Something that has nothing but `__arrow_c_stream__`."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


def test_a_frame_by_interchange():
    one = bb.NaiveBayes().fit(ROWS, Y)
    frame = ByInterchange(pa.Table.from_pandas(ROWS))
    clf = bb.NaiveBayes().fit(frame, Y)
    assert clf.book_.digest() == one.book_.digest()
    assert np.array_equal(one.predict_proba(frame), one.predict_proba(ROWS))
    whole = ByInterchange(pa.Table.from_pandas(ROWS.assign(risk=Y)))
    assert bb.train(whole, target="risk").book_.digest() == one.book_.digest()

    class Broken:
        def __dataframe__(self, nan_as_null=False, allow_copy=True):
            raise RuntimeError("strings of an unknown kind")

    with refusal(BadData, found="Broken"):
        one.predict(Broken())


@pytest.mark.parametrize(
    "native", [ROWS, pl.from_pandas(ROWS), pa.Table.from_pandas(ROWS)], ids=["pandas", "polars", "arrow"]
)
def test_a_frame_of_narwhals(native):
    one = bb.NaiveBayes().fit(ROWS, Y)
    frame = nw.from_native(native)
    labels = nw.from_native(pl.Series("y", Y.tolist()), series_only=True)
    clf = bb.NaiveBayes().fit(frame, labels)
    assert clf.book_.digest() == one.book_.digest()
    assert clf.feature_names_in_.tolist() == one.feature_names_in_.tolist()
    assert np.array_equal(one.predict_proba(frame), one.predict_proba(ROWS))


def test_labels_by_an_arrow_stream():
    one = bb.NaiveBayes().fit(ROWS, Y)
    for data in (pl.Series("y", Y.tolist()), pa.chunked_array([Y.tolist()]), pl.DataFrame({"y": Y})):
        assert bb.NaiveBayes().fit(ROWS, Stream(data)).book_.digest() == one.book_.digest()


def test_arrays_of_xarray_and_dask():
    values = RNG.normal(size=(40, 3))
    labels = np.where(values[:, 0] > 0, "a", "b")
    one = bb.NaiveBayes().fit(values, labels)
    array = xr.DataArray(values, dims=("row", "column"))
    clf = bb.NaiveBayes().fit(array, xr.DataArray(labels, dims="row"))
    assert clf.n_features_in_ == 3
    assert clf.book_.digest() == one.book_.digest()
    assert np.array_equal(one.predict_proba(array), one.predict_proba(values))
    assert np.array_equal(clf.predict(dd.from_array(values).to_dask_array()), one.predict(values))
    with refusal(BadData, remedy="to_dataframe"):
        one.predict(xr.Dataset({"0": ("row", values[:, 0]), "1": ("row", values[:, 1])}))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC", "+02:00"])
def test_times_with_a_zone_are_converted_without_a_warning(zone):
    times = pd.Series(pd.date_range("2024-03-30 23:00", periods=60, freq="h", tz=zone))
    times[3] = pd.NaT
    from bayesbox.source.frames import batch_of

    column = batch_of(pd.DataFrame({"at": times}))["at"]
    assert pa.types.is_timestamp(column.type)
    assert column.type.tz == zone
    assert column.null_count == 1
    assert column[0].as_py().timestamp() == times[0].timestamp()


# -- one row ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_one_row_is_answered_by_one(estimator):
    clf = type(estimator)(**estimator.get_params()).fit(ROWS, Y)
    frame = ROWS.iloc[[0]]
    named = next(ROWS.itertuples(index=False))
    for row in (ROWS.iloc[0], ROWS.iloc[0].to_dict(), named, [named]):
        assert np.array_equal(clf.predict_proba(row), clf.predict_proba(frame))
        assert clf.predict(row).tolist() == clf.predict(frame).tolist()
        assert clf.decide(row).shape == (1,)
        assert clf.explain(row).terms.shape == clf.explain(frame).terms.shape
    assert clf.predict_log_proba({"age": 30}).shape == (1, 2)


def test_one_row_of_other_models():
    clf = bb.NaiveBayes().fit(ROWS, Y)
    optimal = bb.BayesOptimal([clf, bb.TAN().fit(ROWS, Y)])
    assert optimal.predict_proba(ROWS.iloc[0]).shape == optimal.explain(ROWS.iloc[0]).terms.shape[:2] == (1, 2)
    net = bb.BayesianNetwork({"alarm": ["burglary"]}, {"burglary": 0.1, "alarm": {True: 0.9, False: 0.05}})
    assert net.classifier("burglary").predict({"alarm": "true"}).tolist() == ["true"]
    assert clf.log_density(ROWS.iloc[3].to_dict()).shape == (1,)
    assert clf.forget(ROWS.iloc[0], Y[:1]).book_["age"].n.sum() == 299


def test_a_column_is_no_row():
    clf = bb.NaiveBayes().fit(ROWS[["age"]], Y)
    assert len(clf.predict(pd.Series(ROWS["age"], name="age"))) == 300
    assert len(clf.predict({"age": ROWS["age"]})) == 300


# -- names and positions ---------------------------------------------------------------------------------------------


def test_names_where_none_were_learned_warn():
    values = RNG.normal(size=(40, 2))
    labels = np.where(values[:, 0] > 0, "a", "b")
    clf = bb.NaiveBayes().fit(values, labels)
    frame = pd.DataFrame(values, columns=["width", "height"])
    with pytest.warns(ColumnsByPosition) as caught:
        found = clf.predict_proba(frame)
    assert [each.message.fitted_with_names for each in caught] == [False]
    assert np.array_equal(found, clf.predict_proba(values))
    assert np.array_equal(clf.predict_proba(pd.DataFrame(values)), found)  # columns 0 and 1 by name
    with refusal(BadData):
        clf.predict(frame.assign(depth=1.0))
    named = bb.NaiveBayes().fit(frame, labels)
    with pytest.warns(ColumnsByPosition) as caught:
        assert np.array_equal(named.predict_proba(values), found)
    assert [each.message.fitted_with_names for each in caught] == [True]


# -- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [[1, "1", 2, "2"], np.array([1, "1", 2, 2], dtype=object), [True, "true", "x", "x"]])
def test_labels_of_two_types_that_would_be_one_class(labels):
    with refusal(BadData, where="y"):
        bb.NaiveBayes().fit({"age": [1, 2, 3, 4]}, labels)


def test_enumerations_keep_their_type_or_are_refused():
    colour = enum.Enum("Colour", ["RED", "BLUE"])
    text, whole = enum.StrEnum("Text", ["RED", "BLUE"]), enum.IntEnum("Whole", ["RED", "BLUE"])
    rows = {"age": [1, 2, 3, 4]}
    with refusal(BadData, where="y", remedy="label.name"):
        bb.NaiveBayes().fit(rows, [colour.RED, colour.BLUE] * 2)
    for kind in (text, whole):
        labels = [kind.RED, kind.BLUE] * 2
        found = bb.NaiveBayes().fit(rows, labels)
        assert set(found.classes_.tolist()) == set(labels)


# -- answers as a frame ----------------------------------------------------------------------------------------------


def test_predict_gives_back_the_kind_of_frame_it_got():
    clf = bb.NaiveBayes().fit(ROWS, Y)
    table = bb.predict(clf, pa.Table.from_pandas(ROWS), proba=True, keep=["age"])
    assert isinstance(table, pa.Table)
    frame = ROWS.set_index(np.arange(1000, 1300))
    found = bb.predict(clf, frame, proba=True, keep=["age"])
    assert isinstance(found, pd.DataFrame)
    assert list(found.index) == list(frame.index)
    assert found["prediction"].tolist() == table["prediction"].to_pylist()
    assert np.array_equal(found["P(high)"], table["P(high)"])
    other = bb.predict(clf, pl.from_pandas(ROWS), proba=True)
    assert isinstance(other, pl.DataFrame)
    assert other["prediction"].to_list() == found["prediction"].tolist()
    assert isinstance(bb.predict(clf, pl.from_pandas(ROWS).lazy()), pl.DataFrame)
    for data in (ROWS.to_dict("records"), dd.from_pandas(ROWS, npartitions=2), ROWS.to_dict("list")):
        assert isinstance(bb.predict(clf, data), pa.Table)
    assert isinstance(bb.predict(clf, ROWS[:0]), pd.DataFrame)
