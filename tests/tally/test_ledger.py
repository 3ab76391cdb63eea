"""The ledger: its laws, its bytes against hashlib, and what it shows that tallies do not."""

from __future__ import annotations

import hashlib
import pickle
import struct
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import bayesbox as bb
from bayesbox.classifier.registry import KINDS
from bayesbox.cli.main import run
from bayesbox.errors import BadModelFile, BadOption, LostLedger
from bayesbox.file import arrow, container
from bayesbox.file.load import from_bytes, load_classifier
from bayesbox.file.save import to_bytes
from bayesbox.schema.arrays import numbers_array
from bayesbox.schema.encode import encode
from bayesbox.schema.schema import Schema
from bayesbox.tally.ledger import LANES, Ledger, count_ledger

numbers = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
texts = st.one_of(st.none(), st.text(alphabet="ab\x00", max_size=3))
weights = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])
rows = st.lists(st.tuples(numbers, texts, texts, st.sampled_from(["x", "y"]), weights), max_size=6)
KIND_OF = {"n": "real", "a": "category", "ab": "category"}


def ledger_of(given_rows, *, weighted=False):
    columns = {
        "n": pa.array([row[0] for row in given_rows], pa.float64()),
        "a": pa.array([row[1] for row in given_rows], pa.string()),
        "ab": pa.array([row[2] for row in given_rows], pa.string()),
    }
    labels = encode(pa.array([row[3] for row in given_rows], pa.string()))
    weight = np.array([row[4] for row in given_rows], dtype=np.float64) if weighted else None
    return count_ledger(columns, labels, Schema.of(columns, KIND_OF), weights=weight)


def by_hashlib(row):
    """The lanes of one row, by Python's own BLAKE2b."""
    number, a, ab, label, _ = row

    def part(data):
        return struct.pack("<Q", len(data)) + data

    message = part(label.encode()) + struct.pack("<d", 1.0)
    for name, tag, value in (("a", b"l", a), ("ab", b"l", ab), ("n", b"n", number)):
        if value is not None:
            data = struct.pack("<d", value + 0.0) if tag == b"n" else value.encode()
            message += part(name.encode()) + tag + part(data)
    seed = hashlib.blake2b(message, person=b"bayesbox row 1").digest()
    drawn = (hashlib.blake2b(seed + struct.pack("<Q", i), person=b"bayesbox lanes 1").digest() for i in range(32))
    return np.frombuffer(b"".join(drawn), dtype="<u2")


@given(rows)
@settings(max_examples=60)
def test_it_is_the_sum_of_the_hashes_of_the_rows(given_rows):
    expected = sum((by_hashlib(row).astype(np.int64) for row in given_rows), np.zeros(LANES, dtype=np.int64))
    assert np.array_equal(ledger_of(given_rows).lanes, expected % 65_536)


@given(rows, rows, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_laws_of_a_tally(one, other, random):
    a, b = ledger_of(one, weighted=True), ledger_of(other, weighted=True)
    assert a + b == b + a == ledger_of(one + other, weighted=True)
    assert (a + b) - b == a
    assert a + a.zero() == a
    assert (a - a).is_empty()
    assert ledger_of(random.sample(one, len(one)), weighted=True) == a
    assert Ledger.from_text(a.text()) == a == Ledger.from_arrow(a.to_arrow()) == pickle.loads(pickle.dumps(a))


@given(rows)
@settings(max_examples=40)
def test_a_whole_weight_is_so_many_rows(given_rows):
    whole = [row for row in given_rows if row[4] != 0.5]
    repeated = [row for row in whole for _ in range(int(row[4]))]
    assert ledger_of(whole, weighted=True) == ledger_of(repeated)


def canonical(given_rows):
    return sorted((repr(None if row[0] is None else row[0] + 0.0), *map(repr, row[1:4])) for row in given_rows)


@given(rows, rows)
@settings(max_examples=100)
def test_other_rows_have_another_ledger(one, other):
    assert (ledger_of(one) == ledger_of(other)) == (canonical(one) == canonical(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((None, "ab", "c", "x", 1), (None, "a", "bc", "x", 1)),  # letters of one column or of the next
        ((None, "", None, "x", 1), (None, None, "", "x", 1)),  # an empty level here or there
        ((None, "", None, "x", 1), (None, None, None, "x", 1)),  # an empty level or none
        ((1.0, None, None, "x", 1), (None, "1", None, "x", 1)),  # a number or its text
        ((None, "x", None, "y", 1), (None, "y", None, "x", 1)),  # the label or the value
        ((5e-324, None, None, "x", 1), (0.0, None, None, "x", 1)),
    ],
)
def test_what_is_next_to_each_other_is_not_confused(one, other):
    assert ledger_of([one]) != ledger_of([other])


def test_zero_has_one_sign():
    assert ledger_of([(-0.0, None, None, "x", 1)]) == ledger_of([(0.0, None, None, "x", 1)])


# -- through the models ----------------------------------------------------------------------------------------------

N = 500
rng = np.random.default_rng(3)
TABLE = {
    "age": rng.normal(40, 10, N),
    "car": rng.choice(np.array(["suv", "van", "sports"]), N),
    "child": rng.integers(0, 2, N).astype(bool),
    "rooms": rng.integers(1, 9, N),
    "risk": rng.choice(np.array(["high", "low"]), N),
}


def trained(data, *, ledger=True, **options):
    return bb.train(data, target="risk", model=bb.NaiveBayes(ledger=ledger), **options)


def test_the_same_rows_have_one_ledger_from_every_source(tmp_path):
    frame = pd.DataFrame(TABLE)
    frame.loc[::7, "car"] = None
    frame.loc[::5, "age"] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame[::-1].to_csv(tmp_path / "reversed.csv", index=False)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=37)
    coded = frame.assign(car=frame["car"].astype("category"))
    expected = trained(frame).book_.ledger
    spelled = frame.assign(child=frame["child"].map({True: "TRUE", False: "false"}))
    for data in (table, coded, pl.from_arrow(table), pl.from_pandas(coded), frame[list(frame)[::-1]]):
        assert trained(data).book_.ledger == expected
    declared = bb.NaiveBayes(ledger=True, columns={"child": "flag"})
    assert bb.train(spelled, target="risk", model=declared).book_.ledger == expected
    for name in ("rows.csv", "reversed.csv", "rows.parquet"):
        for threads in (1, 4):
            assert trained(tmp_path / name, threads=threads).book_.ledger == expected, name
    parts = bb.NaiveBayes(ledger=True)
    for start in range(0, N, 61):
        part = frame.iloc[start : start + 61]
        parts.partial_fit(part.drop(columns="risk"), part["risk"])
    assert parts.book_.ledger == expected


BOUND = ("auto", "optimal")  # to all their rows: they refuse to forget some


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.of == "rows"])
def test_every_kind_keeps_one(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(TABLE)
    frame.to_csv("all.csv", index=False)
    frame[:5].to_csv("gone.csv", index=False)
    before, after = trained(frame).book_.ledger, trained(frame[5:]).book_.ledger
    assert run(["train", "all.csv", "-t", "risk", "--model", name, "--ledger", "-o", "m.bayes"]) == 0
    model = load_classifier("m.bayes")
    assert model.ledger
    assert model.book.ledger == before
    code = run(["forget", "m.bayes", "gone.csv"])
    assert code == (3 if name in BOUND else 0)
    assert load_classifier("m.bayes").book.ledger == (before if name in BOUND else after)


def test_documents_keep_one(tmp_path):
    texts, labels = ["Kiwi sheep", "kiwi bird", "", "Oktoberfest"], ["NZ", "NZ", "NZ", "DE"]
    clf = bb.TextClassifier(ledger=True).fit(texts, labels)
    parts = bb.TextClassifier(ledger=True).partial_fit(texts[2:], labels[2:]).partial_fit(texts[:2], labels[:2])
    assert clf.book_.ledger == parts.book_.ledger
    pd.DataFrame({"text": texts, "class": labels}).to_parquet(tmp_path / "rows.parquet")
    streamed = bb.train(
        str(tmp_path / "rows.parquet"), target="class", text="text", model=bb.TextClassifier(ledger=True)
    )
    assert streamed.book_.ledger == clf.book_.ledger
    other = bb.TextClassifier(ledger=True).fit(["Sheep kiwi", *texts[1:]], labels)
    assert other.book_.digest() == clf.book_.digest()
    assert other.book_.ledger != clf.book_.ledger
    rest = bb.TextClassifier(ledger=True).fit(texts[1:], labels[1:])
    assert clf.forget(texts[:1], labels[:1]).book_.ledger == rest.book_.ledger
    clf.save(tmp_path / "m.bayes")
    assert bb.load(tmp_path / "m.bayes").book_.ledger == rest.book_.ledger


def test_a_matrix_of_counts_keeps_one():
    dense = rng.integers(0, 3, (20, 6))
    labels = ["a", "b"] * 10
    one = bb.NaiveBayes(ledger=True).fit(csr_matrix(dense), labels).book_.ledger
    halves = bb.NaiveBayes(ledger=True).fit(csr_matrix(dense[10:]), labels[10:])
    assert halves.partial_fit(csr_matrix(dense[:10]), labels[:10]).book_.ledger == one
    zeros = csr_matrix((dense.ravel(), np.tile(np.arange(6), 20), np.arange(0, 121, 6)), shape=(20, 6))
    assert bb.NaiveBayes(ledger=True).fit(zeros, labels).book_.ledger == one
    dense[3, 0] += 1
    assert bb.NaiveBayes(ledger=True).fit(csr_matrix(dense), labels).book_.ledger != one


def test_a_model_without_one_is_the_same_bytes():
    with_one, without = (trained(pd.DataFrame(TABLE), ledger=keep) for keep in (True, False))
    assert with_one.book_.digest() == without.book_.digest()
    assert b"ledger" not in to_bytes(without.classifier_)
    assert to_bytes(with_one.classifier_.with_ledger(False)) == to_bytes(without.classifier_)
    with pytest.raises(BadOption):
        without.classifier_.with_ledger(True)


def test_it_goes_with_the_model():
    frame = pd.DataFrame(TABLE)
    one, other, bare = trained(frame[:200]), trained(frame[200:]), trained(frame[200:], ledger=False)
    assert (one + other).book_.ledger == trained(frame).book_.ledger
    assert from_bytes(to_bytes(one.classifier_)).ledger
    for pair, without in (((one, bare), "second"), ((bare, one), "first")):
        with pytest.warns(LostLedger) as warned:
            merged = pair[0] + pair[1]
        assert [each.message.without for each in warned] == [without]
        assert merged.book_.ledger is None
        assert not merged.ledger
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (bare + bare).book_.ledger is None


def test_nothing_is_left_of_what_was_forgotten():
    frame = pd.DataFrame(TABLE)
    clf = trained(frame)
    clf.forget(frame.drop(columns="risk"), frame["risk"])
    assert clf.classifier_.book.ledger.is_empty()
    clf.partial_fit(frame.drop(columns="risk"), frame["risk"])
    assert clf.book_.ledger == trained(frame).book_.ledger


BAD_LANES = [(LANES - 1, 0), (LANES, 65_536), (LANES, -1), (0, 0)]


@pytest.mark.parametrize(("length", "lane"), BAD_LANES)
def test_a_table_that_is_not_a_ledger_is_refused(length, lane):
    members = container.unpack(to_bytes(trained(pd.DataFrame(TABLE)).classifier_), name="m")
    members[Ledger.member] = arrow.write({"lane": numbers_array(np.full(length, lane, dtype=np.int32))})
    with pytest.raises(BadModelFile) as refused:
        from_bytes(container.pack(members))
    assert Ledger.member in refused.value.where


@pytest.mark.parametrize("text", ["", "?", "AAAA", "A" * 2733])
def test_a_text_that_is_not_a_ledger_is_refused(text):
    with pytest.raises(ValueError, match="ledger"):
        Ledger.from_text(text)


@pytest.mark.parametrize("keep", ["yes", 1, None])
def test_it_is_kept_or_not(keep):
    with pytest.raises(BadOption):
        bb.NaiveBayes(ledger=keep).fit({"age": [1, 2]}, ["a", "b"])
