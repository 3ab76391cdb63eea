"""Columns selected and weighed: against refits of every set, other algorithms, and as part of a model."""

import itertools

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from sklearn.base import clone
from sklearn.metrics import mutual_info_score
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.calibrated import labelled
from bayesbox.classifier.evaluate import cross_validate
from bayesbox.classifier.rows import LabelledRows
from bayesbox.classifier.train import labelled_rows
from bayesbox.errors import BadModelFile, BadOption, CannotExport
from bayesbox.file import container
from bayesbox.file.strict_json import document, parse
from bayesbox.schema.coded import CodedRows, Variable
from bayesbox.source.base import OneBatch
from bayesbox.source.frames import batch_of
from bayesbox.stat.calibrate import normalised
from bayesbox.stat.mutual_information import symmetric_uncertainty
from bayesbox.table.naive import select
from bayesbox.table.naive.choice import unseen_terms
from bayesbox.table.naive.column_weights import PULL, learned_weights
from bayesbox.table.naive.select import LEAST_GAIN, Terms

NAMES = ("colour", "twin", "number", "half", "noise")


def table(rows=120, seed=0):
    """A category, the same again, a number with gaps, a number that repeats half of it, and noise."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, rows)
    colour = np.array(["red", "green", "blue"])[np.where(rng.random(rows) < 0.7, truth, rng.integers(0, 3, rows))]
    number = rng.normal(truth, 1.0)
    columns = {
        "colour": colour.astype(object),
        "twin": np.char.add("c", colour.astype(str)).astype(object),
        "number": np.where(rng.random(rows) < 0.1, np.nan, number),
        "half": number + rng.normal(0, 0.3, rows),
        "noise": rng.choice(["a", "b", "c", "d"], rows).astype(object),
    }
    return columns, np.array(["x", "y", "z"])[truth]


def terms_of(columns, labels, **options):
    clf = bb.NaiveBayes(**options).fit(columns, labels)
    batch = batch_of({**columns, "label": labels})
    return clf, unseen_terms(clf.classifier_, labelled([labelled_rows(batch, "label")]))


def loss_of(columns, labels, names):
    """The log loss of leaving each row out, of the model of these columns alone."""
    if not names:
        counts = {label: (labels == label).sum() for label in set(labels)}
        return -sum(np.log((counts[label] - 1) / (len(labels) - 1)) for label in labels)
    kept = {name: columns[name] for name in names}
    clf = bb.NaiveBayes().fit(kept, labels)
    p = clf.leave_one_out(kept, labels)
    return -np.log(p[np.arange(len(labels)), np.searchsorted(clf.classes_, labels)]).sum()


@pytest.mark.parametrize("numeric", ["gaussian", "student", "mdl"])
def test_the_terms_add_up_to_leaving_one_row_out(numeric):
    columns, labels = table(rows=60)
    columns["rare"] = np.r_[[0.0] * 59, 5.0]  # without its one row this number is a constant
    clf, terms = terms_of(columns, labels, numeric=numeric)
    joint = terms.prior + terms.columns.sum(axis=0)
    assert np.allclose(np.exp(normalised(joint)), clf.leave_one_out(columns, labels), atol=1e-12)


def test_terms_of_weighted_rows_come_from_folds():
    columns, labels = table(rows=60)
    clf = bb.NaiveBayes().fit(columns, labels, sample_weight=np.full(60, 2.0))
    rows = LabelledRows(batch_of(columns), bb_labels(labels), np.full(60, 2.0))
    terms = unseen_terms(clf.classifier_, [rows])
    assert terms.columns.shape == (5, 60, 3)
    assert terms.weights.tolist() == [2.0] * 60
    assert sorted(terms.codes.tolist()) == sorted(np.searchsorted(["x", "y", "z"], labels).tolist())


def bb_labels(labels):
    from bayesbox.schema.encode import encode

    return encode(labels)


def test_forward_is_the_greedy_search_over_refits():
    columns, labels = table()
    chosen, least = [], loss_of(columns, labels, [])
    while len(chosen) < len(NAMES):
        losses = {name: loss_of(columns, labels, [*chosen, name]) for name in NAMES if name not in chosen}
        best = min(losses, key=losses.get)
        if losses[best] > least - LEAST_GAIN:
            break
        chosen, least = [*chosen, best], losses[best]
    assert 0 < len(chosen) < 5
    clf = bb.NaiveBayes(select="forward").fit(columns, labels)
    assert set(clf.selected_) == set(chosen)


def test_backward_is_the_greedy_search_over_refits():
    columns, labels = table()
    chosen = list(NAMES)
    least = loss_of(columns, labels, chosen)
    while chosen:
        losses = {name: loss_of(columns, labels, [n for n in chosen if n != name]) for name in chosen}
        worst = min(losses, key=losses.get)
        if losses[worst] > least + LEAST_GAIN:
            break
        chosen.remove(worst)
        least = losses[worst]
    assert 0 < len(chosen) < 5
    assert set(bb.NaiveBayes(select="backward").fit(columns, labels).selected_) == set(chosen)


def coded(seed=0, rows=300):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, rows)
    told = np.where(rng.random(rows) < 0.8, truth, 1 - truth)
    columns = (told, 1 - told, np.where(rng.random(rows) < 0.2, truth, 2), rng.integers(0, 4, rows))
    columns[2][:20] = -1
    variables = tuple(Variable(str(place), tuple(map(str, range(size)))) for place, size in enumerate((2, 2, 3, 4, 2)))
    return CodedRows(variables, (*columns, truth), rows)  # the class is the last


def test_information_is_that_of_scikit_learn():
    found = coded()
    there = found.columns[2] >= 0
    expected = mutual_info_score(found.columns[-1][there], found.columns[2][there]) * there.mean()
    assert select.information(found, 2) == pytest.approx(expected, rel=1e-12)
    order = select.ranked(found)
    assert {order[0][0], order[1][0]} == {0, 1}
    assert order[0][1] == pytest.approx(mutual_info_score(found.columns[-1], found.columns[0]))


def test_what_chance_tells_is_the_quantile_of_chi_square():
    found = coded()
    assert 2 * 300 * select._chance(found, 3) == pytest.approx(scipy.stats.chi2.ppf(0.95, 3), rel=0.01)
    assert select.most_informative(found, None) == [0, 1, 2]
    assert select.most_informative(found, 1) == [0]


def test_correlated_takes_the_set_of_the_best_merit():
    found = coded()

    def merit(columns):
        with_class = sum(symmetric_uncertainty(select.class_counts(found, column)) for column in columns)
        among = sum(symmetric_uncertainty(found.counts(*pair)) for pair in itertools.permutations(columns, 2))
        return with_class / np.sqrt(len(columns) + among)

    sets = [each for size in range(1, 5) for each in itertools.combinations(range(4), size)]
    best = max(sets, key=merit)
    assert merit(select.correlated(found)) == pytest.approx(merit(best))
    assert not {0, 1} <= set(select.correlated(found))


def test_weights_are_those_of_a_bounded_minimum():
    columns, labels = table()
    _, terms = terms_of(columns, labels)

    def loss(weights):
        off = weights - 1
        joint = terms.prior + np.tensordot(weights, terms.columns, 1)
        return terms.loss(joint) + 0.5 * PULL * off @ off

    expected = scipy.optimize.minimize(loss, np.ones(5), bounds=[(0, None)] * 5, options={"ftol": 1e-14}).x
    assert np.allclose(learned_weights(terms), np.where(expected < 0.01, 0, expected), atol=2e-3)


def test_twins_share_their_weight_and_noise_has_little():
    columns, labels = table(rows=600)
    alone = bb.NaiveBayes(column_weights="learned").fit({"colour": columns["colour"]}, labels)
    clf = bb.NaiveBayes(column_weights="learned").fit(columns, labels)
    weights = clf.column_weights_
    assert weights["colour"] == pytest.approx(weights["twin"], abs=0.01)
    assert 0.3 < weights["colour"] < 0.7
    assert alone.column_weights_["colour"] == pytest.approx(1, abs=0.15)
    assert weights["noise"] < 0.8


def test_a_weighted_model_is_the_sum_of_its_weighted_terms():
    columns, labels = table()
    clf = bb.NaiveBayes(column_weights="learned").fit(columns, labels)
    weights = np.array([clf.column_weights_[name] for name in NAMES])
    plain = bb.NaiveBayes().fit(columns, labels).explain(columns)
    joint = plain.prior + plain.terms @ weights
    assert np.allclose(clf.joint_log_proba(columns), joint, atol=1e-12)
    assert np.allclose(clf.predict_log_proba(columns), normalised(joint), atol=1e-12)
    assert (clf.predict(columns) == clf.classes_[joint.argmax(axis=1)]).all()
    explained = clf.explain(columns)
    assert np.allclose(explained.terms, plain.terms * weights)
    assert np.allclose(explained.joint(), joint)


@pytest.mark.parametrize("options", [{"column_weights": "learned"}, {"select": "cfs"}])
def test_leaving_one_out_keeps_what_was_derived(options):
    columns, labels = table(rows=40)
    clf = bb.NaiveBayes(**options).fit(columns, labels)
    found = clf.leave_one_out(columns, labels)
    for row in (0, 7, 39):
        one = {name: column[row : row + 1] for name, column in columns.items()}
        other = bb.NaiveBayes(**options).fit(columns, labels).forget(one, labels[row : row + 1])
        assert other.column_weights_ == clf.column_weights_
        assert np.allclose(found[row], other.predict_proba(one)[0], atol=1e-9)


def test_folds_relearn_it():
    columns, labels = table(rows=90)
    source = OneBatch(batch_of({**columns, "label": labels}))
    classifier = bb.NaiveBayes(select="forward", column_weights="learned")._new_classifier()
    found = cross_validate(classifier, source, "label", folds=3)
    assert classifier.needs_refit()
    plain = cross_validate(bb.NaiveBayes()._new_classifier(), source, "label", folds=3)
    assert found.metrics.log_loss.value < plain.metrics.log_loss.value


def test_calibrated_too():
    columns, labels = table(rows=90)
    clf = bb.NaiveBayes(select="backward", calibration="temperature").fit(columns, labels)
    assert clf.classifier_.calibrated is not None
    assert len(clf.selected_) < 5


@pytest.mark.parametrize("options", [{"select": "mi:2"}, {"select": "backward", "column_weights": "learned"}])
def test_saved_and_loaded(options, tmp_path):
    columns, labels = table()
    clf = bb.NaiveBayes(**options).fit(columns, labels)
    clf.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert loaded.get_params()["select"] == options["select"]
    assert loaded.column_weights_ == clf.column_weights_
    assert np.array_equal(loaded.predict_proba(columns), clf.predict_proba(columns))
    loaded.partial_fit(columns, labels)
    assert loaded.column_weights_ == clf.column_weights_
    loaded.forget(columns, labels)
    loaded.save(tmp_path / "again.bayes")
    assert (tmp_path / "m.bayes").read_bytes() == (tmp_path / "again.bayes").read_bytes()


@pytest.mark.parametrize("weights", [{"colour": -1.0}, {"colour": "much"}, [1.0], {"colour": 1}])
def test_crafted_weights_are_refused(weights, tmp_path):
    columns, labels = table(rows=40)
    path = tmp_path / "m.bayes"
    bb.NaiveBayes(column_weights="learned").fit(columns, labels).save(path)
    members = container.unpack(path.read_bytes(), name="m")
    written = parse(members["model.json"])
    written["derived"]["weights"] = weights
    path.write_bytes(container.pack({**members, "model.json": document(written)}))
    with pytest.raises(BadModelFile):
        bb.load(path)


def test_what_needs_plain_factors_refuses_weights():
    columns, labels = table()
    clf = bb.NaiveBayes(column_weights="learned").fit(columns, labels)
    with refusal(BadOption, what="P(x)"):
        clf.log_density(columns)
    with refusal(CannotExport, what="weights"):
        clf.to_pmml()
    words = {name: columns[name] for name in ("colour", "twin")}
    with refusal(BadOption, what="network"):
        bb.NaiveBayes(column_weights="learned").fit(words, labels).to_network()
    chosen = bb.NaiveBayes(select="cfs").fit(words, labels)
    assert chosen.to_network().nodes == ["class", *chosen.selected_]
    assert "twin" not in chosen.to_sql()


def test_linear_weights_are_scaled():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200).astype(bool)
    flag = np.where(rng.random(200) < 0.8, truth, ~truth)
    columns = {"one": flag, "two": flag, "count": np.where(truth, rng.poisson(3, 200), rng.poisson(2, 200))}
    kinds = {"count": bb.Count("poisson")}
    clf = bb.NaiveBayes(column_weights="learned", columns=kinds).fit(columns, truth)
    w, a = clf.linear_weights()
    joint = clf.joint_log_proba(columns)
    numbers = np.column_stack([columns["one"], columns["two"], columns["count"]])
    assert np.allclose(numbers @ w + a, joint[:, 1] - joint[:, 0])


@pytest.mark.parametrize("name", ["best", "mi:x", "cfs:3", "mi:0", 3])
def test_a_selection_that_is_none_is_refused(name):
    with refusal(BadOption, what="select"):
        bb.NaiveBayes(select=name).fit({"a": ["x", "y"]}, ["k", "l"])


def test_other_names_are_refused_and_few_rows_are_no_matter():
    with refusal(BadOption, found="equal"):
        bb.NaiveBayes(column_weights="equal").fit({"a": ["x", "y"]}, ["k", "l"])
    one = bb.NaiveBayes(select="forward", column_weights="learned").fit({"a": ["x", "x"]}, ["k", "k"])
    assert one.predict({"a": ["x"]}).tolist() == ["k"]
    two = bb.NaiveBayes(select="forward", column_weights="learned").fit({"a": ["x", "y"]}, ["k", "l"])
    assert two.predict_proba({"a": ["x"]}).sum() == pytest.approx(1)
    assert clone(two).select == "forward"


def test_a_sample_of_many_rows_is_judged(monkeypatch):
    columns, labels = table(rows=400)
    monkeypatch.setattr("bayesbox.table.naive.choice.MOST_TERMS", 5 * 3 * 150)
    _, terms = terms_of(columns, labels)
    assert terms.columns.shape == (5, 150, 3)
    assert "colour" in bb.NaiveBayes(select="forward").fit(columns, labels).selected_


def test_no_set_makes_a_class_impossible():
    prior = np.log(np.array([[0.5, 0.5]]))
    terms = Terms.of(prior, np.array([[[-np.inf, 0.0]], [[0.0, -np.inf]], [[-np.inf, -np.inf]]]), np.array([0]))
    assert np.isfinite(terms.loss(terms.prior + terms.columns.sum(axis=0)))


def test_a_column_that_changes_nothing_is_neither_added_nor_kept():
    """What does not pay goes: also where the log loss without it is the same to the last digit."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 40)
    telling = np.where(np.arange(2) == codes[:, None], 0.0, -1.0)
    terms = Terms.of(np.zeros((40, 2)), np.stack([np.zeros((40, 2)), telling]), codes)
    assert select.forward(terms) == [1]
    assert select.backward(terms) == [1]
