"""`evaluate` and `compare`: against scikit-learn's metrics, against refitting, by groups, and what is refused."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.metrics as sk
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import bayesbox as bb
from bayesbox.classifier.evaluation import ROWS, TRAINING_ROWS
from bayesbox.errors import BadData, BadOption, UnknownColumn
from bayesbox.stat.folds import stratified_folds

METRICS = ("accuracy", "log_loss", "brier", "auc", "calibration_error")


def people(rows=160, seed=0, classes=("no", "yes")):
    random = np.random.default_rng(seed)
    y = random.choice(classes, rows)
    code = np.array([classes.index(each) for each in y])
    return pd.DataFrame(
        {
            "age": 30 + 6 * code + random.normal(0, 7, rows),
            "car": np.where(random.random(rows) < 0.25 + 0.2 * code, "suv", "van"),
            "sex": random.choice(["f", "m", "x"], rows, p=[0.5, 0.43, 0.07]),
        }
    ), pd.Series(y, name="buys")


class Folds:
    """The folds of `evaluate` as a splitter of scikit-learn."""

    def __init__(self, folds, seed=0):
        self.folds, self.seed = folds, seed

    def get_n_splits(self, *_):
        return self.folds

    def split(self, X, y, groups=None):
        fold = stratified_folds(np.unique(y, return_inverse=True)[1], self.folds, seed=self.seed)
        for place in range(self.folds):
            yield np.flatnonzero(fold != place), np.flatnonzero(fold == place)


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
@pytest.mark.parametrize("model", [bb.NaiveBayes(), bb.TAN(), bb.AveragedNaiveBayes()])
def test_folds_by_subtraction_against_refitting_and_scikit_learn(model, classes):
    X, y = people(classes=classes)
    found = bb.evaluate(model, X, y, cv=5, seed=3)
    p = cross_val_predict(model, X, y, cv=Folds(5, 3), method="predict_proba")
    np.testing.assert_allclose(found.each.p, p, rtol=1e-9)
    answers = np.array(classes)[p.argmax(axis=1)]
    assert found.accuracy == pytest.approx(sk.accuracy_score(y, answers))
    assert found.log_loss == pytest.approx(sk.log_loss(y, p, labels=classes))
    assert found.confusion.tolist() == sk.confusion_matrix(y, answers, labels=classes).tolist()
    if len(classes) == 2:
        assert found.auc == pytest.approx(sk.roc_auc_score(y, p[:, 1]))
        assert found.brier == pytest.approx(sk.brier_score_loss(y, p[:, 1], pos_label="yes"))
    else:
        assert found.auc == pytest.approx(sk.roc_auc_score(y, p, multi_class="ovr"))
        assert found.auc_of_pairs == pytest.approx(sk.roc_auc_score(y, p, multi_class="ovo"))
    for metric in METRICS:
        value = getattr(found, metric)
        assert value.low <= value <= value.high


def test_any_estimator_of_scikit_learn_is_judged_on_the_same_folds():
    X, y = people()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = bb.evaluate(model, X[["age"]], y, cv=5)
    p = cross_val_predict(model, X[["age"]], y, cv=Folds(5), method="predict_proba")
    np.testing.assert_allclose(found.each.p, p)
    assert found.model.startswith("Pipeline(")


def test_repeats_are_shuffled_anew_and_the_rows_stay_as_many():
    X, y = people(60)
    found = bb.evaluate(bb.NaiveBayes(), X, y, cv=3, repeats=4)
    assert (found.scored.rows, found.repeats, len(found.each)) == (60, 4, 240)
    assert len(set(found.accuracy_by_repeat)) > 1
    assert found.accuracy == pytest.approx(np.mean(found.accuracy_by_repeat))


@pytest.mark.parametrize("way", [{"cv": "loo"}, {"loo": True}])
def test_leave_one_out_against_refitting(way):
    X, y = people(40)
    found = bb.evaluate(bb.NaiveBayes(numeric="gaussian"), X, y, **way)
    again = bb.evaluate(make_pipeline(bb.NaiveBayes(numeric="gaussian")), X, y, cv="loo")  # a pipeline is refitted
    assert found.how == again.how == "leave-one-out"
    np.testing.assert_allclose(found.each.p, again.each.p, rtol=1e-9)


def test_a_splitter_of_scikit_learn():
    X, y = people(90)

    class ByThirds:
        def split(self, X, y):
            yield from GroupKFold(3).split(X, y, np.arange(90) // 30)

    found = bb.evaluate(bb.NaiveBayes(), X, y, cv=ByThirds())
    for third in range(3):
        own = np.arange(90) // 30 == third
        p = bb.NaiveBayes().fit(X[~own], y[~own]).predict_proba(X[own])
        np.testing.assert_allclose(found.each.p[own], p)
    later = bb.evaluate(bb.NaiveBayes(), X, y, cv=TimeSeriesSplit(2))  # learns less than all other rows
    p = bb.NaiveBayes().fit(X[:30], y[:30]).predict_proba(X[30:60])
    np.testing.assert_allclose(later.each.p[:30], p)
    assert (later.scored.rows, later.seed) == (60, None)


def test_a_fitted_estimator_is_judged_as_it_is():
    X, y = people(120)
    clf = bb.NaiveBayes().fit(X[:80], y[:80])
    found = bb.evaluate(clf, X[80:], y[80:])
    assert (found.how, found.folds, found.scored.rows) == (ROWS, None, 40)
    assert found.accuracy == clf.score(X[80:], y[80:])
    other = bb.evaluate(GaussianNB().fit(X[["age"]][:80], y[:80]), X[["age"]][80:], y[80:])
    assert (other.how, other.scored.rows) == (ROWS, 40)


def test_training_rows_are_recognised():
    X, y = people(80)
    clf = bb.NaiveBayes().fit(X, y)
    found = bb.evaluate(clf, X, y)
    assert found.how == TRAINING_ROWS
    assert "cv=10" in str(found)
    assert bb.evaluate(clf, X.sample(frac=1, random_state=0), y.sample(frac=1, random_state=0)).how == TRAINING_ROWS
    assert bb.evaluate(clf, X[1:], y[1:]).how == ROWS
    assert bb.evaluate(clf, X, y, cv=4).how == "cross-validation"


def test_documents():
    texts = ["cheap pills now", "meeting at noon", "cheap cheap offer", "notes of the meeting"] * 10
    labels = ["spam", "ham"] * 20
    found = bb.evaluate(bb.TextClassifier(occurrence="count"), texts, labels, cv=4, by=["a", "b"] * 20)
    assert found.accuracy == 1.0
    assert list(found.by) == ["a", "b"]
    assert "meeting at noon" in str(found.rows(true="ham"))
    clf = bb.TextClassifier().fit(texts, labels)
    assert bb.evaluate(clf, texts, labels).how == TRAINING_ROWS


@pytest.mark.parametrize("frame", [pl.from_pandas, pa.Table.from_pandas, lambda X: X.to_dict("list"), lambda X: X])
def test_every_frame_gives_the_same(frame):
    X, y = people(60)
    found = bb.evaluate(bb.NaiveBayes(), frame(X), y.tolist(), cv=3, by="sex")
    expected = bb.evaluate(bb.NaiveBayes(), X, y, cv=3, by="sex")
    assert found.log_loss == expected.log_loss
    assert found.by.to_frame().equals(expected.by.to_frame())


def test_a_matrix_of_counts():
    counts = sparse.random(60, 20, 0.3, random_state=0, format="csr")
    counts.data = np.ceil(counts.data * 3)
    found = bb.evaluate(bb.NaiveBayes(), counts, [0, 1] * 30, cv=3)
    assert found.rows(true=0).to_frame().columns.tolist() == ["row", "true", "predicted", "P(true)", "P(predicted)"]


def test_weights_count_as_rows():
    X, y = people(60)
    weights = np.arange(60) % 3
    clf = bb.NaiveBayes().fit(*people(50, 1))
    found = bb.evaluate(clf, X, y, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    repeated = bb.evaluate(clf, X.iloc[rows], y.iloc[rows])
    for metric in ("accuracy", "log_loss", "brier", "auc"):
        one, other = getattr(found, metric), getattr(repeated, metric)
        assert one == pytest.approx(other)
        assert one.interval == pytest.approx(other.interval)
    assert found.calibration_error == pytest.approx(repeated.calibration_error)
    folds = bb.evaluate(bb.NaiveBayes(), X, y, sample_weight=weights, cv=3)
    own = stratified_folds((y == "yes").to_numpy().astype(int), 3) == 0
    p = bb.NaiveBayes().fit(X[~own], y[~own], sample_weight=weights[~own]).predict_proba(X[own])
    np.testing.assert_allclose(folds.each.p[own], p)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    assert bb.evaluate(pipe, X[["age"]], y, sample_weight=weights + 1, cv=3).scored.rows == 60
    with pytest.raises(BadOption, match="sample_weight"):
        bb.evaluate(KNeighborsClassifier(), X[["age"]], y, sample_weight=weights, cv=3)


def test_groups_are_the_metrics_of_their_rows():
    X, y = people(200)
    clf = bb.NaiveBayes().fit(*people(80, 1))
    found = bb.evaluate(clf, X, y, by="sex")
    assert list(found.by) == ["f", "m", "x"]
    for group, each in found.by.items():
        own = (X["sex"] == group).to_numpy()
        manual = bb.evaluate(clf, X[own], y[own])
        for metric in METRICS:
            assert getattr(each, metric) == pytest.approx(getattr(manual, metric), nan_ok=True)
            assert getattr(each, metric).interval == pytest.approx(getattr(manual, metric).interval, nan_ok=True)
        assert each.confusion.tolist() == manual.confusion.tolist()
    assert found.by.few == ("x",)
    assert "x *" in str(found)
    assert "fewer than 20 rows" in found._repr_html_()
    assert found.by.to_frame()["few"].tolist() == [False, False, True]
    values = X["age"].round(-1).where(X["age"] > 25)
    by_age = bb.evaluate(clf, X, y, by=values).by
    assert by_age.name == "age"
    assert list(by_age)[-1] == "(missing)"
    assert list(by_age)[:2] == ["30", "40"]
    assert by_age[30].scored.rows == int((values == 30).sum())


def test_the_rows_behind_a_cell_the_most_surprising_first():
    X, y = people(100)
    found = bb.evaluate(bb.NaiveBayes(), X, y, cv=5)
    cell = found.rows(true="no", predicted="yes")
    assert len(cell) == found.confusion[0, 1]
    frame = cell.to_frame()
    assert frame["P(true)"].is_monotonic_increasing
    assert (frame["true"] == "no").all()
    assert (frame["predicted"] == "yes").all()
    pd.testing.assert_series_equal(frame["age"], X["age"].iloc[cell.index].reset_index(drop=True))
    assert len(found.rows()) == 100
    assert len(found.rows(true="yes")) == (y == "yes").sum()
    with pytest.raises(BadOption):
        found.rows(true="maybe")
    assert "more rows" in str(found.rows())


def test_thresholds_and_costs():
    X, y = people(150)
    found = bb.evaluate(bb.NaiveBayes(), X, y, cv=5)
    p, true = found.each.p[:, 1], (y == "yes").to_numpy()
    table = found.thresholds("yes").to_frame()
    for row in table.iloc[::20].itertuples():
        chosen = p >= row.threshold
        assert row.precision == pytest.approx(true[chosen].mean())
        assert row.recall == pytest.approx(chosen[true].mean())
        assert pytest.approx(sk.f1_score(true, chosen)) == row.F1
        assert row.rows == chosen.sum()
    best = found.best_threshold("yes", "accuracy")
    assert best.score >= found.accuracy
    cost = found.cost({("yes", "no"): 5.0})
    answers = np.where(p * 5 > 1 - p, "yes", "no")
    paid = np.where(answers == y, 0.0, np.where(y == "yes", 5.0, 1.0))
    assert cost == pytest.approx(paid.mean())
    assert cost.low < cost < cost.high
    assert found.cost({}) == pytest.approx(1 - found.accuracy)


def test_intervals_by_each_way():
    X, y = people(80)
    auto, exact, drawn = (
        bb.evaluate(bb.NaiveBayes(), X, y, cv=4, intervals=how, draws=300) for how in ("auto", "exact", "bootstrap")
    )
    assert auto.accuracy == exact.accuracy == drawn.accuracy
    assert len({auto.accuracy.interval, exact.accuracy.interval, drawn.accuracy.interval}) == 3
    again = bb.evaluate(bb.NaiveBayes(), X, y, cv=4, intervals="bootstrap", draws=300)
    assert again.auc.interval == drawn.auc.interval


def test_calibration_is_judged_before_and_after():
    X, y = people(120)
    found = bb.evaluate(bb.NaiveBayes(calibration="temperature"), X, y, cv=3)
    assert found.before is not None
    assert "before calibration" in str(found)


def test_compare_pairs_the_models():
    X, y = people(120)
    models = {"ours": bb.NaiveBayes(), "ages": make_pipeline(StandardScaler(), LogisticRegression())}
    numbers = X[["age"]]
    found = bb.compare(models, numbers, y, cv=4)
    alone = bb.evaluate(bb.NaiveBayes(), numbers, y, cv=4)
    assert found["ours"].log_loss == alone.log_loss
    assert found.best == min(found, key=lambda name: found[name].log_loss)
    assert list(found) == sorted(found, key=lambda name: found[name].log_loss)
    for metric in METRICS:
        value = found.difference("ours", "ages", metric)
        assert value == pytest.approx(getattr(found["ours"], metric) - getattr(found["ages"], metric))
        assert value.low <= value <= value.high
        assert found.difference("ages", "ours", metric) == pytest.approx(-value)
    frame = found.to_frame()
    assert frame["model"].tolist() == list(found)
    assert frame["log_loss_difference"][0] == 0
    assert "class shares alone" in str(found)
    assert f"difference from {found.best}" in found._repr_html_()
    assert json.dumps(found.as_dict())
    assert repr(found).startswith("ModelComparison(2 models, best ")


def test_models_of_one_name_are_numbered_and_a_refusal_is_told():
    X, y = people(60)
    found = bb.compare([bb.NaiveBayes(), bb.NaiveBayes(), bb.TextClassifier(), ("named", bb.TAN())], X, y, cv=3)
    assert sorted(found) == ["NaiveBayes()", "NaiveBayes() 2", "named"]
    assert list(found.refused) == ["TextClassifier()"]
    assert "TextClassifier() is not compared" in str(found)
    assert found.difference("NaiveBayes()", "NaiveBayes() 2").interval == (0.0, 0.0)


def test_compare_of_fitted_models_judges_them_as_they_are():
    X, y = people(80)
    found = bb.compare([bb.NaiveBayes().fit(X[:40], y[:40]), bb.TAN().fit(X[:40], y[:40])], X[40:], y[40:])
    assert {each.how for each in found.values()} == {ROWS}
    again = bb.compare([bb.NaiveBayes().fit(X[:40], y[:40]), bb.TAN()], X, y, cv=2)
    assert {each.how for each in again.values()} == {"cross-validation"}


def test_progress_reports_each_fold():
    X, y = people(40)
    shares = []
    bb.evaluate(bb.NaiveBayes(), X, y, cv=4, progress=lambda share, left, what: shares.append((share, what)))
    assert shares == [*((share, "NaiveBayes()") for share in (0.25, 0.5, 0.75, 0.99)), (1.0, "done")]
    named = []
    bb.compare([bb.NaiveBayes(), bb.TAN()], X, y, cv=2, progress=lambda *news: named.append(news))
    assert [(share, what) for share, _, what in named] == [(0.5, "NaiveBayes()"), (0.99, "TAN()"), (1.0, "done")]


def test_labels_keep_their_types():
    X, y = people(60)
    for labels in ((y == "yes"), (y == "yes").astype(int), y.astype("category")):
        found = bb.evaluate(bb.NaiveBayes(), X, labels, cv=3)
        assert found.accuracy == bb.evaluate(bb.NaiveBayes(), X, y, cv=3).accuracy
        assert len(found.rows(true=labels.iloc[0]))
        other = bb.evaluate(GaussianNB(), X[["age"]], labels, cv=3)
        assert other.confusion.sum() == 60


def test_refusals():
    X, y = people(40)
    for options in ({"cv": 1}, {"cv": 41}, {"cv": "five"}, {"cv": True}, {"cv": 3, "loo": True}, {"repeats": 0}):
        with pytest.raises(BadOption):
            bb.evaluate(bb.NaiveBayes(), X, y, **options)
    for estimator in (bb.NaiveBayes, LinearSVC(), StandardScaler(), "naive"):
        with pytest.raises(BadOption):
            bb.evaluate(estimator, X[["age"]], y, cv=3)
    with pytest.raises(UnknownColumn):
        bb.evaluate(bb.NaiveBayes(), X, y, by="gender", cv=3)
    with pytest.raises(BadData):
        bb.evaluate(bb.NaiveBayes(), X, y, by=[1, 2], cv=3)
    with pytest.raises(BadOption):
        bb.evaluate(bb.NaiveBayes(), X, y, cv=3, intervals="none")
    with pytest.raises(BadOption, match="every fold"):
        bb.evaluate(bb.NaiveBayes(calibration="temperature"), X, y, loo=True)
    with pytest.raises(BadOption, match="weights"):
        bb.evaluate(bb.NaiveBayes(), X, y, loo=True, sample_weight=np.ones(40))
    with pytest.raises(BadData):
        bb.evaluate(bb.NaiveBayes(), X, [*y[:-1], None], cv=3)
    for model in (bb.NaiveBayes(), GaussianNB(), GaussianNB().fit(X[["age"]], y)):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            bb.evaluate(model, X[["age"]], y[1:])
    for models in ([], bb.NaiveBayes(), 3):
        with pytest.raises(BadOption):
            bb.compare(models, X, y)
    with pytest.raises(BadData), warnings.catch_warnings():
        bb.compare([bb.TextClassifier(), bb.TextClassifier()], X, y, cv=3)


def test_the_result_shows_itself():
    X, y = people(60)
    found = bb.evaluate(bb.NaiveBayes(), X, y, cv=3, by="sex")
    assert "\n" not in repr(found)
    assert max(map(len, str(found).splitlines())) <= 100
    html = found._repr_html_()
    assert "<svg" in html
    assert "<script" not in html
    assert found.to_frame()["metric"].tolist() == list(METRICS)
    assert found.svg().startswith("<svg")
