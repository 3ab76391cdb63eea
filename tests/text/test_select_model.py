"""The model that `auto` chooses: the best on documents it has not seen, by leaving each out in turn."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest

import bayesbox as bb
from bayesbox.classifier.evaluate import cross_validate
from bayesbox.schema.token_options import PAIRS, SINGLE
from bayesbox.source.base import Batch, OneBatch
from bayesbox.source.registry import source_from
from bayesbox.source.wrapped import Chained
from bayesbox.text import counting, sample
from bayesbox.text.model import CHOICES, Strength
from bayesbox.text.options import TextOptions
from bayesbox.text.select_model import Trial, Tried, _best

RANDOM = np.random.default_rng(0)
ALL = {"occurrence": "auto", "phrases": "auto", "calibration": "auto"}


def repeated(rows):
    """Documents in which one word that says nothing of the class is said over and over, by chance."""
    labels = RANDOM.integers(0, 3, rows)
    texts = []
    for label in labels:
        words = [f"own{label}{RANDOM.integers(0, 4)}" for _ in range(2)] + [f"any{RANDOM.integers(0, 12)}"] * 12
        texts.append(" ".join(words))
    return texts, labels.tolist()


TEXTS, LABELS = repeated(120)


def paired(rows, seed=1):
    """Documents whose words say nothing of the class, but their order does."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, rows)
    texts = []
    for label in labels:
        words = [f"w{random.integers(0, 6)}" for _ in range(4)]
        pair = ["not", "good"] if label else ["good", "not"]
        place = random.integers(0, 5)
        texts.append(" ".join([*words[:place], *pair, *words[place:]]))
    return texts, [("bad", "fine")[label] for label in labels]


def shares_left_out(texts, labels, **options):
    """P(class) of each document by a model that was fitted on all the others."""
    found = []
    for row in range(len(texts)):
        rest = [other for other in range(len(texts)) if other != row]
        model = bb.TextClassifier(**options).fit([texts[k] for k in rest], [labels[k] for k in rest])
        found.append(model.predict_proba([texts[row]])[0])
    return np.array(found)


def test_the_choice_is_the_one_with_most_documents_right_left_out():
    texts, labels = TEXTS[:60], LABELS[:60]
    right = np.array(
        [
            shares_left_out(texts, labels, occurrence=occurrence, once=once).argmax(axis=1) == labels
            for occurrence, once in CHOICES
        ]
    )
    clf = bb.TextClassifier(occurrence="auto").fit(texts, labels)
    assert [each.accuracy for each in clf.classifier_.settled.tried] == pytest.approx(right.mean(axis=1), abs=1e-12)
    best = CHOICES[int(right.sum(axis=1).argmax())]
    assert right.sum(axis=1).max() - right[0].sum() > np.sqrt(len(labels))  # so it is no matter of chance
    assert tuple(clf.chosen_.values()) == (*best, SINGLE)
    plain = bb.TextClassifier(occurrence=best[0], once=best[1]).fit(texts, labels)
    assert np.array_equal(clf.predict_proba(texts), plain.predict_proba(texts))


@pytest.mark.parametrize("smoothing", ["laplace", "lidstone:0.3", "m:2"])  # the last is not smoothed in the core
def test_trials_of_words_and_pairs_are_those_of_models_fitted_on_all_others(smoothing):
    texts, labels = paired(56)
    more = {"smoothing": smoothing, "prior": {"bad": 0.4, "fine": 0.6}}  # which does not change with a document
    clf = bb.TextClassifier(occurrence="auto", phrases="auto", **more).fit(texts, labels)
    tried = clf.classifier_.settled.tried
    assert [(each.phrases, each.occurrence, each.once) for each in tried] == [
        (phrases, *model) for phrases, model in itertools.product((SINGLE, PAIRS), CHOICES)
    ]
    for each in (tried[3], tried[4]):
        options = {"occurrence": each.occurrence, "once": each.once, "phrases": each.phrases, **more}
        right = np.array(["bad", "fine"])[shares_left_out(texts, labels, **options).argmax(axis=1)] == labels
        assert each.accuracy == pytest.approx(right.mean(), abs=1e-12)
    assert clf.chosen_["phrases"] == PAIRS


def trial(hits=(), losses=(), **more):
    found = Trial("count", once=False, accuracy=0.9, log_loss=0.3)._replace(**more)
    return Tried(found, TextOptions(), None, np.array(hits), np.array(losses), Strength())


def test_a_lead_by_chance_does_not_count():
    first = trial([1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    by_one = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]  # two won and one lost: a lead of 1 whose error is the root of 3
    by_three = [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]  # four won and one lost: a lead of 3, the root of 5
    assert _best([first, trial(by_one, accuracy=0.95)], calibrated=False) == 0
    assert _best([first, trial(by_one), trial(by_three, accuracy=0.92)], calibrated=False) == 2
    assert _best([first, trial(by_one), trial(by_three, log_loss=0.4)], calibrated=True) == 0
    assert _best([trial(by_one, log_loss=None), trial(by_one)], calibrated=True) == 1


def test_pairs_must_gain_a_standard_error():
    single = trial(losses=[0.5, 0.5, 0.5, 0.5], log_loss=0.5)
    by_chance = trial(losses=[0.1, 0.9, 0.9, 0.0], log_loss=0.475, phrases=PAIRS)
    clearly = trial(losses=[0.4, 0.4, 0.5, 0.4], log_loss=0.425, phrases=PAIRS)
    assert _best([single, by_chance], calibrated=True) == 0
    assert _best([single, clearly], calibrated=True) == 1


def test_words_that_repeat_by_chance_are_counted_once():
    assert bb.TextClassifier(occurrence="auto").fit(TEXTS, LABELS).chosen_["once"]


def test_with_calibration_the_least_log_loss_decides():
    clf = bb.TextClassifier(occurrence="auto", calibration="temperature").fit(TEXTS, LABELS)
    tried = clf.classifier_.settled.tried
    best = min(tried, key=lambda each: each.log_loss)
    assert clf.chosen_ == {"occurrence": best.occurrence, "once": best.once, "phrases": SINGLE}
    same = bb.TextClassifier(calibration="temperature", **clf.chosen_).fit(TEXTS, LABELS)
    assert np.array_equal(clf.predict_proba(TEXTS), same.predict_proba(TEXTS))


@pytest.mark.parametrize("options", [{"top": 10}, {"min_documents": 2}, {"once": True}])
def test_other_options_hold(options):
    clf = bb.TextClassifier(occurrence="auto", phrases="auto", **options).fit(TEXTS, LABELS)
    assert clf.chosen_["once"] or "once" not in options
    assert len(clf.words_) <= options.get("top", 10**6)
    weighted = bb.TextClassifier(**ALL, **options).fit(TEXTS, LABELS, sample_weight=np.full(len(TEXTS), 2))
    assert np.isfinite(weighted.predict_proba(TEXTS)).all()


def test_pairs_that_are_not_chosen_were_never_counted(tmp_path):
    clf = bb.TextClassifier(**ALL, ledger=True).fit(TEXTS, LABELS)
    assert clf.chosen_["phrases"] == SINGLE
    plain = bb.TextClassifier(ledger=True).fit(TEXTS, LABELS)
    assert clf.book_.digest() == plain.book_.digest()
    assert clf.book_.ledger_digest() == plain.book_.ledger_digest()
    clf.partial_fit(["own01 own02"], [0]).forget(["own01 own02"], [0])
    assert clf.book_.digest() == plain.book_.digest()
    clf.save(tmp_path / "m.bayes")
    again = bb.load(tmp_path / "m.bayes")
    assert np.array_equal(again.predict_proba(TEXTS), clf.predict_proba(TEXTS))


def test_pairs_that_are_chosen_are_counted_exactly(tmp_path):
    texts, labels = paired(90)
    clf = bb.TextClassifier(**ALL).fit(texts, labels)
    assert clf.chosen_["phrases"] == PAIRS
    plain = bb.TextClassifier(phrases=PAIRS).fit(texts, labels)
    assert clf.book_.digest() == plain.book_.digest()
    rest = bb.TextClassifier(phrases=PAIRS).fit(texts[30:], labels[30:])
    assert clf.forget(texts[:30], labels[:30]).book_.digest() == rest.book_.digest()
    parts = clf.classifier_.irreversible_parts()
    assert parts[0].startswith("the choice of occurrence (")
    assert parts[1] == "the choice of phrases (1-2)"
    clf.save(tmp_path / "m.bayes")
    assert bb.load(tmp_path / "m.bayes").classifier_.irreversible_parts() == parts


@pytest.mark.parametrize("texts_and_labels", [paired(80, seed=3), repeated(80)], ids=["pairs", "words"])
def test_the_same_documents_give_the_same_bytes_in_any_order(tmp_path, texts_and_labels):
    texts, labels = texts_and_labels
    order = np.random.default_rng(2).permutation(len(texts)).tolist()
    bb.TextClassifier(**ALL).fit(texts, labels).save(tmp_path / "one.bayes")
    bb.TextClassifier(**ALL).fit([texts[k] for k in order], [labels[k] for k in order]).save(tmp_path / "other.bayes")
    assert (tmp_path / "one.bayes").read_bytes() == (tmp_path / "other.bayes").read_bytes()


def test_a_sample_is_as_good_as_all_and_the_same_from_batches(tmp_path, monkeypatch):
    texts, labels = paired(400)
    monkeypatch.setattr(sample, "MOST_DOCUMENTS", 120)
    clf = bb.TextClassifier(**ALL).fit(texts, labels)
    assert clf.classifier_.settled.documents == 120
    assert clf.chosen_["phrases"] == PAIRS
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "".join(f'{{"text": "{text}", "label": "{label}"}}\n' for text, label in zip(texts, labels, strict=True))
    )
    trained = bb.train(str(path), "label", model=bb.TextClassifier(**ALL))
    assert trained.classifier_.settled == clf.classifier_.settled
    monkeypatch.setattr(sample, "MOST_BYTES", 60 * len(texts[0]))
    assert 50 <= bb.TextClassifier(**ALL).fit(texts, labels).classifier_.settled.documents < 80


def test_with_many_classes_fewer_documents_are_looked_at():
    texts = [f"word{place % 40} word{place % 7} common" for place in range(1600)]
    few = bb.TextClassifier(occurrence="auto").fit(texts, [place % 40 for place in range(1600)])
    many = bb.TextClassifier(occurrence="auto").fit(texts, [place % 80 for place in range(1600)])
    assert (few.classifier_.settled.documents, many.classifier_.settled.documents) == (1500, 1000)


def test_batches_leave_no_more_than_a_sample(monkeypatch):
    texts, labels = paired(300)
    monkeypatch.setattr(sample, "MOST_DOCUMENTS", 60)
    batches = [
        Batch(("text", "label"), (pa.array(texts[k : k + 10]), pa.array(labels[k : k + 10])), 10)
        for k in range(0, 300, 10)
    ]
    source = sample.SampledDocuments(Chained([OneBatch(batch) for batch in batches]), "text", "label")
    assert sum(batch.rows for batch in source.batches()) == 300
    assert 60 <= sum(batch.rows for batch in source.given) <= 240


def test_too_many_pairs_are_not_tried(monkeypatch):
    texts, labels = paired(80)
    monkeypatch.setattr(counting, "MOST_PHRASES", 12)
    clf = bb.TextClassifier(**ALL).fit(texts, labels)
    assert clf.chosen_["phrases"] == SINGLE
    assert clf.classifier_.too_many_pairs
    assert {each.phrases for each in clf.classifier_.settled.tried} == {SINGLE}
    assert clf.book_.digest() == bb.TextClassifier().fit(texts, labels).book_.digest()


def test_the_choice_is_kept_when_learning_goes_on(tmp_path):
    clf = bb.TextClassifier(occurrence="auto").fit(TEXTS, LABELS)
    before, chosen = clf.book_.digest(), clf.chosen_
    clf.partial_fit(["own01 own02"] * 5, [0] * 5).forget(["own01 own02"] * 5, [0] * 5)
    assert clf.chosen_ == chosen
    assert clf.book_.digest() == before
    clf.save(tmp_path / "m.bayes")
    assert bb.load(tmp_path / "m.bayes").chosen_ == chosen
    assert clf.get_params()["occurrence"] == "auto"


def test_folds_choose_anew():
    texts, labels = paired(120)
    classifier = bb.TextClassifier(**ALL)._new_classifier()
    found = cross_validate(classifier, source_from({"text": texts, "label": labels}), "label", folds=3)
    assert found.metrics.accuracy.value > 0.9
    clf = bb.TextClassifier(occurrence="auto").fit(TEXTS, LABELS)
    assert clf.chosen_["once"]
    again = clf.classifier_.unfitted_clone()
    assert (again.rules.occurrence, again.rules.once, again.chooses) == ("count", False, True)


def test_with_too_few_documents_the_textbooks_model_stays():
    texts, labels = paired(49)
    clf = bb.TextClassifier(**ALL).fit(texts, labels)
    assert clf.chosen_ == {"occurrence": "count", "once": False, "phrases": SINGLE}
    assert not clf.classifier_.settled.tried
    assert clf.classifier_.settled.strength is None
    assert clf.classifier_.calibrated is None
    assert "fewer than 50" in clf.classifier_.notes()[0]
    plain = bb.TextClassifier().fit(texts, labels)
    assert np.array_equal(clf.predict_proba(texts), plain.predict_proba(texts))
    assert clf.book_.digest() == plain.book_.digest()


def test_with_too_few_documents_the_choice_waits():
    clf = bb.TextClassifier(occurrence="auto").partial_fit(["own01"], [0])
    assert clf.chosen_ == {"occurrence": "count", "once": False, "phrases": SINGLE}
    assert not clf.classifier_.settled.tried
    clf.partial_fit(TEXTS, LABELS)
    assert clf.classifier_.settled.tried
    assert math.isfinite(clf.predict_proba(TEXTS).sum())


@pytest.mark.parametrize("kind", ["isotonic", "dirichlet"])
def test_every_calibration_of_tables_is_one_of_documents(kind, tmp_path):
    texts, labels = paired(150)
    clf = bb.TextClassifier(calibration=kind).fit(texts, labels)
    assert clf.classifier_.calibrated.calibration.kind == kind
    shares = clf.predict_proba(texts)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.array_equal(clf.predict(texts), clf.classes_[shares.argmax(axis=1)])
    assert np.allclose(np.log(shares), clf.predict_log_proba(texts))
    clf.save(tmp_path / "m.bayes")
    assert np.array_equal(bb.load(tmp_path / "m.bayes").predict_proba(texts), shares)
    assert f"the calibration ({kind})" in clf.classifier_.irreversible_parts()
    case = clf.classifier_.case(clf._asked([texts[0]]))
    parts = [case.prior_log_odds, case.absent_log_odds, case.calibration_log_odds, *(w.log_odds for w in case.words)]
    assert sum(parts) == pytest.approx(case.log_odds)
