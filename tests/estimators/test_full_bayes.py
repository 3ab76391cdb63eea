"""Full Bayes learns, forgets, merges and is saved exactly; leave-one-out is as many refits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import CannotForget, CannotMerge, KindContradiction, MissingColumns, NeverLearned

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*correlations shrunk:bayesbox.errors.DataWarning"),
    pytest.mark.filterwarnings("ignore:.*ha(s|ve) a single value:bayesbox.errors.DataWarning"),
]


def mixed(rows=60, seed=0, holes=0.0):
    """Two categories, a flag of 0 and 1, two numbers; a share of all missing."""
    random = np.random.default_rng(seed)
    y = random.choice(["a", "b", "c"], rows)
    kind = random.choice(["s", "t"], rows).astype(object)
    flag = random.integers(0, 2, rows).astype(float)
    height = random.normal(size=rows) + (y == "a")
    weight = random.normal(size=rows) + height * np.where(kind == "s", 0.5, -0.5) + 1e9
    X = pd.DataFrame({"kind": kind, "flag": flag, "height": height, "weight": weight})
    for name in X:
        X.loc[random.random(rows) < holes, name] = None if name == "kind" else np.nan
    return X, y


def refits(clf, X, y, rows):
    """P(class | x) of some rows, each under a model fitted to all others."""
    answers = []
    for row in rows:
        others = np.arange(len(y)) != row
        other = type(clf)(**clf.get_params()).fit(X[others], y[others])
        p = dict(zip(other.classes_.tolist(), other.predict_proba(X[row : row + 1])[0], strict=True))
        answers.append([p.get(label, 0.0) for label in clf.classes_.tolist()])
    return np.array(answers)


ALL = ["kind", "flag", "height", "weight"]
COLUMNS = ("class", "levels", "numbers", "n", "sums", "products")  # of the table of columns together in a file


@pytest.mark.parametrize(
    ("covariance", "columns", "holes"),
    [
        *((covariance, ALL, 0.0) for covariance in ("full", "pooled", "diagonal")),
        *((covariance, ALL[2:], 0.0) for covariance in ("full", "pooled", "diagonal")),
        ("full", ALL[:2], 0.0),
        ("full", ALL[:2], 0.1),
        ("full", ALL, 0.05),
        ("diagonal", ALL, 0.1),
        ("pooled", ALL[2:], 0.05),
    ],
)
def test_leave_one_out_is_as_many_refits(covariance, columns, holes):
    X, y = mixed(40, seed=1, holes=holes)
    clf = bb.FullBayes(covariance=covariance, enough=4).fit(X[columns], y)
    rows = range(0, len(y), 5)
    found = clf.leave_one_out(X[columns], y)
    np.testing.assert_allclose(found[list(rows)], refits(clf, X[columns], y, rows), rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore::bayesbox.errors.UnseenLevels")  # the row that is left out has one
@pytest.mark.parametrize("smoothing", ["mle", "m:2", "replace-zero:half"])
@pytest.mark.parametrize("missing", ["ignore", "level"])
@pytest.mark.parametrize("unseen", ["smooth", "ignore", "error"])
def test_leave_one_out_of_rare_levels(smoothing, missing, unseen):
    X = pd.DataFrame({"p": ["a", "a", "b", "b", "z", "a", "b", "a"], "q": ["k", "l", "k", "l", "k", "k", "k", "m"]})
    y = np.array(["x", "x", "x", "y", "y", "y", "x", "y"])
    clf = bb.FullBayes(smoothing=smoothing, missing=missing, unseen=unseen).fit(X, y)
    plain = bb.FullBayes(smoothing=smoothing, missing=missing, unseen="smooth" if unseen == "error" else unseen)
    expected = refits(plain.fit(X, y), X, y, range(len(y)))
    np.testing.assert_allclose(clf.leave_one_out(X, y), expected, rtol=1e-12, atol=1e-12)


def test_leave_one_out_where_down_dating_would_cancel():
    """A row that makes up nearly all of its class's variance, far from the rest, and an offset of 1e12."""
    random = np.random.default_rng(3)
    X = random.normal(size=(24, 3)) + 1e12
    X[0] += 1e6
    X[1, 2] += 3e5
    y = np.array([0, 1] * 12)
    clf = bb.FullBayes().fit(X, y)
    np.testing.assert_allclose(clf.leave_one_out(X, y), refits(clf, X, y, range(24)), rtol=1e-9, atol=1e-12)


def test_leave_one_out_of_rows_never_learned():
    X, y = mixed(30)
    clf = bb.FullBayes().fit(X, y)
    with pytest.raises(NeverLearned):
        clf.leave_one_out(pd.concat([X, X, X]), np.concatenate([y, y, y]))


@given(st.integers(0, 2**32 - 1), st.floats(0, 0.4))
@settings(max_examples=8)
def test_learning_forgetting_and_merging_are_exact(seed, holes):
    X, y = mixed(30, seed=seed, holes=holes)
    kinds = {"flag": "flag"}  # declared, so that no part of the rows decides it
    whole = bb.FullBayes(columns=kinds).fit(X, y)
    cut = 1 + seed % 28
    one, other = bb.FullBayes(columns=kinds).fit(X[:cut], y[:cut]), bb.FullBayes(columns=kinds).fit(X[cut:], y[cut:])
    assert (one + other).book_.digest() == whole.book_.digest()
    again = bb.FullBayes(columns=kinds).fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    assert again.book_.digest() == whole.book_.digest()
    np.testing.assert_array_equal(again.predict_proba(X), whole.predict_proba(X))
    again.forget(X[cut:], y[cut:])
    assert again.book_.digest() == one.book_.digest()
    order = np.random.default_rng(seed).permutation(30)
    shuffled = bb.FullBayes(columns=kinds).fit(X.iloc[order], y[order])
    assert shuffled.book_.digest() == whole.book_.digest()


def test_a_row_never_learned_is_not_forgotten():
    """The columns by themselves were learned, but not in one row."""
    X, y = pd.DataFrame({"p": ["a", "b"], "q": ["k", "l"], "n": [1.5, 2.5]}), ["x", "x"]
    clf = bb.FullBayes().fit(X, y)
    before = clf.book_.digest()
    with refusal(CannotForget, column="(columns together)"):
        clf.forget(pd.DataFrame({"p": ["a"], "q": ["l"], "n": [1.5]}), ["x"])
    assert clf.book_.digest() == before


def test_weights_are_repeated_rows():
    X, y = mixed(40, holes=0.1)
    weights = np.arange(40) % 3
    rows = np.repeat(np.arange(40), weights)
    weighted = bb.FullBayes().fit(X, y, sample_weight=weights)
    repeated = bb.FullBayes().fit(X.iloc[rows], y[rows])
    assert weighted.book_.digest() == repeated.book_.digest()
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("covariance", ["full", "pooled", "diagonal"])
def test_saving(tmp_path, covariance):
    X, y = mixed(50, holes=0.1)
    clf = bb.FullBayes(covariance=covariance, smoothing="m:2", shrink=2, enough=7, prior={"a": 0.5, "b": 0.3, "c": 0.2})
    clf.fit(X, y).save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    assert isinstance(loaded, bb.FullBayes)
    assert loaded.get_params()["enough"] == 7
    assert loaded.book_.digest() == clf.book_.digest()
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    loaded.save(tmp_path / "again.bayes")
    assert (tmp_path / "again.bayes").read_bytes() == (tmp_path / "m.bayes").read_bytes()
    loaded.forget(X[:5], y[:5]).partial_fit(X[:5], y[:5])
    assert loaded.book_.digest() == clf.book_.digest()
    shuffled = type(clf)(**clf.get_params()).fit(X.iloc[::-1][list(X)[::-1]], y[::-1])
    shuffled.save(tmp_path / "other.bayes")
    assert shuffled.book_.digest() == clf.book_.digest()


def test_numbers_of_0_and_1_are_flags_from_the_first_rows_on():
    X, y = mixed(40)
    clf = bb.FullBayes().fit(X, y)
    assert clf.classifier_.flags == ("flag",)
    assert clf.classifier_.model.table.columns == ("kind", "flag")
    with refusal(KindContradiction, column="flag", found=0.5):
        clf.partial_fit(X.assign(flag=0.5), y)
    other = bb.FullBayes().fit(X.assign(flag=X["flag"] * 2), y)
    with pytest.raises(CannotMerge):
        clf + other


def test_columns_that_come_late_or_not_at_all():
    X, y = mixed(40)
    clf = bb.FullBayes(columns={"flag": "flag"}).fit(X.assign(height=np.nan), y)
    assert clf.classifier_.model.ignored == {"height": "it has no values"}
    clf.partial_fit(X, y)
    assert "height" in clf.classifier_.model.columns
    with pytest.warns(MissingColumns):
        part = clf.joint_log_proba(X[["kind", "weight"]])
    whole = clf.joint_log_proba(X.assign(flag=np.nan, height=np.nan))
    np.testing.assert_allclose(part, whole, rtol=1e-13)


def test_cross_validation_subtracts():
    from bayesbox.classifier.evaluate import cross_validate, leave_one_out
    from bayesbox.source.base import OneBatch
    from bayesbox.source.frames import batch_of

    X, y = mixed(60)
    frame = X.assign(label=y)
    classifier = bb.FullBayes()._new_classifier()
    found = cross_validate(classifier, OneBatch(batch_of(frame)), "label", folds=5)
    assert 0 <= found.metrics.accuracy.value <= 1
    alone = leave_one_out(bb.FullBayes()._new_classifier(), OneBatch(batch_of(frame)), "label")
    predicted = bb.FullBayes().fit(X, y).leave_one_out(X, y).argmax(axis=1)
    assert alone.metrics.accuracy.value == pytest.approx(np.mean(np.unique(y)[predicted] == y))


def test_many_rows_in_patterns_agree_with_few():
    """Batches with holes are answered pattern by pattern: the same as row by row."""
    X, y = mixed(50, holes=0.3)
    clf = bb.FullBayes().fit(X, y)
    whole = clf.predict_proba(X)
    each = np.vstack([clf.predict_proba(X[row : row + 1]) for row in range(50)])
    np.testing.assert_allclose(whole, each, rtol=1e-12)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_file_whose_tallies_disagree_is_refused(tmp_path, column):
    """Any cell of the table of columns together that is changed is noticed, though all checksums are right."""
    import pyarrow as pa

    from bayesbox.file import arrow, container

    X, y = mixed(30, holes=0.1)
    bb.FullBayes().fit(X, y).save(tmp_path / "m.bayes")
    members = dict(container.unpack((tmp_path / "m.bayes").read_bytes(), name="m"))
    members.pop("manifest.json", None)
    table = arrow.read(members["comoments.arrow"], dict.fromkeys(COLUMNS, (arrow.TEXT,)))
    values = table[column].to_pylist()
    other = {
        "class": "b",
        "levels": '{"kind":"t"}',
        "numbers": '["weight"]',
        "n": "7p0",
        "sums": "1p0",
        "products": "0",
    }
    place = next(index for index, value in enumerate(values) if value != other[column])
    values[place] = other[column]
    members["comoments.arrow"] = arrow.write({**table, column: pa.array(values, pa.string())})
    (tmp_path / "bad.bayes").write_bytes(container.pack(members))
    with refusal(bb.BadModelFile, where="comoments.arrow"):
        bb.load(tmp_path / "bad.bayes")
