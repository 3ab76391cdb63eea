"""Changes to the rows that must not change what is learned by a single byte, and changes with a known effect."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.mixed import KINDS, ROWS, TARGET, estimator, pick, state, table, take

import bayesbox as bb
from bayesbox.classifier.train import train
from bayesbox.rule.options import NaiveOptions
from bayesbox.source.base import OneBatch
from bayesbox.source.frames import batch_of
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.tally.book import Book

X, Y = table()
EVERY = list(range(ROWS))


@pytest.fixture(scope="module")
def whole():
    return estimator().fit(X, Y)


def test_every_kind_takes_part(whole):
    forms = {whole.book_[name].form for name in X}
    assert forms == {"counts", "grid", "moments"}
    kinds = {kind.name for kind in whole.classifier_.schema.kinds.values()}
    assert kinds >= {"category", "count", "date", "flag", "number", "real"}
    assert set(whole.classifier_.model.columns) == {*X, "joined month", "joined weekday"}


@pytest.mark.parametrize("seed", range(10))
def test_order_of_rows(whole, seed):
    """Ten seeds of twenty orders; the answers have the same bits as well."""
    random = np.random.default_rng(seed)
    p = whole.predict_proba(X)
    for _ in range(20):
        order = random.permutation(ROWS).tolist()
        turned = estimator().fit(pick(X, order), take(Y, order))
        assert turned.book_.digest() == whole.book_.digest()
        assert turned.predict_proba(X).tobytes() == p.tobytes()


@pytest.mark.parametrize("seed", range(10))
def test_batches(whole, seed):
    """Ten seeds of five random splits, in random order, some batches of one row."""
    random = np.random.default_rng(seed)
    for _ in range(5):
        order = random.permutation(ROWS)
        cuts = np.sort(random.choice(np.arange(1, ROWS), size=random.integers(1, 12), replace=False))
        clf = estimator()
        for part in np.split(order, cuts):
            clf.partial_fit(pick(X, part), take(Y, part))
        assert state(clf) == state(whole)
        assert clf.classes_.tolist() == whole.classes_.tolist()
        assert clf.predict_proba(X).tobytes() == whole.predict_proba(X).tobytes()


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_merge_of_models_trained_apart(whole, parts):
    pieces = np.array_split(np.random.default_rng(parts).permutation(ROWS), parts)
    models = [estimator().fit(pick(X, piece), take(Y, piece)) for piece in pieces]
    forwards, backwards = models[0], models[-1]
    for model in models[1:]:
        forwards = forwards + model
    for model in models[-2::-1]:
        backwards = backwards + model
    assert state(forwards) == state(backwards) == state(whole)
    assert forwards.predict_proba(X).tobytes() == whole.predict_proba(X).tobytes()


@pytest.mark.parametrize("seed", range(5))
def test_order_of_columns(whole, seed):
    names = np.random.default_rng(seed).permutation(list(X)).tolist()
    turned = estimator().fit({name: X[name] for name in names}, Y)
    assert turned.book_.digest() == whole.book_.digest()
    np.testing.assert_allclose(turned.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
    assert whole.predict_proba({name: X[name] for name in names}).tobytes() == whole.predict_proba(X).tobytes()


def renamed(book, names):
    """The same book with its classes under other names."""
    columns = {}
    for name, tally in book.columns.items():
        columns[name] = copy.copy(tally)
        columns[name].classes = tuple(names[each] for each in tally.classes)
    return Book(tuple(names[each] for each in book.classes), book.class_counts, columns)


def test_relabelled_classes(whole):
    names = {"yes": "a", "no": "z", "maybe": "ö"}
    clf = estimator().fit(X, [names[label] for label in Y])
    assert clf.book_.digest() == renamed(whole.book_, names).digest()
    assert clf.book_.digest() != whole.book_.digest()
    place = [whole.classes_.tolist().index(old) for new in clf.classes_ for old in names if names[old] == new]
    np.testing.assert_allclose(clf.predict_proba(X), whole.predict_proba(X)[:, place], rtol=1e-12)
    assert [names[label] for label in whole.predict(X)] == clf.predict(X).tolist()


def test_relabelled_levels(whole):
    names = dict(zip(["sports", "suv", "truck", "Ünique", 'a "quote"', None], [*"vwxyz", None], strict=True))
    turned = X | {"car": [names[car] for car in X["car"]]}
    clf = estimator().fit(turned, Y)
    before, after = whole.book_["car"], clf.book_["car"]
    order = [after.levels.index(names[level]) for level in before.levels]
    assert after.counts[:, order].tolist() == before.counts.tolist()
    assert clf.predict_proba(turned).tobytes() == whole.predict_proba(X).tobytes()


@given(twice=st.lists(st.sampled_from(EVERY), unique=True), gone=st.lists(st.sampled_from(EVERY), unique=True))
@settings(max_examples=40)
def test_a_duplicate_is_weight_two_and_weight_zero_is_absence(twice, gone):
    times = [0 if row in gone else 2 if row in twice else 1 for row in EVERY]
    if not any(times):
        return
    rows = [row for row in EVERY for _ in range(times[row])]
    weighted = estimator().fit(X, Y, sample_weight=times)
    assert state(weighted) == state(estimator().fit(pick(X, rows), take(Y, rows)))


def test_weight_zero_leaves_no_class_and_no_level():
    extra = {name: [*values, values[0]] for name, values in X.items()} | {"car": [*X["car"], "rocket"]}
    clf = estimator().fit(extra, [*Y, "never"], sample_weight=[1] * ROWS + [0])
    assert clf.classes_.tolist() == ["maybe", "no", "yes"]
    assert "rocket" not in clf.book_["car"].levels
    assert state(clf) == state(estimator().fit(X, Y))


def test_weights_of_one_are_no_weights(whole):
    assert state(estimator().fit(X, Y, sample_weight=np.ones(ROWS))) == state(whole)


@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
@given(data=st.data())
@settings(max_examples=40)
def test_learn_then_forget_is_never_learned(data):
    stay = data.draw(st.lists(st.sampled_from(EVERY), min_size=1, unique=True))
    guests = data.draw(st.lists(st.sampled_from(EVERY), min_size=1))
    weights = data.draw(st.lists(st.sampled_from([1.0, 0.1, 2.5]), min_size=len(guests), max_size=len(guests)))
    never = estimator().fit(pick(X, stay), take(Y, stay))
    clf = estimator().fit(pick(X, stay), take(Y, stay))
    guest, labels = pick(X, guests), take(Y, guests)
    clf.partial_fit(guest, labels, sample_weight=weights)
    assert state(clf) != state(never)
    clf.forget(guest, labels, sample_weight=weights)
    assert state(clf) == state(never)
    assert clf.classes_.tolist() == never.classes_.tolist()
    assert clf.joint_log_proba(X).tobytes() == never.joint_log_proba(X).tobytes()


def test_levels_and_classes_that_came_and_went(whole):
    guest = pick(X, [0, 1, 2]) | {"car": ["rocket", "boat", None], "zip": ["99999", None, "0"]}
    clf = estimator().fit(X, Y).partial_fit(guest, ["never", "once", "yes"])
    assert {"never", "once"} < set(clf.classes_)
    assert {"rocket", "boat"} < set(clf.book_["car"].levels)
    clf.forget(guest, ["never", "once", "yes"])
    assert state(clf) == state(whole)
    assert clf.classes_.tolist() == whole.classes_.tolist()
    assert clf.book_["car"].levels == whole.book_["car"].levels
    assert clf.predict_proba(X).tobytes() == whole.predict_proba(X).tobytes()


def test_rules_are_not_in_the_digest(whole):
    for parameters in ({"smoothing": "mle"}, {"prior_smoothing": "laplace"}, {"missing": "level"}):
        assert estimator(**parameters).fit(X, Y).book_.digest() == whole.book_.digest()
    assert whole.with_prior({"yes": 0.2, "no": 0.3, "maybe": 0.5}).book_.digest() == whole.book_.digest()
    declared = copy.deepcopy(whole).partial_fit(X, Y, classes=["yes", "no", "maybe", "perhaps"])
    assert declared.book_.digest() == (whole + whole).book_.digest()


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("rows_a_piece", [1, 7, 1000])
def test_threads(whole, monkeypatch, threads, rows_a_piece):
    monkeypatch.setattr("bayesbox.source.reduce.ROWS_A_PIECE", rows_a_piece)
    source = OneBatch(batch_of(X | {TARGET: Y}))
    classifier = NaiveClassifier(NaiveOptions(), KINDS)
    counted = train(classifier, source, TARGET, threads=threads)
    assert counted.rows == ROWS
    assert b"".join(classifier.book.canonical()) == state(whole)


@pytest.mark.parametrize("rows", [2047, 5000])
def test_more_rows_than_a_block(rows):
    """Large enough for the core's blocks: three splits and a shuffle."""
    columns, labels = table(rows, seed=1)
    clf = estimator().fit(columns, labels)
    order = np.random.default_rng(2).permutation(rows).tolist()
    assert state(estimator().fit(pick(columns, order), take(labels, order))) == state(clf)
    for step in (1000, 2048, 4096):
        parts = [list(range(start, min(start + step, rows))) for start in range(0, rows, step)]
        split = estimator()
        for part in parts:
            split.partial_fit(pick(columns, part), take(labels, part))
        assert state(split) == state(clf)


def test_different_rows_have_a_different_digest(whole):
    """One value changed in one row of each column."""
    for name, values in X.items():
        row = next(row for row, value in enumerate(values) if value is not None)
        other = next(value for value in values if value is not None and value != values[row])
        changed = X | {name: [*values[:row], other, *values[row + 1 :]]}
        assert estimator().fit(changed, Y).book_.digest() != whole.book_.digest(), name


def test_smallest_differences_show():
    """The next double is another value, and 0.1 + 0.2 is not 0.3."""
    one = bb.NaiveBayes().fit({"x": [0.1 + 0.2, 1.5]}, ["a", "b"])
    other = bb.NaiveBayes().fit({"x": [0.3, 1.5]}, ["a", "b"])
    assert one.book_.digest() != other.book_.digest()
