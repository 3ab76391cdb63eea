"""Evaluation: cross-validation by subtraction against refitting, streams against one batch, and what is told."""

import json
import math
import re
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics as sk
from tests.refusal import refusal

from bayesbox.classifier import evaluation
from bayesbox.classifier.evaluate import (
    cross_validate,
    evaluate_held_out,
    judge_fold,
    learned_and_kept,
    leave_one_out,
)
from bayesbox.classifier.rows import LabelledRows, common_codes, minus_rows, parts_of
from bayesbox.classifier.train import train
from bayesbox.errors import BadData, BadOption, DataWarning, UnknownColumn, UnseenLevel
from bayesbox.rule.options import NaiveOptions
from bayesbox.rule.smoothing import Laplace, MaximumLikelihood
from bayesbox.schema.columns import CountMatrix
from bayesbox.schema.encode import Encoded, encode
from bayesbox.source.base import Batch, OneBatch, Source
from bayesbox.stat.folds import stratified_folds
from bayesbox.stat.metrics import measure, scored, wilson
from bayesbox.table.naive.classifier import NaiveClassifier

FOLDS = 4


class Cut(Source):
    """A table as a source of batches of some size."""

    def __init__(self, table, rows, name="data"):
        self.table, self.rows, self.name = table, rows, name

    def batches(self):
        for start in range(0, self.table.num_rows, self.rows):
            part = self.table.slice(start, self.rows)
            yield Batch.from_arrow(part.combine_chunks().to_batches()[0], start)


def people(rows=120, seed=0):
    """A table of all kinds with missing values, missing labels, weights, and a level and a class that are rare."""
    random = np.random.default_rng(seed)
    label = random.choice(["no", "yes", "maybe"], rows, p=[0.5, 0.4, 0.1])
    shift = np.select([label == "yes", label == "maybe"], [1.0, 2.0], 0.0)
    age = 30 + 10 * shift + random.normal(0, 8, rows)
    car = np.where(random.random(rows) < 0.3 + 0.2 * shift, "suv", random.choice(["van", "bus"], rows)).astype(object)
    car[5], label = "tractor", label.astype(object)
    label[7] = "once"
    age[::9], car[::11], label[::13] = np.nan, None, None
    return pa.table(
        {
            "age": pa.array(age, from_pandas=True),
            "car": pa.array(car, pa.string()),
            "old": pa.array(random.random(rows) < 0.2 + 0.3 * shift),
            "empty": pa.nulls(rows),
            "flag": pa.array(random.integers(0, 2, rows)),
            "weight": pa.array(random.gamma(2.0, size=rows)),
            "label": pa.array(label, pa.string()),
        }
    )


def fresh(**rules):
    return NaiveClassifier(NaiveOptions(**rules), {"weight": "ignore"})


def weighted(**rules):
    return NaiveClassifier(NaiveOptions(**rules))


WAYS = [
    pytest.param(None, 1000, id="plain"),
    pytest.param("weight", 1000, id="weighted"),
    pytest.param(None, 7, id="cut"),
]


@pytest.mark.parametrize(("weight", "size"), WAYS)
@pytest.mark.parametrize("rules", [{}, {"missing": "level"}, {"smoothing": MaximumLikelihood()}], ids=str)
def test_subtraction_is_refitting(weight, size, rules):
    table = people()
    make = weighted if weight else fresh
    whole = make(**rules)
    kept, _ = learned_and_kept(whole, Cut(table, size), "label", weight=weight)
    codes = common_codes([rows.labels for rows in kept])
    fold_of_row = stratified_folds(codes, FOLDS, seed=1)
    for number, parts in enumerate(parts_of(kept, fold_of_row, FOLDS)):
        chosen = np.flatnonzero(fold_of_row == number)
        subtracted = minus_rows(whole, [rows.take(own) for rows, own in parts])
        refitted = make(**rules)
        train(
            refitted,
            OneBatch(Batch.from_arrow(table.take(np.flatnonzero(fold_of_row != number)))),
            "label",
            weight=weight,
        )
        assert subtracted.book.digest() == refitted.book.digest()
        assert subtracted.model.classes == refitted.model.classes
        test = Batch.from_arrow(table.take(chosen))
        with np.errstate(all="ignore"):
            expected, found = (_log_p(each, test) for each in (refitted, subtracted))
        np.testing.assert_array_equal(found, expected)


def _log_p(classifier, batch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # rows that the rule of relative frequencies finds impossible
        return classifier.log_posterior(batch)


def test_cross_validation_against_a_loop_of_fits():
    table = people().filter(pa.compute.is_valid(people()["label"]))
    found = cross_validate(weighted(), Cut(table, 31), "label", folds=FOLDS, seed=5, weight="weight")
    labels, weights = table["label"].to_pylist(), np.array(table["weight"])
    classes = sorted(set(labels))
    codes = np.array([classes.index(label) for label in labels])
    p = np.zeros((len(labels), len(classes)))
    fold_of_row = stratified_folds(codes, FOLDS, seed=5)
    for number in range(FOLDS):
        refitted = weighted()
        train(
            refitted,
            OneBatch(Batch.from_arrow(table.filter(pa.array(fold_of_row != number)))),
            "label",
            weight="weight",
        )
        chosen = np.flatnonzero(fold_of_row == number)
        places = [classes.index(name) for name in refitted.model.classes]
        p[np.ix_(chosen, places)] = refitted.posterior(Batch.from_arrow(table.take(chosen)))
    metrics = found.metrics
    predicted = p.argmax(axis=1)
    assert metrics.accuracy.value == pytest.approx(
        sk.accuracy_score(codes, predicted, sample_weight=weights), abs=1e-12
    )
    assert metrics.clipped_log_loss == pytest.approx(
        sk.log_loss(codes, p, labels=range(len(classes)), sample_weight=weights), rel=1e-9
    )
    expected = sk.confusion_matrix(codes, predicted, labels=range(len(classes)), sample_weight=weights)
    np.testing.assert_allclose(metrics.confusion, expected, rtol=1e-12)
    assert metrics.labels == tuple(classes)


@pytest.mark.parametrize("size", [5, 13, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_neither_batches_nor_threads_change_a_bit(size, threads):
    table = people()
    once = cross_validate(fresh(), Cut(table, 50), "label", folds=3, repeats=2, seed=2)
    other = cross_validate(fresh(), Cut(table, size), "label", folds=3, repeats=2, seed=2, threads=threads)
    assert other.scored.by_class.digest() == once.scored.by_class.digest()
    assert other.scored.by_bin.digest() == once.scored.by_bin.digest()
    assert other.accuracy_by_repeat == once.accuracy_by_repeat
    classifier = fresh()
    train(classifier, Cut(table, 50), "label")
    one = evaluate_held_out(classifier, Cut(table, 50), "label")
    two = evaluate_held_out(classifier, Cut(table, size), "label", threads=threads)
    assert one.scored.by_class.digest() == two.scored.by_class.digest()
    assert json.dumps(one.as_dict()) == json.dumps({**two.as_dict(), "auc": one.as_dict()["auc"]})


def test_a_seed_gives_the_same_and_another_something_else():
    results = {
        seed: cross_validate(fresh(), Cut(people(), 50), "label", folds=5, seed=seed).scored.by_class.digest()
        for seed in (0, 1)
    }
    again = cross_validate(fresh(), Cut(people(), 50), "label", folds=5, seed=0)
    assert again.scored.by_class.digest() == results[0] != results[1]


def test_repeats_are_shuffled_anew_and_counted_once():
    found = cross_validate(fresh(), Cut(people(), 50), "label", folds=3, repeats=3)
    assert len(found.accuracy_by_repeat) == 3
    assert len(set(found.accuracy_by_repeat)) > 1
    assert found.metrics.accuracy.value == pytest.approx(np.mean(found.accuracy_by_repeat))
    assert (found.scored.rows, found.scored.unlabelled) == (110, 10)
    assert found.metrics.weight == 330
    assert found.metrics.accuracy == pytest.approx(wilson(110 * np.mean(found.accuracy_by_repeat), 110))


def test_held_out_equals_scikit_learn():
    table = people(300)
    classifier = fresh()
    train(classifier, Cut(table.slice(0, 200), 64), "label")
    test = table.slice(200).filter(pa.compute.is_valid(table.slice(200)["label"]))
    found = evaluate_held_out(classifier, Cut(table.slice(200), 9), "label").metrics
    p = classifier.posterior(Batch.from_arrow(test))
    labels = test["label"].to_pylist()
    classes = list(classifier.model.classes)
    assert found.accuracy.value == sk.accuracy_score(labels, [classes[code] for code in p.argmax(axis=1)])
    assert found.clipped_log_loss == pytest.approx(sk.log_loss(labels, p, labels=classes), rel=1e-12)
    assert found.brier.value == pytest.approx(sk.brier_score_loss(labels, p, labels=classes), rel=1e-12)


def test_held_out_weights_are_weights_of_the_metrics():
    table = people(80)
    classifier = weighted()
    train(classifier, Cut(table, 80), "label", weight="weight")
    found = evaluate_held_out(classifier, Cut(table, 9), "label", weight="weight")
    labelled = np.array(table["label"].is_valid())
    assert found.metrics.weight == pytest.approx(np.array(table["weight"])[labelled].sum())


def test_a_label_never_seen_is_counted_and_named():
    classifier = fresh()
    train(
        classifier,
        Cut(pa.table({"age": [1.0, 2, 3, 4], "label": ["a", "a", "b", "b"]}).append_column("weight", [[1.0] * 4]), 9),
        "label",
    )
    test = pa.table({"age": [1.0, 4, 2, 2], "label": ["a", "b", "new", None]})
    found = evaluate_held_out(classifier, Cut(test, 2), "label")
    assert (found.scored.rows, found.scored.unlabelled) == (3, 1)
    assert found.metrics.accuracy.value == pytest.approx(2 / 3)
    assert found.as_dict()["unseen"] == {"new": 1}
    assert "labels not seen in training, counted as errors: new (1)" in found.text()
    assert "3 rows, 1 without a label dropped" in found.text()
    assert "1 prediction gave the true class probability 0" in found.text()


def test_a_class_that_one_fold_holds_alone_is_unseen_there():
    table = pa.table({"age": [1.0, 2, 3, 4, 5, 6, 7], "label": ["a", "a", "a", "b", "b", "b", "once"]})
    found = cross_validate(weighted(), Cut(table, 3), "label", folds=3)
    assert found.scored.unseen == {"once": 1}
    assert found.scored.impossible == 1
    assert found.metrics.log_loss.value == math.inf
    assert "log loss, clipped" in found.text()
    assert found.metrics.labels == ("a", "b", "once")
    smooth = cross_validate(weighted(prior_smoothing=Laplace()), Cut(table, 3), "label", folds=3)
    assert smooth.scored.unseen == {}
    assert smooth.metrics.log_loss.value < 10


def test_one_class_alone():
    table = pa.table({"age": [1.0, 2, 3, 5], "label": ["a"] * 4})
    for found in (
        cross_validate(weighted(), Cut(table, 3), "label", folds=2),
        leave_one_out(weighted(), Cut(table, 3), "label"),
    ):
        assert found.metrics.accuracy.value == 1
        assert found.metrics.log_loss.value == 0
        assert found.metrics.confusion.tolist() == [[4]]
        assert "always a: 1.0000" in found.text()
        assert "ROC" not in found.text()
        assert found.metrics.baseline_log_loss == 0


def test_no_label_at_all_is_bad_data():
    table = pa.table({"age": [1.0, 2], "label": pa.array([None, None], pa.string())})
    classifier = fresh()
    train(classifier, Cut(people(), 50), "label")
    with refusal(BadData, where="data"):
        evaluate_held_out(classifier, Cut(table, 2), "label")
    with refusal(BadData, where="data"):
        evaluate_held_out(classifier, Cut(table.slice(0, 0), 2), "label")
    with refusal(BadData, where="data"):
        cross_validate(weighted(), Cut(table, 2), "label", folds=2)
    with refusal(BadData, where="data"):
        leave_one_out(weighted(), Cut(table, 2), "label")


def test_leave_one_out_against_refitting():
    table = people(40)
    table = table.filter(pa.compute.is_valid(table["label"]))
    found = leave_one_out(fresh(), Cut(table, 9), "label")
    total = None
    for row in range(table.num_rows):
        refitted = fresh()
        others = np.flatnonzero(np.arange(table.num_rows) != row)
        train(refitted, OneBatch(Batch.from_arrow(table.take(others))), "label")
        one = Batch.from_arrow(table.slice(row, 1))
        classes = sorted(set(table["label"].to_pylist()))
        part = scored(refitted.log_posterior(one), encode(one["label"]), refitted.model.classes, classes=classes)
        total = part if total is None else total + part
    expected = measure(total)
    assert found.metrics.confusion.tolist() == expected.confusion.tolist()
    assert found.metrics.clipped_log_loss == pytest.approx(expected.clipped_log_loss, rel=1e-9)
    assert found.how == "leave-one-out"


def test_leave_one_out_counts_rows_without_a_label():
    found = leave_one_out(fresh(), Cut(people(60), 7), "label")
    assert (found.scored.rows, found.scored.unlabelled) == (55, 5)


def test_columns_the_data_lack_are_named():
    classifier = fresh()
    train(classifier, Cut(people(), 50), "label")
    found = evaluate_held_out(classifier, Cut(people().drop_columns(["car", "old"]), 50), "label")
    assert sorted(found.as_dict()["absent"]) == ["car", "old"]
    with refusal(BadData, where="data"):
        evaluate_held_out(classifier, Cut(people().select(["label", "weight"]), 50), "label")
    with refusal(UnknownColumn, column="labels", where="data"):
        evaluate_held_out(classifier, Cut(people(), 50), "labels")


def test_unseen_levels_are_an_error_only_where_asked_for():
    with refusal(UnseenLevel, column="car", found="tractor"):
        cross_validate(fresh(unseen="error"), Cut(people(), 50), "label", folds=3)
    car, label = people()["car"].to_pylist(), people()["label"].to_pylist()
    label[5] = None  # the row with the rare level is not learned, so nobody has to know the level
    assert car.index("tractor") == 5
    table = people().set_column(1, "car", [car]).set_column(6, "label", [label])
    found = cross_validate(fresh(unseen="error"), Cut(table, 50), "label", folds=3)
    assert found.scored.rows == found.metrics.confusion.sum() == 109


def test_taken_rows_bring_their_own_levels():
    column = pa.array(["suv", None, "van", "bus", "van"]).dictionary_encode()
    labels = Encoded(np.zeros(5, dtype=np.int32), ["a"], ["a"])
    taken = LabelledRows(Batch(("car",), (column,), 5), labels).take(np.array([4, 1, 3]))
    assert taken.batch["car"].to_pylist() == ["van", None, "bus"]
    assert taken.batch["car"].dictionary.to_pylist() == ["van", "bus"]


def test_integer_labels_keep_their_order():
    table = pa.table({"age": np.arange(40.0), "label": np.repeat([10, 9, 2, 1], 10)})
    found = cross_validate(weighted(), Cut(table, 7), "label", folds=5)
    assert found.metrics.labels == ("1", "2", "9", "10")


def test_folded_flags():
    random = np.random.default_rng(3)
    car = random.integers(0, 3, 60)
    table = pa.table(
        {
            **{name: (car == code).astype(int) for code, name in enumerate(["suv", "van", "bus"])},
            "label": (car > 0).astype(str),
        }
    )
    found = cross_validate(
        NaiveClassifier(NaiveOptions(), one_hot={"car": ["suv", "van", "bus"]}), Cut(table, 7), "label", folds=3
    )
    assert found.metrics.accuracy.value == 1


def test_rows_of_a_count_matrix_are_taken():
    dense = np.array([[0, 2, 0], [1, 0, 3], [0, 0, 0], [4, 0, 5]])
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=4))])
    matrix = CountMatrix(indptr, columns, dense[rows, columns], 3)
    labels = Encoded(np.array([0, 1, 0, -1], dtype=np.int32), ["a", "b"], ["a", "b"])
    taken = LabelledRows(Batch(("counts",), (matrix,), 4), labels, np.arange(4.0)).take(np.array([3, 2, 0]))
    np.testing.assert_array_equal(taken.batch["counts"].times(np.eye(3)), dense[[3, 2, 0]])
    assert taken.labels.codes.tolist() == [-1, 0, 0]
    assert taken.weights.tolist() == [3, 2, 0]
    assert taken.batch.rows == 3


def test_parts_of_a_fold_hold_its_rows():
    kept, _ = learned_and_kept(fresh(), Cut(people(), 50), "label")
    fold_of_row = stratified_folds(common_codes([rows.labels for rows in kept]), 3)
    starts = {id(rows): 50 * index for index, rows in enumerate(kept)}
    for number, parts in enumerate(parts_of(kept, fold_of_row, 3)):
        found = [starts[id(rows)] + own for rows, own in parts]
        assert np.concatenate(found).tolist() == np.flatnonzero(fold_of_row == number).tolist()
    whole = fresh()
    train(whole, Cut(people(), 50), "label")
    assert judge_fold(whole, parts_of(kept, fold_of_row, 3), 0).found.rows == (fold_of_row == 0).sum()


def test_progress_counts_every_row():
    seen = []
    cross_validate(fresh(), Cut(people(), 50), "label", folds=3, repeats=2, progress=seen.append)
    assert sum(seen) == 2 * 110
    seen.clear()
    classifier = fresh()
    leave_one_out(classifier, Cut(people(), 50), "label", progress=seen.append)
    evaluate_held_out(classifier, Cut(people(), 50), "label", progress=seen.append)
    assert sum(seen) == 240


@pytest.mark.parametrize(
    ("option", "value"),
    [("folds", 1), ("repeats", 0), ("bins", 0), ("folds", 111)],
)
def test_refusals(option, value):
    with refusal(BadOption, found=value):
        cross_validate(fresh(), Cut(people(), 50), "label", **{option: value})


def test_the_keys_are_stable():
    found = cross_validate(fresh(), Cut(people(), 50), "label", folds=3, repeats=2, seed=9).as_dict()
    expected = """
        how data target rows unlabelled skipped weight folds repeats seed classes accuracy accuracy_by_repeat log_loss
        brier calibration_error auc baseline macro per_class confusion bins unseen absent before_calibration
        intervals by
    """
    assert list(found) == expected.split()
    assert list(found["log_loss"]) == ["value", "low", "high", "clipped", "impossible"]
    assert list(found["brier"]) == ["value", "low", "high", "worst", "sum"]
    assert list(found["per_class"][0]) == ["class", "precision", "recall", "f1", "support"]
    assert list(found["bins"][0]) == ["start", "stop", "n", "confidence", "accuracy", "low", "high"]
    assert (found["folds"], found["repeats"], found["seed"]) == (3, 2, 9)
    for key in found:
        assert re.search(rf"\b{key}\b", evaluation.__doc__), f"{key} is not documented"


def test_the_text_tells_what_the_mapping_tells():
    found = cross_validate(fresh(), Cut(people(), 50), "label", folds=3, repeats=2, seed=9)
    text, facts = found.text(), found.as_dict()
    assert text.startswith(
        "cross-validation, 3 folds, 2 repeats, seed 9: data, target label\n110 rows, 10 without a label"
    )
    for value in (*facts["accuracy"].values(), facts["calibration_error"], facts["auc"], facts["macro"]["f1"]):
        assert f"{value:.4f}" in text
    assert f"always {facts['baseline']['class']}: {facts['baseline']['accuracy']:.4f}" in text
    assert "confusion, over all 2 repeats" in text
    points = [each for each in ET.fromstring(found.svg()).iter() if each.tag.endswith("circle")]
    assert len(points) == sum(each["n"] > 0 for each in facts["bins"]) > 1


def test_many_classes_show_the_worst_confusions_only():
    random = np.random.default_rng(0)
    code = np.arange(390) % 13
    code[:300:13] = 12  # the first class is mostly taken for the last
    table = pa.table(
        {"x": (np.arange(390) % 13) + random.normal(0, 0.01, 390), "label": np.char.add("k", code.astype(str))}
    )
    text = cross_validate(weighted(), Cut(table, 100), "label", folds=3).text()
    assert "most frequent confusions" in text
    assert "true \\ predicted" not in text
    assert len(text.split("most frequent confusions\n")[1].split("\n\n")[0].splitlines()) == 11
