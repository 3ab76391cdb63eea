"""Columns of dates, times and durations in models: one column in, one entry out, whatever the source and the kind."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import bayesbox as bb
from bayesbox.errors import BadData, CannotExport, KindContradiction
from bayesbox.schema.date import AS_WRITTEN
from bayesbox.schema.schema import Schema
from bayesbox.source.frames import batch_of

SEED = 7
ROWS = 400


def table(rows: int = ROWS) -> tuple[pd.DataFrame, np.ndarray]:
    """Sign-ups of one year; those of the summer mostly stay, and 5 % lack the date."""
    draws = np.random.default_rng(SEED)
    seconds = draws.integers(0, 365 * 86_400, rows)
    signup = pd.Series(pd.Timestamp("2021-01-01") + pd.to_timedelta(seconds, unit="s"))
    summer = signup.dt.month.isin([6, 7, 8]).to_numpy()
    y = np.where(summer ^ (draws.random(rows) < 0.1), "stays", "leaves")
    frame = pd.DataFrame({"signup": signup.where(draws.random(rows) > 0.05), "amount": draws.integers(0, 90, rows)})
    return frame, y


X, Y = table()


def counted(rows: Any, y: Any = Y, **options: Any) -> str:
    return str(bb.NaiveBayes(**options).fit(rows, y).book_.digest())


def test_seconds_and_parts() -> None:
    book = bb.NaiveBayes().fit(X, Y).book_
    assert set(book) == {"signup", "signup month", "signup weekday", "signup hour", "amount"}
    seconds = X.signup.dropna().astype("int64").to_numpy() // 10 ** {"s": 0, "us": 6, "ns": 9}[X.signup.dt.unit]
    own = np.array(seconds, dtype=np.float64)[(Y == "stays")[X.signup.notna()]]
    assert book["signup"].mean[1] == pytest.approx(own.mean(), rel=1e-15)
    by_month = X.signup[Y == "leaves"].dt.month.value_counts()
    assert book["signup month"].counts[0].tolist() == [by_month.get(month, 0) for month in range(1, 13)]
    assert book["signup weekday"].levels == tuple(sorted(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]))


def test_the_same_from_every_source(tmp_path: Path) -> None:
    whole = X.assign(y=Y)
    whole.to_csv(tmp_path / "iso.csv", index=False)
    whole.to_parquet(tmp_path / "typed.parquet")
    day_first = X.assign(signup=X.signup.dt.strftime("%d/%m/%Y %H:%M:%S"))
    day_first.assign(y=Y).to_csv(tmp_path / "day-first.csv", index=False)
    lines = [
        f'{{"signup": {"null" if pd.isna(when) else chr(34) + when.isoformat() + chr(34)}, "amount": {n}, "y": "{y}"}}'
        for when, n, y in whole.itertuples(index=False)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    records = [{"signup": None if pd.isna(w) else w.to_pydatetime(), "amount": n} for w, n in X.itertuples(index=False)]
    frames = [pl.from_pandas(X), pa.Table.from_pandas(X), day_first, X.assign(signup=X.signup.astype(str)), records]
    frames += [X.assign(signup=X.signup.astype(f"datetime64[{unit}]")) for unit in ("s", "ms", "us", "ns")]
    frames.append({"signup": X.signup.to_numpy(), "amount": X.amount.to_numpy()})
    found = {counted(frame) for frame in frames}
    for name in ("iso.csv", "typed.parquet", "day-first.csv", "rows.jsonl"):
        for threads in (1, 2):
            found.add(bb.train(tmp_path / name, target="y", threads=threads).book_.digest())
    assert found == {counted(X)}


def test_learning_forgetting_merging_and_leaving_out() -> None:
    whole = bb.NaiveBayes().fit(X, Y)
    first, rest = bb.NaiveBayes().fit(X[:150], Y[:150]), bb.NaiveBayes().fit(X[150:], Y[150:])
    assert (first + rest).book_.digest() == whole.book_.digest()
    digest = first.book_.digest()
    assert first.partial_fit(X[150:], Y[150:]).book_.digest() == whole.book_.digest()
    assert first.forget(X[150:], Y[150:]).book_.digest() == digest
    left_out = whole.leave_one_out(X, Y)
    for row in (0, 17, 100):
        other = bb.NaiveBayes().fit(X.drop(row), np.delete(Y, row))
        np.testing.assert_allclose(left_out[row], other.predict_proba(X.iloc[row : row + 1])[0], rtol=1e-9)


KINDS = [bb.NaiveBayes, bb.AveragedNaiveBayes, bb.AODE, bb.TAN, bb.KDB, bb.FullBayes]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_one_entry_in_explanations(kind: Any, tmp_path: Path) -> None:
    model = kind().fit(X, Y)
    found = model.explain(X[:20])
    assert found.columns == ("signup", "amount")
    np.testing.assert_allclose(found.joint(), model.joint_log_proba(X[:20]), rtol=1e-9)
    model.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert tuple(loaded.feature_names_in_) == ("signup", "amount")
    if kind is not bb.FullBayes:  # which takes the seconds alone
        assert (model.predict(X) == Y).mean() > 0.85


def test_auto_bayes_and_declared_dates(tmp_path: Path) -> None:
    text = X.assign(signup=X.signup.dt.strftime("%d/%m/%Y %H:%M"))[:150]
    model = bb.AutoBayes(budget=0.2, columns={"signup": bb.Date("%d/%m/%Y %H:%M")}).fit(text, Y[:150])
    assert (model.predict(text) == Y[:150]).mean() > 0.85
    assert set(model.explain(text[:3]).columns) == {"signup", "amount"}
    model.save(tmp_path / "m.bayes")
    np.testing.assert_array_equal(bb.load(tmp_path / "m.bayes").predict_proba(text), model.predict_proba(text))


def test_as_good_as_seconds() -> None:
    """A class that depends on how late a date is, or on a duration: as a category it was no better than a guess."""
    draws = np.random.default_rng(SEED)
    late = draws.random(800) < 0.5
    days = draws.normal(np.where(late, 250, 150), 60, 800).clip(0, 365)
    y = np.where(late, "late", "early")
    for column in (
        pd.Series(pd.Timestamp("2021-01-01") + pd.to_timedelta(days * 86_400, unit="s")),
        pd.Series(pd.to_timedelta(days, unit="s")),
    ):
        train, test = slice(0, 400), slice(400, 800)
        unit = 10 ** {"s": 0, "ms": 3, "us": 6, "ns": 9}[column.dt.unit]
        seconds = pd.DataFrame({"when": column.astype("int64") / unit})
        frame = pd.DataFrame({"when": column})
        as_date = (bb.NaiveBayes().fit(frame[train], y[train]).predict(frame[test]) == y[test]).mean()
        as_number = (bb.NaiveBayes().fit(seconds[train], y[train]).predict(seconds[test]) == y[test]).mean()
        assert as_date >= as_number - 0.02
        assert as_date > 0.75


def test_durations_and_times_of_day() -> None:
    frame = {
        "wait": [datetime.timedelta(minutes=minutes) for minutes in (5, 6, 60, 70)],
        "at": [datetime.time(8), datetime.time(9), datetime.time(20), None],
    }
    model = bb.NaiveBayes().fit(frame, ["short", "short", "long", "long"])
    assert set(model.book_) == {"wait", "at", "at hour"}
    assert model.book_["wait"].mean.tolist() == [3900.0, 330.0]
    assert model.book_["at hour"].levels == ("08", "09", "20")
    same = bb.NaiveBayes().fit(pl.DataFrame(frame), ["short", "short", "long", "long"])
    texts = {
        "wait": [str(pd.Timedelta(each)) for each in frame["wait"]],
        "at": ["08:00:00", "09:00:00", "20:00:00", None],
    }
    written = bb.NaiveBayes().fit(texts, ["short", "short", "long", "long"])
    assert model.book_.digest() == same.book_.digest() == written.book_.digest()


def test_parts_that_do_not_vary_say_nothing() -> None:
    days = pd.DataFrame({"day": pd.date_range("2021-03-01", periods=20)})
    y = np.where(np.arange(20) < 15, "a", "b")
    model = bb.NaiveBayes(unseen="smooth").fit(days, y)
    assert {"day month", "day hour"} <= set(model.classifier_.model.ignored)
    noon = pd.DataFrame({"day": days.day + pd.Timedelta(hours=12)})
    parts = model.classifier_.explain_parts(batch_of(noon))
    assert not parts.terms[:, :, parts.columns.index("day hour")].any()


def test_a_month_that_was_never_seen_is_ignored() -> None:
    model = bb.NaiveBayes(unseen="error", columns={"day": "date"}).fit(
        {"day": ["2021-01-05", "2021-02-05", "2021-01-20", "2021-02-21"]}, ["a", "b", "a", "b"]
    )
    assert np.isfinite(model.predict_proba([{"day": "2021-12-24"}])).all()


def test_zones() -> None:
    zoned = X.assign(signup=X.signup.dt.tz_localize("UTC").dt.tz_convert("America/New_York"))
    local = X.assign(signup=zoned.signup.dt.tz_localize(None))
    model = bb.NaiveBayes().fit(zoned, Y)
    assert model.classifier_.schema.kinds["signup"].zone == "America/New_York"
    naive = bb.NaiveBayes().fit(local, Y)
    for part in ("month", "weekday", "hour"):
        np.testing.assert_array_equal(model.book_[f"signup {part}"].counts, naive.book_[f"signup {part}"].counts)
    np.testing.assert_array_equal(model.book_["signup"].mean, bb.NaiveBayes().fit(X, Y).book_["signup"].mean)
    written = zoned.assign(signup=[None if pd.isna(w) else w.isoformat() for w in zoned.signup])
    text = bb.NaiveBayes().fit(written, Y)
    assert text.classifier_.schema.kinds["signup"].zone == AS_WRITTEN
    assert text.book_.digest() == model.book_.digest()
    utc = zoned.assign(signup=zoned.signup.dt.tz_convert("UTC"))  # the same moments: the model keeps its zone
    np.testing.assert_array_equal(model.predict_proba(utc), model.predict_proba(zoned))
    np.testing.assert_array_equal(model.predict_proba(written), model.predict_proba(zoned))
    with pytest.raises(KindContradiction) as error:
        model.predict(local)
    assert error.value.column == "signup"
    with pytest.raises(KindContradiction):
        naive.partial_fit(zoned, Y)
    with pytest.raises(KindContradiction):
        _ = model + naive


def test_periods_are_their_beginnings() -> None:
    frame = pd.DataFrame({"month": pd.period_range("2021-01", periods=6, freq="M")})
    y = list("aabbab")
    starts = pd.DataFrame({"month": frame.month.dt.to_timestamp()})
    assert counted(frame, y) == counted(starts, y)


def test_text_is_read_by_the_kept_format() -> None:
    rows = {"day": ["15/03/2021", "01/04/2021", "02/05/2021", "28/02/2021"]}
    model = bb.NaiveBayes().fit(rows, ["a", "a", "b", "b"])
    assert model.classifier_.schema.kinds["day"].format == "%d/%m/%Y"
    typed = {"day": [datetime.date(2021, 4, 3)]}  # 03/04 is the third of April by now
    np.testing.assert_array_equal(model.predict_proba({"day": ["03/04/2021"]}), model.predict_proba(typed))
    for bad in ("04/13/2021", "2021-04-03", "soon"):
        with pytest.raises(KindContradiction) as error:
            model.predict({"day": [bad]})
        assert (error.value.found, error.value.column) == (bad, "day")
    with pytest.raises(KindContradiction):
        model.partial_fit({"day": [3.5]}, ["a"])


def test_two_readings_are_refused() -> None:
    rows = {"day": ["03/04/2021", "05/06/2021"]}
    with pytest.raises(BadData) as error:
        bb.NaiveBayes().fit(rows, ["a", "b"])
    assert error.value.column == "day"
    assert all(text in str(error.value) for text in ("2021-04-03", "2021-03-04", "%d/%m/%Y", "%m/%d/%Y"))
    for kind, mean in ((bb.Date("%d/%m/%Y"), "2021-04-03"), (bb.Date("%m/%d/%Y"), "2021-03-04")):
        model = bb.NaiveBayes(columns={"day": kind}).fit(rows, ["a", "b"])
        assert model.book_["day"].mean[0] == np.datetime64(mean, "s").astype(float)
    as_levels = bb.NaiveBayes(columns={"day": "category"}).fit(rows, ["a", "b"])
    assert as_levels.book_["day"].levels == ("03/04/2021", "05/06/2021")


def test_a_text_among_dates_is_bad_data(tmp_path: Path) -> None:
    days = [str(np.datetime64("2021-01-01") + np.timedelta64(day, "D")) for day in range(100)]
    with pytest.raises(KindContradiction) as error:
        bb.NaiveBayes().fit({"day": [*days, "soon"]}, ["a", "b"] * 50 + ["a"])
    assert (error.value.found, error.value.where) == ("soon", "row 101")
    path = tmp_path / "days.csv"
    path.write_text("day,y\n" + "".join(f"{day},{'ab'[n % 2]}\n" for n, day in enumerate([*days, "soon"])))
    with pytest.raises(KindContradiction):
        bb.train(path, target="y")
    assert bb.train(path, target="y", na=["soon"]).book_["day"].n.sum() == 100


def test_integers_by_a_format() -> None:
    model = bb.NaiveBayes(columns={"day": bb.Date("%Y%m%d")}).fit({"day": [20210315, 20210401]}, ["a", "b"])
    assert model.book_["day"].mean.tolist() == [1615766400.0, 1617235200.0]
    with pytest.raises(KindContradiction):
        bb.NaiveBayes(columns={"day": "date"}).fit({"day": [1.5, 2.5]}, ["a", "b"])


def test_names_of_parts_are_those_of_no_other_column() -> None:
    frame = X.assign(**{"signup month": "x", "signup hour": X.amount % 2})
    schema = Schema.of({name: pa.array(frame[name]) for name in frame})
    assert schema.parts == {"signup": ("signup month 2", "signup weekday", "signup hour 2")}
    assert schema.used_columns == ("signup", "amount", "signup month", "signup hour")
    with pytest.warns(bb.DataWarning):
        model = bb.NaiveBayes().fit(frame, Y)
    assert model.explain(frame[:2]).columns == ("signup", "amount", "signup month", "signup hour")
    assert model.book_["signup month"].levels == ("x",)


def test_a_column_without_a_value_becomes_one_of_dates() -> None:
    empty = X[:5].assign(signup=pd.Series([None] * 5, dtype=object))
    model = bb.NaiveBayes().fit(empty, Y[:5]).partial_fit(X[5:], Y[5:])
    assert model.book_["signup"].n.sum() == X.signup[5:].notna().sum()
    assert model.explain(X[:2]).columns == ("signup", "amount")
    declared = bb.NaiveBayes(columns={"signup": "date"}).fit(empty, Y[:5]).partial_fit(X[5:], Y[5:])
    assert declared.book_.digest() == model.book_.digest()


def test_missing_as_a_level_counts_once() -> None:
    model = bb.NaiveBayes(missing="level", columns={"signup": "date"}).fit(X[["signup"]], Y)
    absent = model.explain([{"signup": None}])
    rows = {name: int((name == Y).sum()) for name in ("leaves", "stays")}
    gone = {name: int(X.signup.isna()[name == Y].sum()) for name in rows}
    wanted = [np.log((gone[name] + 1) / (rows[name] + 2)) for name in rows]
    np.testing.assert_allclose(absent.terms[0, :, 0], wanted, rtol=1e-12)


def test_exports_refuse_by_name() -> None:
    model = bb.NaiveBayes().fit(X, Y)
    for export in (model.to_sql, model.to_onnx, model.to_pmml):
        with pytest.raises(CannotExport) as error:
            export()
        assert "`signup` is a date" in str(error.value)


def test_choosing_columns_and_weights() -> None:
    for options in ({"select": "mi:2"}, {"select": "forward"}, {"column_weights": "learned"}):
        model = bb.NaiveBayes(**options).fit(X, Y)
        assert (model.predict(X) == Y).mean() > 0.85
