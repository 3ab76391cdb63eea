"""Bayes optimal answers: sums over hypotheses worked out by hand, the file, explanations, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.evaluate import cross_validate
from bayesbox.classifier.registry import new_classifier
from bayesbox.classifier.train import train
from bayesbox.errors import BadData, BadModelFile, BadOption, CannotForget, CannotMerge
from bayesbox.file import container
from bayesbox.file.load import from_bytes, load
from bayesbox.file.save import save, to_bytes
from bayesbox.file.strict_json import document, parse
from bayesbox.source.base import OneBatch
from bayesbox.source.frames import batch_of
from bayesbox.table.optimal.classifier import Hypotheses


def table(seed=0, rows=60):
    random = np.random.default_rng(seed)
    labels = random.choice(["x", "y"], rows)
    shape = np.where(random.random(rows) < 0.7, labels, random.choice(["x", "y", "z"], rows))
    frame = pd.DataFrame({"shape": shape, "colour": random.choice(["red", "blue"], rows)}, dtype=object)
    frame["size"] = random.normal(np.where(labels == "x", 0.0, 1.0), 1.0)
    frame.loc[random.random(rows) < 0.1, "colour"] = None
    return frame, labels


def trained(model, **options):
    frame, labels = table()
    classifier = new_classifier(model, options)
    train(classifier, OneBatch(batch_of(frame.assign(kind=labels))), "kind")
    return classifier, frame, labels


def test_hypotheses_are_weighed_by_leaving_rows_out():
    classifier, frame, labels = trained("optimal:naive,tan,kdb:1")
    apart = [bb.NaiveBayes().fit(frame, labels), bb.TAN().fit(frame, labels), bb.KDB(1).fit(frame, labels)]
    own = [np.log(each.leave_one_out(frame, labels)[range(60), (labels == "y").astype(int)]).sum() for each in apart]
    weights = np.exp(np.array(own) - max(own))
    weights /= weights.sum()
    np.testing.assert_allclose(classifier.known.weights, weights, rtol=1e-9)
    np.testing.assert_allclose(classifier.known.log_scores, own, rtol=1e-12)
    batch = batch_of(frame)
    answer = sum(weight * each.predict_proba(frame) for weight, each in zip(weights, apart, strict=True))
    np.testing.assert_allclose(classifier.posterior(batch), answer, rtol=1e-9)
    explained = classifier.explain(batch)
    np.testing.assert_allclose(np.exp(explained.joint()), answer, rtol=1e-9)
    assert classifier.answers(batch)[0][0] == apart[0].predict(frame)[0]


def test_the_file_brings_the_same_answers_and_the_same_bytes(tmp_path):
    classifier, frame, _ = trained("optimal")
    data = to_bytes(classifier)
    again = from_bytes(data)
    assert to_bytes(again) == data
    np.testing.assert_array_equal(again.posterior(batch_of(frame)), classifier.posterior(batch_of(frame)))
    path = tmp_path / "o.bayes"
    save(classifier, path)
    estimator = bb.load(path)
    assert [type(each).__name__ for each in estimator.hypotheses] == ["NaiveBayes", "TAN", "AODE"]
    np.testing.assert_allclose(estimator.predict_proba(frame), classifier.posterior(batch_of(frame)), rtol=1e-12)


def test_the_estimator_is_saved_explained_and_leaves_rows_out(tmp_path):
    frame, labels = table(1)
    one, two = bb.NaiveBayes().fit(frame, labels), bb.AveragedNaiveBayes().fit(frame, labels)
    optimal = bb.BayesOptimal([one, two], [1, 3])
    optimal.save(tmp_path / "both.bayes")
    again = bb.load(tmp_path / "both.bayes")
    np.testing.assert_allclose(again.predict_proba(frame), optimal.predict_proba(frame), rtol=1e-12)
    np.testing.assert_allclose(again.weights_, [0.25, 0.75])
    np.testing.assert_allclose(np.exp(optimal.explain(frame).joint()), optimal.predict_proba(frame), rtol=1e-9)
    left_out = 0.25 * one.leave_one_out(frame, labels) + 0.75 * two.leave_one_out(frame, labels)
    np.testing.assert_allclose(optimal.leave_one_out(frame, labels), left_out, rtol=1e-12)


def test_hypotheses_may_know_different_classes_and_columns(tmp_path):
    one = bb.NaiveBayes().fit({"size": [1, 2, 7, 9]}, list("aabb"))
    two = bb.NaiveBayes().fit({"colour": ["red", "red", "blue", "blue"]}, list("bbcc"))
    optimal = bb.BayesOptimal([one, two], [1, 1])
    optimal.save(tmp_path / "m.bayes")
    again = bb.load(tmp_path / "m.bayes")
    row = [{"size": 8.0, "colour": "red"}]
    expected = np.zeros(3)
    expected[:2] += one.predict_proba([{"size": 8.0}])[0] / 2
    expected[1:] += two.predict_proba([{"colour": "red"}])[0] / 2
    classifier = load(tmp_path / "m.bayes")
    np.testing.assert_allclose(classifier.posterior(batch_of(row))[0], expected, rtol=1e-12)
    assert again.classes_.tolist() == ["a", "b", "c"]
    prior = {"a": 0.1, "b": 0.5, "c": 0.4}
    other = classifier.with_prior(prior)
    of_one = one.with_prior({"a": 1 / 6, "b": 5 / 6}).predict_proba([{"size": 8.0}])[0]
    assert other.posterior(batch_of(row))[0, 0] == pytest.approx(of_one[0] / 2)
    np.testing.assert_allclose(np.exp(other.model.log_prior).sum(), 1)


def test_folds_of_flags_are_folded_once(tmp_path):
    rows = {"red": [1, 0, 0, 1], "blue": [0, 1, 1, 0], "size": [1.0, 3, 4, 2]}
    fold = {"colour": ["red", "blue"]}
    one, two = (make(one_hot=fold).fit(rows, list("abba")) for make in (bb.NaiveBayes, bb.TAN))
    optimal = bb.BayesOptimal([one, two])
    optimal.save(tmp_path / "m.bayes")
    np.testing.assert_allclose(bb.load(tmp_path / "m.bayes").predict_proba(rows), optimal.predict_proba(rows))
    with refusal(CannotMerge, where="naive Bayes", found={}):
        bb.BayesOptimal([one, bb.NaiveBayes().fit(rows, list("abba"))]).save(tmp_path / "n.bayes")


def test_cross_validation_learns_hypotheses_and_weights_anew():
    frame, labels = table(2)
    source = OneBatch(batch_of(frame.assign(kind=labels)))
    metrics = cross_validate(new_classifier("optimal:naive,aode", {}), source, "kind", folds=3).metrics
    assert 0.5 < metrics.accuracy.value <= 1


def test_what_is_refused(tmp_path):
    classifier, frame, labels = trained("optimal:naive,tan")
    batch = batch_of(frame)
    encoded = bb.NaiveBayes().fit(frame, labels)
    with refusal(CannotForget, remedy="bayes average"):
        train(classifier, OneBatch(batch_of(frame.assign(kind=labels))), "kind")
    with pytest.raises(CannotForget):
        classifier.forget(batch, None)
    with pytest.raises(CannotMerge):
        classifier.merged(classifier)
    with refusal(BadOption, what="P(x)"):
        classifier.log_density(batch)
    for model in ("optimal:naive,optimal", "optimal:auto", "optimal:nix"):
        with pytest.raises(BadOption):
            new_classifier(model, {})
    with refusal(BadOption, found="mdl"):
        new_classifier("optimal:naive,full", {"numeric": "mdl"})
    with refusal(BadOption, what="weights"):
        train(
            new_classifier("optimal", {}),
            OneBatch(batch_of(frame.assign(kind=labels, heavy=2.0))),
            "kind",
            weight="heavy",
        )
    with refusal(BadData, what="probability 0"):
        train(
            new_classifier("optimal:naive", {"smoothing": "mle"}),
            OneBatch(batch_of({"size": list("aabcbc"), "kind": list("xxxyyy")})),
            "kind",
        )
    other = bb.NaiveBayes().fit({"size": ["s", "l"], "shape": ["x", "y"]}, ["x", "y"])
    with refusal(CannotMerge, where="naive Bayes"):
        bb.BayesOptimal([encoded, other]).save(tmp_path / "m.bayes")
    with refusal(CannotMerge, where="naive Bayes", found="p, q"):
        bb.BayesOptimal([encoded, bb.NaiveBayes().fit({"a": ["u", "v"]}, ["p", "q"])]).save(tmp_path / "m.bayes")
    with refusal(BadOption, found="TextClassifier"):
        bb.BayesOptimal([encoded, bb.TextClassifier().fit(["good", "bad"], ["x", "y"])]).save(tmp_path / "m.bayes")
    assert not (tmp_path / "m.bayes").exists()


@pytest.mark.parametrize("change", ["weights", "more weights", "member", "nested"])
def test_a_crafted_file_is_refused(change):
    classifier, *_ = trained("optimal:naive,tan")
    members = container.unpack(to_bytes(classifier), name="m")
    written = parse(members["model.json"])
    if change == "weights":
        written["derived"]["weights"] = [-1.0, 1.0]
    elif change == "more weights":
        written["derived"] = {"weights": [0.5, 0.25, 0.25], "log_scores": None}
    elif change == "member":
        members["hypothesis-7.bayes"] = members["hypothesis-1.bayes"]
    else:
        members["hypothesis-1.bayes"] = to_bytes(classifier)
    members["model.json"] = document(written)
    with pytest.raises(BadModelFile):
        from_bytes(container.pack(members))


def test_weights_that_sum_to_one_stay_as_they_are():
    draw = np.random.default_rng(4)
    hypothesis = trained("optimal")[0].known.classifiers[0]
    for number in range(2, 9):
        for given in draw.exponential(size=(30, number)).tolist():
            once = Hypotheses((hypothesis,) * number, tuple(given)).weights
            assert Hypotheses((hypothesis,) * number, once).weights == once
