"""`auto` on models: what is chosen, what becomes of it in files, after updates, and in explanations."""

import warnings

import numpy as np
import pytest
from tests.refusal import refusal
from tests.stat.test_calibrate import ESTIMATORS, copies

import bayesbox as bb
from bayesbox.classifier.calibration.auto import worse_than_baseline
from bayesbox.errors import BadModelFile, NoCounts, WorseThanBaseline
from bayesbox.file import container
from bayesbox.file.strict_json import document, parse


def noise(rows=400, seed=0, share=0.9):
    """Twelve copies of a column that says nothing, and one class that most rows have."""
    rng = np.random.default_rng(seed)
    column = rng.integers(0, 30, rows).astype(str)
    return {f"c{i}": column for i in range(12)}, np.where(rng.random(rows) < share, "good", "bad")


def mixed(rows=300, seed=1):
    """The copies, and three columns that say something of their own: weights do what no map can."""
    columns, labels = copies(rows, seed)
    rng = np.random.default_rng(seed + 100)
    own = {f"own{i}": np.where(rng.random(rows) < 0.8, labels == "yes", labels == "no") for i in range(3)}
    return columns | own, labels


def log_loss(clf, columns, labels):
    log_p = clf.predict_log_proba(columns)
    return -log_p[np.arange(len(labels)), np.searchsorted(clf.classes_, labels)].mean()


def test_copies_share_their_weight(tmp_path):
    columns, labels = mixed()
    new, truth = mixed(seed=2)
    plain = bb.NaiveBayes().fit(columns, labels)
    clf = bb.NaiveBayes(calibration="auto").fit(columns, labels)
    found = clf.classifier_.calibrated
    assert found.weights is not None
    assert sum(found.weights[f"copy{i}"] for i in range(6)) < 3
    assert clf.book_.digest() == plain.book_.digest()
    assert log_loss(clf, new, truth) < log_loss(plain, new, truth) - 0.1
    clf.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert loaded.calibration == "auto"
    assert np.array_equal(loaded.predict_proba(new), clf.predict_proba(new))
    bb.NaiveBayes(calibration="auto").fit(columns, labels).save(tmp_path / "again.bayes")
    assert (tmp_path / "again.bayes").read_bytes() == (tmp_path / "m.bayes").read_bytes()


def test_weights_are_powers_of_the_factors():
    columns, labels = mixed()
    clf = bb.NaiveBayes(calibration="auto").fit(columns, labels)
    found, explained = clf.classifier_.calibrated, clf.explain(columns)
    powers = np.array([found.weights[name] for name in clf.feature_names_in_])
    joint = clf.class_log_prior_ + explained.terms @ powers
    log_p = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    expected = log_p if found.calibration is None else found.calibration.applied(log_p)
    assert np.allclose(clf.predict_log_proba(columns), expected)


def test_explanations_are_those_of_the_counts():
    columns, labels = copies()
    plain = bb.NaiveBayes().fit(columns, labels)
    clf = bb.NaiveBayes(calibration="auto").fit(columns, labels)
    assert np.array_equal(clf.explain(columns).terms, plain.explain(columns).terms)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_table_estimator_takes_auto(estimator, tmp_path):
    columns, labels = copies(rows=120)
    new, truth = copies(seed=3)
    plain, clf = estimator().fit(columns, labels), estimator(calibration="auto").fit(columns, labels)
    assert log_loss(clf, new, truth) < log_loss(plain, new, truth) + 0.02
    assert clf.classifier_.chosen.rows == 120
    clf.save(tmp_path / "m.bayes")
    assert np.array_equal(bb.load(tmp_path / "m.bayes").predict_proba(new), clf.predict_proba(new))


def test_below_fifty_rows_nothing_is_done():
    columns, labels = copies(rows=49)
    clf = bb.NaiveBayes(calibration="auto").fit(columns, labels)
    assert clf.classifier_.calibrated is None
    assert clf.classifier_.chosen is None
    assert np.array_equal(clf.predict_proba(columns), bb.NaiveBayes().fit(columns, labels).predict_proba(columns))


def test_weighted_rows_and_another_base_rate():
    columns, labels = copies()
    clf = bb.NaiveBayes(calibration="auto").fit(columns, labels, sample_weight=np.full(300, 2.0))
    assert clf.classifier_.calibrated is not None
    odds, prior = np.divide(*clf.predict_proba(columns).T), np.divide(*np.exp(clf.class_log_prior_))
    other = clf.with_prior({"no": 0.9, "yes": 0.1})
    assert np.allclose(np.divide(*other.predict_proba(columns).T), odds / prior * 9)


def test_a_model_that_is_worse_than_one_answer_says_so():
    columns, labels = noise()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = bb.NaiveBayes().fit(columns, labels)
    from bayesbox.classifier.calibrated import labelled
    from bayesbox.classifier.rows import LabelledRows
    from bayesbox.estimators.inputs import batch_from, labels_from

    rows = labelled([LabelledRows(batch_from(columns), labels_from(labels, 400))])
    found = worse_than_baseline(plain.classifier_, rows)
    assert found.answer == "good"
    assert found.log_loss > found.baseline_log_loss
    assert found.rows == 400
    with pytest.warns(WorseThanBaseline) as caught:
        clf = bb.NaiveBayes(calibration="auto").fit(columns, labels)
    worse = next(each.message for each in caught if isinstance(each.message, WorseThanBaseline))
    assert worse.log_loss < found.log_loss / 2  # the shares are mixed in
    new, truth = noise(seed=1)
    shares = -np.log(np.where(truth == "good", 0.9, 0.1)).mean()
    assert log_loss(clf, new, truth) < shares + 0.02


def test_learning_and_forgetting_make_the_calibration_stale(tmp_path):
    columns, labels = copies()
    clf = bb.NaiveBayes(calibration="auto").fit(columns, labels)
    assert not clf.classifier_.stale
    before = clf.classifier_.calibrated
    some = {name: column[:20] for name, column in columns.items()}
    clf.partial_fit(some, labels[:20])
    assert clf.classifier_.stale
    assert clf.classifier_.calibrated == before
    assert any("stale" in part for part in clf.classifier_.irreversible_parts())
    clf.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert loaded.classifier_.stale
    loaded.forget(some, labels[:20])
    assert not loaded.classifier_.stale  # the counts are those of before, to the bit
    loaded.partial_fit(some, labels[:20]).forget(some, labels[:20])
    loaded.calibrate(columns, labels)
    assert not loaded.classifier_.stale
    fresh = bb.NaiveBayes(calibration="auto").fit(columns, labels)
    assert loaded.classifier_.calibrated == fresh.classifier_.calibrated
    merged = fresh + bb.NaiveBayes(calibration="auto").fit(*copies(seed=5))
    assert merged.classifier_.stale
    assert merged.classifier_.calibrated == fresh.classifier_.calibrated


def test_column_weights_are_stale_too_and_learned_again():
    columns, labels = copies()
    clf = bb.NaiveBayes(column_weights="learned").fit(columns, labels)
    other = bb.NaiveBayes(column_weights="learned").fit(*copies(seed=5))
    merged = clf + other
    assert merged.classifier_.stale
    assert merged.classifier_.derived == clf.classifier_.derived
    again = {name: np.r_[columns[name], copies(seed=5)[0][name]] for name in columns}
    both = np.r_[labels, copies(seed=5)[1]]
    merged.calibrate(again, both, None)
    assert not merged.classifier_.stale
    whole = bb.NaiveBayes(column_weights="learned").fit(again, both)
    assert merged.classifier_.derived == pytest.approx(whole.classifier_.derived)


def test_rows_that_were_never_learned_calibrate_as_they_are():
    columns, labels = copies()
    new, truth = copies(seed=2)
    clf = bb.NaiveBayes().fit(columns, labels)
    log_p = clf.predict_log_proba(new)
    clf.calibrate(new, truth, "temperature", held_out=True)
    codes = np.searchsorted(clf.classes_, truth)
    from bayesbox.stat.calibrate import calibration

    assert clf.classifier_.calibrated.calibration == calibration("temperature", log_p, codes)
    clf.calibrate(columns, labels, None)
    assert clf.classifier_.calibrated is None
    given = bb.NaiveBayes.from_tables(
        prior={"a": 0.5, "b": 0.5}, tables={"x": {"a": {"u": 0.5, "v": 0.5}, "b": {"u": 1.0, "v": 0.0}}}
    )
    with refusal(NoCounts):
        given.calibrate({"x": ["u", "v"]}, ["a", "b"])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"weights": {"copy0": -1.0}}, "weight"),
        ({"weights": {"elsewhere": 1.0}}, "columns"),
        ({"asked": "platt"}, "platt"),
        ({"held_out": {"before": 1.0, "after": 0.5, "rows": 0}}, "rows"),
        ({"share": 1.5}, "share"),
        ({"log_shares": [0.0, 0.0]}, "shares"),
    ],
)
def test_a_crafted_file_is_refused(tmp_path, change, name):
    columns, labels = copies(rows=60)
    path = tmp_path / "m.bayes"
    bb.NaiveBayes(calibration="shares").fit(columns, labels).save(path)
    members = container.unpack(path.read_bytes(), name="m")
    written = parse(members["model.json"])
    written["calibration"].update(change)
    path.write_bytes(container.pack({**members, "model.json": document(written)}))
    with refusal(BadModelFile, where="model.json", what=name):
        bb.load(path)
