"""Calibration: against other algorithms for the same maps, and as part of a model."""

import numpy as np
import pytest
import scipy.optimize
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadModelFile, BadOption, LostCalibration
from bayesbox.file import container
from bayesbox.schema.encode import encode
from bayesbox.stat.calibrate import (
    KINDS,
    Temperature,
    calibration,
    normalised,
    pooled_adjacent_violators,
)
from bayesbox.stat.descent import minimum
from bayesbox.stat.metrics import measure, scored


def answers(rows=400, classes=3, seed=0, sure=3.0):
    """Answers that are `sure` times as sure as they should be, and what came true."""
    rng = np.random.default_rng(seed)
    right = normalised(rng.normal(size=(rows, classes)) * 1.5)
    codes = np.array([rng.choice(classes, p=p / p.sum()) for p in np.exp(right)])
    return normalised(sure * right), codes


def loss(log_p, codes):
    return -log_p[np.arange(len(codes)), codes].mean()


def copies(rows=300, seed=1):
    """A flag that says something, six times over: naive Bayes counts it six times."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, rows)
    flag = np.where(rng.random(rows) < 0.75, truth, 1 - truth)
    other = np.where(rng.random(rows) < 0.6, truth, 1 - truth)
    columns = {f"copy{i}": flag.astype(bool) for i in range(6)} | {"other": other.astype(bool)}
    return columns, np.where(truth == 1, "yes", "no")


def test_descent_agrees_with_scipy():
    rng = np.random.default_rng(3)
    matrix, target = rng.normal(size=(40, 6)), rng.normal(size=40)

    def function(x):
        rest = matrix @ x - target
        return float(np.log(np.cosh(rest)).sum()), matrix.T @ np.tanh(rest)

    expected = scipy.optimize.minimize(function, np.zeros(6), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    assert np.allclose(minimum(function, np.zeros(6), decrease=0), expected, atol=1e-6)


def test_temperature_is_the_best_power():
    log_p, codes = answers()
    found = calibration("temperature", log_p, codes)
    assert isinstance(found, Temperature)
    best = scipy.optimize.minimize_scalar(lambda t: loss(normalised(t * log_p), codes), bounds=(0.01, 5)).x
    assert found.power == pytest.approx(best, rel=1e-4)
    assert found.power == pytest.approx(1 / 3, rel=0.3)


def test_blocks_are_those_of_isotonic_regression():
    rng = np.random.default_rng(5)
    hits, total = rng.integers(0, 4, 60).astype(float), np.full(60, 4.0)
    blocks = pooled_adjacent_violators(hits, total)
    ends, fitted = [end for end, _ in blocks], [hit / all_ for _, (hit, all_) in blocks]
    ours = np.repeat(fitted, np.diff([0, *ends]))
    theirs = IsotonicRegression().fit_transform(np.arange(60), hits / total, sample_weight=total)
    assert np.allclose(ours, theirs)


def test_a_single_row_at_the_end_lifts_no_others():
    score = np.concatenate([[-20.0], np.linspace(-10, -5, 100), np.linspace(5, 10, 100)])
    true = np.concatenate([[0], np.arange(100) % 25 == 0, np.arange(100) % 10 != 5]).astype(np.int64)
    log_p = normalised(np.stack([-score / 2, score / 2], axis=1))
    found = calibration("isotonic", log_p, true)
    mended = np.exp(found.applied(log_p))[:, 1]
    assert mended[:101].max() < 0.1
    assert mended[101:].min() > 0.7
    other = np.exp(calibration("isotonic", log_p[:, ::-1], 1 - true).applied(log_p[:, ::-1]))[:, 0]
    assert np.allclose(mended, other, atol=0.02)  # the classes may change places


@pytest.mark.parametrize("seed", range(20))
def test_isotonic_curves_rise_and_those_of_two_classes_are_one(seed):
    draw = np.random.default_rng(seed)
    log_p = normalised(draw.normal(size=(draw.integers(2, 80), 2)) * 5)
    codes = draw.integers(0, 2, len(log_p))
    found = calibration("isotonic", log_p, codes)
    for at, share in zip(found.log_odds, found.probability, strict=True):
        assert np.all(np.diff(at) > 0)
        assert np.all(np.diff(share) >= 0)
        assert 0 < share[0] <= share[-1] < 1
    assert np.allclose(np.exp(found.applied(log_p))[:, 1], np.interp(log_p[:, 1] - log_p[:, 0], at, share))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_mended_on_other_rows(kind, classes):
    log_p, codes = answers(rows=3000, classes=classes)
    found = calibration(kind, log_p[:2000], codes[:2000])
    mended = found.applied(log_p[2000:])
    assert np.allclose(np.exp(mended).sum(axis=1), 1)
    assert loss(mended, codes[2000:]) < 0.9 * loss(log_p[2000:], codes[2000:])


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repetitions(kind):
    log_p, codes = answers(rows=60)
    weights = np.random.default_rng(2).integers(0, 3, 60)
    repeated = np.repeat(np.arange(60), weights)
    once = calibration(kind, log_p, codes, weights.astype(float)).applied(log_p)
    again = calibration(kind, log_p[repeated], codes[repeated]).applied(log_p)
    seen = weights > 0  # isotonic knows nothing of what lies beyond
    assert np.allclose(once[seen], again[seen], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_impossible_answers_do_no_harm(kind):
    log_p, codes = answers(rows=50)
    log_p[:3] = [0.0, -np.inf, -np.inf]
    codes[0] = 2
    mended = calibration(kind, log_p, codes).applied(log_p)
    assert not np.isnan(mended).any()
    assert np.allclose(np.exp(mended).sum(axis=1), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_calibrated_model(kind, tmp_path):
    columns, labels = copies()
    new, truth = copies(seed=2)
    plain = bb.NaiveBayes().fit(columns, labels)
    clf = bb.NaiveBayes(calibration=kind).fit(columns, labels)
    assert clf.book_.digest() == plain.book_.digest()

    def judged(model):
        return measure(scored(model.predict_log_proba(new), encode(truth), tuple(model.classes_)))

    before, after = judged(plain), judged(clf)
    assert after.calibration_error < before.calibration_error * (1 if kind == "shares" else 0.5)
    assert after.log_loss.value < before.log_loss.value
    clf.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert loaded.calibration == kind
    assert np.array_equal(loaded.predict_proba(new), clf.predict_proba(new))
    loaded.save(tmp_path / "again.bayes")
    assert (tmp_path / "m.bayes").read_bytes() == (tmp_path / "again.bayes").read_bytes()


ESTIMATORS = (bb.NaiveBayes, bb.AveragedNaiveBayes, bb.AODE, bb.TAN, bb.KDB, bb.FullBayes)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_table_estimator_is_calibrated_alike(estimator, tmp_path):
    columns, labels = copies()
    clf = estimator(calibration="isotonic").fit(columns, labels)
    assert clone(clf).calibration == "isotonic"
    plain = estimator().fit(columns, labels).predict_log_proba(columns)
    assert np.array_equal(clf.predict_log_proba(columns), clf.classifier_.calibrated.calibration.applied(plain))
    clf.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert loaded.calibration == "isotonic"
    assert np.array_equal(loaded.predict_proba(columns), clf.predict_proba(columns))


@pytest.mark.parametrize("kind", KINDS)
def test_another_base_rate_multiplies_the_calibrated_odds(kind):
    columns, labels = copies()
    clf = bb.NaiveBayes(calibration=kind).fit(columns, labels)
    odds = np.divide(*clf.predict_proba(columns).T)
    prior = np.divide(*np.exp(clf.class_log_prior_))
    other = clf.with_prior({"no": 0.9, "yes": 0.1})
    assert np.allclose(np.divide(*other.predict_proba(columns).T), odds / prior * 9)
    back = other.with_prior(dict(zip(clf.classes_, np.exp(clf.class_log_prior_), strict=True)))
    assert np.allclose(back.predict_proba(columns), clf.predict_proba(columns))
    certain = clf.with_prior({"no": 1.0, "yes": 0.0})
    assert certain.predict_proba(columns)[:, 0].min() == 1


def test_weighted_rows_are_calibrated_by_folds():
    columns, labels = copies(rows=120)
    weights = np.tile([1.0, 2.0], 60)
    clf = bb.NaiveBayes(calibration="temperature").fit(columns, labels, sample_weight=weights)
    calibrated = clf.classifier_.calibrated
    assert 0.05 < calibrated.calibration.power < 0.9


def test_a_class_that_turns_up_later_ends_the_calibration():
    columns, labels = copies(rows=60)
    clf = bb.NaiveBayes(calibration="dirichlet").fit(columns, labels)
    clf.partial_fit(columns, labels)
    assert clf.classifier_.calibrated is not None
    with pytest.warns(LostCalibration):
        clf.partial_fit({name: column[:1] for name, column in columns.items()}, ["maybe"])
    assert clf.predict_proba(columns).shape == (60, 3)


def test_one_class_needs_no_calibration():
    clf = bb.NaiveBayes(calibration="isotonic").fit({"a": ["x", "y"]}, ["k", "k"])
    assert clf.predict_proba({"a": ["x"]}).tolist() == [[1.0]]


def test_an_unknown_calibration_is_refused():
    with refusal(
        BadOption, kind="calibration", name="platt", choices=("temperature", "isotonic", "dirichlet", "shares", "auto")
    ):
        bb.NaiveBayes(calibration="platt").fit({"a": ["x", "y"]}, ["k", "l"])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"kind": "other"}, "'other'"),
        ({"power": -1.0}, "exponent"),
        ({"classes": ["no", "other"]}, "classes"),
        ({"log_prior": [0.5]}, "prior"),
        ({"more": 1}, "`more`"),
    ],
)
def test_a_crafted_calibration_is_refused(tmp_path, change, name):
    columns, labels = copies(rows=60)
    path = tmp_path / "m.bayes"
    bb.NaiveBayes(calibration="temperature").fit(columns, labels).save(path)
    members = container.unpack(path.read_bytes(), name="m")
    from bayesbox.file.strict_json import document, parse

    written = parse(members["model.json"])
    written["calibration"].update(change)
    path.write_bytes(container.pack({**members, "model.json": document(written)}))
    with refusal(BadModelFile, where="model.json", what=name):
        bb.load(path)
