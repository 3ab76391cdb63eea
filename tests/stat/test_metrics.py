"""The metrics against scikit-learn's, on the same predictions; and that counting them in batches changes nothing."""

import math
import warnings

import numpy as np
import pytest
from sklearn import metrics as sk

from bayesbox.errors import BadData, BadWeight
from bayesbox.schema.encode import Encoded
from bayesbox.stat import metrics, row_scores
from bayesbox.stat.metrics import MetricValue, measure, scored, wilson
from bayesbox.stat.roc import area_under_roc

TOLERANCE = 1e-12
WEIGHTS = ["none", "real", "whole"]


def names_of(classes):
    return [f"c{code}" for code in range(classes)]


def labels_of(codes, classes):
    names = names_of(classes)
    return Encoded(np.asarray(codes, dtype=np.int32), names, names)


def logs(p):
    with np.errstate(divide="ignore"):
        return np.log(p)


def predictions(classes, weights="none", *, rows=400, seed=0, ties=False, absent=()):
    """Probabilities, true codes and weights; `absent` classes have no rows, `ties` leaves few distinct scores."""
    random = np.random.default_rng([seed, classes, rows])
    p = random.dirichlet(np.full(classes, 0.7), rows)
    if ties:
        p = random.multinomial(4, p) / 4
    true = np.array([random.choice(classes, p=row) for row in 0.7 * p + 0.3 / classes])
    true[np.isin(true, absent)] = next(code for code in range(classes) if code not in absent)
    drawn = {"none": None, "real": random.gamma(1.0, size=rows), "whole": random.integers(0, 4, rows).astype(float)}
    return p, true, drawn[weights]


def judged(p, true, weights=None, **options):
    classes = p.shape[1]
    return measure(scored(logs(p), labels_of(true, classes), names_of(classes), weights=weights, **options))


CASES = [
    pytest.param(classes, weights, ties, absent, id=f"{classes}-{weights}-{'ties' if ties else 'reals'}-{len(absent)}")
    for classes in (2, 3, 6)
    for weights in WEIGHTS
    for ties in (False, True)
    for absent in ((), (1,))
    if not (classes == 2 and absent)
]


@pytest.mark.parametrize(("classes", "weights", "ties", "absent"), CASES)
class TestAgainstScikitLearn:
    def test_accuracy_and_confusion(self, classes, weights, ties, absent):
        p, true, w = predictions(classes, weights, ties=ties, absent=absent)
        found = judged(p, true, w)
        predicted = p.argmax(axis=1)
        assert found.accuracy.value == pytest.approx(sk.accuracy_score(true, predicted, sample_weight=w), abs=TOLERANCE)
        expected = sk.confusion_matrix(true, predicted, labels=range(classes), sample_weight=w)
        np.testing.assert_allclose(found.confusion, expected, rtol=TOLERANCE)

    def test_clipped_log_loss(self, classes, weights, ties, absent):
        p, true, w = predictions(classes, weights, ties=ties, absent=absent)
        assert ties == bool((p[np.arange(len(p)), true] == 0).any()), "ties are there to bring probabilities of 0"
        expected = sk.log_loss(true, p, labels=range(classes), sample_weight=w)
        found = judged(p, true, w)
        assert found.clipped_log_loss == pytest.approx(expected, rel=TOLERANCE)
        assert found.log_loss.value == (math.inf if ties else pytest.approx(expected, rel=TOLERANCE))

    def test_brier(self, classes, weights, ties, absent):
        p, true, w = predictions(classes, weights, ties=ties, absent=absent)
        found = judged(p, true, w)
        expected = sk.brier_score_loss(true, p, labels=range(classes), sample_weight=w)
        assert found.brier.value == pytest.approx(expected, abs=TOLERANCE)
        whole = sk.brier_score_loss(true, p, labels=range(classes), sample_weight=w, scale_by_half=False)
        assert found.brier_sum == pytest.approx(whole, abs=TOLERANCE)
        if classes == 2:
            one_sided = sk.brier_score_loss(true, p[:, 1], sample_weight=w)
            assert found.brier.value == pytest.approx(one_sided, abs=TOLERANCE)

    def test_precision_recall_f1(self, classes, weights, ties, absent):
        p, true, w = predictions(classes, weights, ties=ties, absent=absent)
        found = judged(p, true, w)
        options = {"labels": range(classes), "sample_weight": w, "zero_division": np.nan}
        each = sk.precision_recall_fscore_support(true, p.argmax(axis=1), **options)
        mine = np.array([[s.precision.value, s.recall.value, s.f1, s.support] for s in found.per_class]).T
        np.testing.assert_allclose(mine, np.array(each, dtype=float), rtol=TOLERANCE)
        mean = sk.precision_recall_fscore_support(true, p.argmax(axis=1), average="macro", **options)[:3]
        np.testing.assert_allclose([*found.macro.values()], mean, rtol=TOLERANCE)

    def test_area_under_roc(self, classes, weights, ties, absent):
        p, true, w = predictions(classes, weights, ties=ties, absent=absent)
        if classes == 2:
            expected = sk.roc_auc_score(true, p[:, 1], sample_weight=w)
        else:
            present = [code for code in range(classes) if code not in absent]
            expected = np.mean([sk.roc_auc_score(true == code, p[:, code], sample_weight=w) for code in present])
            if not absent:
                whole = sk.roc_auc_score(true, p, multi_class="ovr", average="macro", sample_weight=w)
                assert whole == pytest.approx(expected, abs=TOLERANCE)
        assert judged(p, true, w).area == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_bins_against_a_loop(weights):
    p, true, w = predictions(3, weights, ties=True, rows=300)
    found = judged(p, true, w, bins=8)  # the confidences are quarters: they lie on the edges of bins
    w = np.ones(len(p)) if w is None else w
    confidence, right = p.max(axis=1), p.argmax(axis=1) == true
    error = 0.0
    for index, each in enumerate(found.bins):
        inside = (confidence > index / 8) & (confidence <= (index + 1) / 8)
        assert each.n == pytest.approx(w[inside].sum(), rel=TOLERANCE)
        if w[inside].sum():
            assert each.confidence == pytest.approx(np.average(confidence[inside], weights=w[inside]), rel=TOLERANCE)
            assert each.accuracy == pytest.approx(np.average(right[inside], weights=w[inside]), rel=TOLERANCE)
            error += w[inside].sum() / w.sum() * abs(each.accuracy - each.confidence)
    assert found.calibration_error == pytest.approx(error, rel=TOLERANCE)
    assert sum(bool(each.n) for each in found.bins) == 3  # 1/2, 3/4 and 1


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("cuts", [[1, 2, 3, 200], [133, 266], list(range(1, 400))])
def test_batches_change_nothing(weights, cuts):
    p, true, w = predictions(3, weights, ties=False)
    true = true.copy()
    true[::17] = -1
    whole = scored(logs(p), labels_of(true, 3), names_of(3), weights=w)
    parts = None
    for rows in np.split(np.arange(400), cuts):
        part_weights = None if w is None else w[rows]
        part = scored(logs(p[rows]), labels_of(true[rows], 3), names_of(3), weights=part_weights)
        parts = part if parts is None else parts + part
    assert parts.by_class.digest() == whole.by_class.digest()
    assert parts.by_bin.digest() == whole.by_bin.digest()
    assert (parts.rows, parts.unlabelled) == (whole.rows, whole.unlabelled) == (376, 24)
    one, other = measure(whole), measure(parts)
    assert one.accuracy == other.accuracy
    assert one.log_loss == other.log_loss
    assert one.brier == other.brier
    assert one.bins == other.bins
    assert sum(each.n for each in one.bins) == pytest.approx(one.weight), "a row without a label is in no bin"
    assert one.area == pytest.approx(other.area, abs=TOLERANCE)


def test_an_unknown_label_is_an_error_with_probability_0():
    labels = Encoded(np.array([0, 1, 2, 2], dtype=np.int32), ["c0", "c1", "new"], ["c0", "c1", "new"])
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.75, 0.25], [0.5, 0.5]])
    counted = scored(logs(p), labels, ["c0", "c1"])
    found = measure(counted)
    assert found.labels == ("c0", "c1", "new")
    assert found.accuracy.value == 0.5
    assert found.confusion.tolist() == [[1, 0, 0], [0, 1, 0], [2, 0, 0]]
    assert found.log_loss.value == math.inf
    assert counted.impossible == 2
    assert counted.unseen == {"new": 2}
    assert ((counted + counted).impossible, (counted + counted).unseen) == (4, {"new": 4})
    extended = np.hstack([p, np.zeros((4, 1))])
    assert found.brier.value == pytest.approx(sk.brier_score_loss([0, 1, 2, 2], extended, labels=range(3)))
    assert found.clipped_log_loss == pytest.approx(sk.log_loss([0, 1, 2, 2], extended, labels=range(3)))
    assert found.area == sk.roc_auc_score([0, 1], p[:2, 1]), "of rows of the two classes only"


def test_a_loss_is_finite_where_the_probability_is_below_the_smallest_double():
    log_p = np.array([[-2000.0, 0.0], [0.0, -800.0]])
    found = measure(scored(log_p, labels_of([0, 0], 2), names_of(2)))
    assert found.log_loss.value == 1000.0
    assert found.clipped_log_loss == pytest.approx(-math.log(np.finfo(float).eps) / 2)


def test_certainty_is_clipped_too():
    expected = sk.log_loss([0, 1], np.eye(2))
    assert 0 < expected < 1e-15
    assert judged(np.eye(2), [0, 1]).clipped_log_loss == pytest.approx(expected, rel=1e-9, abs=0)
    assert judged(np.eye(2), [0, 1]).log_loss.value == 0


def test_a_row_of_weight_0_with_probability_0_makes_no_loss_infinite():
    p = np.array([[0.5, 0.5], [0.0, 1.0]])
    found = measure(scored(logs(p), labels_of([0, 0], 2), names_of(2), weights=[1.0, 0.0]))
    assert found.log_loss.value == pytest.approx(math.log(2))


def test_classes_the_model_lacks_are_reported_in_their_order():
    p = np.array([[0.3, 0.7], [0.6, 0.4]])
    labels = labels_of([1, 2], 3)
    counted = scored(logs(p), labels, ["c0", "c2"], classes=names_of(3))
    found = measure(counted)
    assert found.labels == ("c0", "c1", "c2")
    assert found.confusion.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert counted.unseen == {"c1": 1}
    assert found.area == pytest.approx((0.5 + 0.0) / 2)  # c1 scores 0 everywhere; c2 scores lower where it is true


def test_what_is_0_over_0_is_nan_and_left_out_of_the_mean():
    p = np.array([[0.9, 0.1, 0.0], [0.8, 0.1, 0.1]])
    found = judged(p, [0, 1])
    assert math.isnan(found.per_class[1].precision.value)
    assert math.isnan(found.per_class[2].recall.value)
    assert math.isnan(found.per_class[2].f1)
    assert found.macro == {"precision": 0.5, "recall": 0.5, "f1": pytest.approx(1 / 3)}


def test_one_class_alone():
    found = judged(np.ones((3, 1)), [0, 0, 0])
    assert (found.accuracy.value, found.log_loss.value, found.brier.value, found.calibration_error) == (1, 0, 0, 0)
    assert math.isnan(found.area)
    assert (found.baseline_accuracy, found.baseline_log_loss) == (1, 0)


def test_baseline_is_the_best_constant_answer():
    found = judged(np.full((10, 2), 0.5), [1] * 7 + [0] * 3)
    assert (found.baseline, found.baseline_accuracy) == ("c1", 0.7)
    assert found.baseline_log_loss == pytest.approx(sk.log_loss([1] * 7 + [0] * 3, [[0.3, 0.7]] * 10))


def test_intervals():
    p, true, _ = predictions(2, rows=250)
    found = judged(p, true)
    losses = -np.log(p[np.arange(250), true])
    reach = metrics.Z95 * losses.std(ddof=1) / math.sqrt(250)
    assert found.log_loss == pytest.approx((losses.mean(), losses.mean() - reach, losses.mean() + reach), rel=1e-12)
    squares = (p[:, 1] - true) ** 2
    reach = metrics.Z95 * squares.std(ddof=1) / math.sqrt(250)
    assert found.brier == pytest.approx((squares.mean(), squares.mean() - reach, squares.mean() + reach), rel=1e-12)
    assert found.accuracy == wilson(float((p.argmax(axis=1) == true).sum()), 250)


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (8, 10), (1, 1000)])
def test_wilson_is_where_the_score_test_rejects(k, n):
    value, low, high = wilson(k, n)
    assert value == k / n
    for bound in {low, high} - {0.0, 1.0}:
        assert abs(value - bound) / math.sqrt(bound * (1 - bound) / n) == pytest.approx(metrics.Z95)
    assert (low, high)[k != 0] == (0.0 if k == 0 else high)
    assert low <= value <= high


def test_repeats_do_not_narrow_the_intervals():
    p, true, _ = predictions(2, rows=50)
    once = scored(logs(p), labels_of(true, 2), names_of(2))
    one, twice = measure(once), measure(once + once, repeats=2)
    assert twice.accuracy == pytest.approx(one.accuracy)
    assert twice.log_loss == pytest.approx(one.log_loss)
    assert twice.brier == pytest.approx(one.brier)
    assert [each[3:] for each in twice.bins if each.n] == [pytest.approx(each[3:]) for each in one.bins if each.n]
    assert measure(once + once).accuracy.low > one.accuracy.low


def test_weights_count_as_rows():
    p, true, _ = predictions(3, rows=60)
    weights = np.arange(60) % 3
    rows = np.repeat(np.arange(60), weights)
    weighted, repeated = judged(p, true, weights.astype(float)), judged(p[rows], true[rows])
    assert weighted.accuracy == repeated.accuracy
    assert weighted.log_loss == repeated.log_loss
    assert weighted.bins == repeated.bins
    assert weighted.weight == repeated.weight == 60


def test_too_many_scores_are_given_up(monkeypatch):
    p, true, _ = predictions(3, rows=40)
    monkeypatch.setattr(row_scores, "MOST_CELLS", 3 * 60)
    once = scored(logs(p), labels_of(true, 3), names_of(3))
    assert not math.isnan(measure(once).area)
    assert math.isnan(measure(once + once).area)
    assert (once + once + once).by_row.blocks is None
    monkeypatch.setattr(row_scores, "MOST_CELLS", 3 * 39)
    assert scored(logs(p), labels_of(true, 3), names_of(3)).by_row.blocks is None


def test_area_without_a_curve_is_nan():
    assert math.isnan(area_under_roc(np.array([0.1, 0.2]), np.array([True, True]), np.ones(2)))
    assert math.isnan(judged(np.full((2, 2), 0.5), [1, 1]).area)


def test_refusals():
    p = np.full((2, 2), 0.5)
    with pytest.raises(BadData):
        measure(scored(logs(p), labels_of([-1, -1], 2), names_of(2)))
    with pytest.raises(BadData):
        judged(p, [0, 1], np.zeros(2))
    with pytest.raises(BadWeight):
        judged(p, [0, 1], [-1.0, 1.0])
    with pytest.raises(ValueError, match="other bins"):
        scored(logs(p), labels_of([0, 1], 2), names_of(2)) + scored(logs(p), labels_of([0, 1], 2), names_of(2), bins=3)


def test_no_warning_of_numpy_on_the_way():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judged(np.array([[1.0, 0.0], [0.0, 1.0]]), [1, 0])
    assert found.accuracy == wilson(0, 2)
    assert found.log_loss == MetricValue(
        math.inf, pytest.approx(math.nan, nan_ok=True), pytest.approx(math.nan, nan_ok=True)
    )
