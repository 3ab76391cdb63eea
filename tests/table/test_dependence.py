"""Columns that depend on each other given the class: found, with the harm they do."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import mutual_info_score

import bayesbox as bb
from bayesbox.classifier.row_sample import FEWEST, MOST, Sampled, watched
from bayesbox.classifier.rows import LabelledRows
from bayesbox.described import command_speaks
from bayesbox.schema.encode import encode
from bayesbox.source.base import Batch, OneBatch, Source
from bayesbox.source.frames import batch_of
from bayesbox.stat.metrics import measure, scored
from bayesbox.table.dependence import dependence_in, strong_pairs


def patients(rows=600, seed=0, copies=True):
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.4
    sign = np.where(rng.random(rows) < 0.75, ill, ~ill)
    columns = {"sign": sign, "age": rng.normal(50 + 6 * ill, 10), "ward": rng.choice(["n", "s"], rows)}
    if copies:
        columns |= {f"copy{place}": sign for place in range(3)}
        columns["years"] = columns["age"] + rng.normal(0, 1, rows)
    return columns, np.where(ill, "ill", "well")


def score(p, labels, classes):
    found = measure(scored(np.log(p), encode(labels), tuple(classes)))
    return found.log_loss.value, found.calibration_error


def test_the_harm_is_that_of_leaving_rows_out():
    columns, labels = patients()
    found = bb.NaiveBayes().dependence(columns, labels)
    assert {found.pairs[0].first, found.pairs[0].second} == {"age", "years"}
    assert all(pair.share > 0.3 for pair in found.pairs)
    clf = bb.NaiveBayes().fit(columns, labels)
    assert tuple(found.naive) == pytest.approx(score(clf.leave_one_out(columns, labels), labels, clf.classes_))
    rest = {name: column for name, column in columns.items() if name != found.pairs[0].second}
    other = bb.NaiveBayes().fit(rest, labels)
    assert tuple(found.without) == pytest.approx(score(other.leave_one_out(rest, labels), labels, other.classes_))
    assert found.better.log_loss < 0.9 * found.naive.log_loss
    assert found.better.calibration_error < found.naive.calibration_error
    text = str(found)
    assert "`years`" in text
    assert f"without `{found.pairs[0].second}`: {found.without}" in text
    assert found.remedy in ("column_weights='learned'", "TAN()", "AODE()")
    with command_speaks():
        assert found.remedy in ("--column-weights", "--model tan", "--model aode")


def test_copies_share_all_that_they_hold():
    columns, labels = patients()
    clf = bb.NaiveBayes().fit(columns, labels)
    rows = [LabelledRows(batch_of(columns), encode(labels))]
    pairs = {frozenset(pair[:2]): pair for pair in strong_pairs(rows, clf.classifier_)}
    assert all("ward" not in names for names in pairs)
    pair = pairs[frozenset(("sign", "copy0"))]
    held = sum(
        (labels == label).mean()
        * mutual_info_score(columns["sign"][labels == label], columns["copy0"][labels == label])
        for label in ("ill", "well")
    )
    assert pair.information == pytest.approx(held - 2 / (2 * 600), rel=1e-9)  # less what chance brings
    assert pair.share == pytest.approx(1, abs=0.01)


def test_independent_columns_and_few_rows_are_no_matter():
    assert bb.NaiveBayes().dependence(*patients(copies=False)) is None
    assert bb.NaiveBayes().dependence(*patients(rows=FEWEST - 1)) is None
    columns, labels = patients()
    assert bb.NaiveBayes().dependence(columns, np.full(600, "well")) is None
    clf = bb.NaiveBayes().fit(columns, labels)
    assert clf.dependence(columns, labels) == bb.NaiveBayes().dependence(columns, labels)


@pytest.mark.parametrize("batch", [1000, 7777, 50_000])
def test_a_sample_follows_from_the_rows_alone(batch):
    rows = 50_000
    table = batch_of({"number": np.arange(rows, dtype=float), "text": [str(place) for place in range(rows)]})

    class Cut(Source):
        name = "data"

        def batches(self):
            for start in range(0, rows, batch):
                yield table.slice(start, min(start + batch, rows))

    sampled = Sampled(Cut(), 1000)
    assert sum(each.rows for each in sampled.batches()) == rows
    numbers = np.concatenate([np.asarray(part["number"]) for part in sampled.kept])
    texts = [str(text) for part in sampled.kept for text in part["text"]]
    assert 1000 <= len(numbers) <= 2000
    assert texts == [str(int(number)) for number in numbers]
    assert numbers.mean() == pytest.approx(rows / 2, rel=0.1)
    if batch == 50_000:
        again = Sampled(OneBatch(table), 1000)
        list(again.batches())
        assert np.array_equal(np.asarray(again.kept[0]["number"]), numbers)


def test_what_is_watched():
    columns, labels = patients(rows=3 * MOST)
    source = OneBatch(Batch.from_arrow(pa.table({**columns, "label": labels})))
    classifier = bb.NaiveBayes()._new_classifier()
    sampled = watched(classifier, source)
    list(sampled.batches())
    assert dependence_in(sampled, classifier, "label", None).rows <= MOST
    assert watched(bb.TAN()._new_classifier(), source) is None
    assert watched(bb.NaiveBayes(column_weights="learned")._new_classifier(), source) is None
    assert watched(bb.NaiveBayes(calibration="isotonic")._blank_classifier(), source) is None
