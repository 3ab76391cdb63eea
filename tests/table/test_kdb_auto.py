"""KDB with the number of parents that answers rows held out best."""

import numpy as np
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.calibrated import answers_by_folds
from bayesbox.classifier.evaluate import cross_validate
from bayesbox.classifier.rows import LabelledRows
from bayesbox.errors import BadOption
from bayesbox.schema.encode import encode
from bayesbox.source.base import OneBatch
from bayesbox.source.frames import batch_of
from bayesbox.table.augmented.kdb import FOLDS, TRIED


def table(rows=240, seed=0):
    """The class is a matter of two columns together; a third is noise."""
    rng = np.random.default_rng(seed)
    one, two = rng.choice(["a", "b"], rows), rng.choice(["c", "d"], rows)
    same = (one == "a") == (two == "c")
    flip = rng.random(rows) < 0.1
    columns = {"one": one, "two": two, "noise": rng.choice(["x", "y", "z"], rows)}
    return columns, np.where(same ^ flip, "yes", "no")


def parents(clf):
    return max(len(given) for given in clf.parents_.values())


def test_it_takes_the_number_with_the_least_log_loss_of_folds():
    columns, labels = table()
    rows = LabelledRows(batch_of(columns), encode(labels))
    losses = {}
    for k in TRIED:
        classifier = bb.KDB(k=k).fit(columns, labels).classifier_
        log_p = np.concatenate(answers_by_folds(classifier, [rows], folds=FOLDS))
        losses[k] = -log_p[np.arange(len(labels)), np.searchsorted(classifier.classes, labels)].mean()
    best = min(losses, key=losses.get)
    assert best > 0
    clf = bb.KDB(k="auto").fit(columns, labels)
    assert parents(clf) == min(best, 2)  # there are two others at most
    fixed = bb.KDB(k=best).fit(columns, labels)
    assert clf.book_.digest() == fixed.book_.digest()
    assert np.array_equal(clf.predict_proba(columns), fixed.predict_proba(columns))
    assert clf.get_params()["k"] == "auto"


def test_columns_that_are_independent_get_no_parents():
    rng = np.random.default_rng(3)
    truth = rng.random(200) < 0.5
    columns = {f"c{place}": np.where(rng.random(200) < 0.7, truth, ~truth) for place in range(4)}
    assert parents(bb.KDB(k="auto").fit(columns, truth)) == 0


def test_saved_loaded_and_updated(tmp_path):
    columns, labels = table()
    clf = bb.KDB(k="auto", calibration="temperature").fit(columns, labels, sample_weight=np.full(240, 2.0))
    clf.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert loaded.k == "auto"
    assert np.array_equal(loaded.predict_proba(columns), clf.predict_proba(columns))
    loaded.partial_fit(columns, labels)
    assert loaded.parents_ == clf.parents_


def test_judged_by_folds_and_by_name():
    columns, labels = table()
    source = OneBatch(batch_of({**columns, "label": labels}))
    auto = cross_validate(bb.KDB(k="auto")._new_classifier(), source, "label", folds=3)
    plain = cross_validate(bb.KDB(k=0)._new_classifier(), source, "label", folds=3)
    assert auto.metrics.log_loss.value < 0.8 * plain.metrics.log_loss.value
    from bayesbox.classifier.registry import new_classifier

    assert new_classifier("kdb:auto", {}).rules.k == "auto"
    for wrong in ("many", -1, 6, True, 1.5):
        with pytest.raises(BadOption):
            bb.KDB(k=wrong).fit(columns, labels)
    with refusal(BadOption, found="many"):
        new_classifier("kdb:many", {})
    assert bb.KDB(k="auto").fit({"a": ["x", "y"]}, ["k", "k"]).predict({"a": ["x"]}).tolist() == ["k"]


def test_labels_keep_their_type():
    columns, labels = table()
    clf = bb.KDB(k="auto").fit(columns, (labels == "yes").astype(int))
    assert clf.classes_.tolist() == [0, 1]
