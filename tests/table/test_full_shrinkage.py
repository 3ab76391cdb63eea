"""Correlations shrunk towards independence: Ledoit and Wolf beside scikit-learn, leave-one-out beside refits."""

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics import d2_brier_score
from sklearn.model_selection import ShuffleSplit

import bayesbox as bb
from bayesbox.dist.base import Doubles
from bayesbox.errors import CannotMerge
from bayesbox.rule.joint_normal import Columns
from bayesbox.table.full.model import class_normals, number_columns
from bayesbox.table.full.shrinkage import SHARES, StandardRows, leave_one_out_loss, rows_of


def correlated(rows: int = 90, width: int = 6) -> tuple[Doubles, np.ndarray]:
    random = np.random.default_rng(3)
    X = random.normal(size=(rows, width)) @ random.normal(size=(width, width))
    y = np.array(["a", "b", "c"])[np.arange(rows) % 3]
    X[y == "b"] += 0.5
    X[y == "c"] *= 1.5
    return X, y


def shares(clf: bb.FullBayes) -> dict[str, float]:
    shrinkage = clf.classifier_.shrinkage
    return {} if shrinkage is None else dict(shrinkage.rows)


def test_ledoit_wolf_share():
    X, y = correlated()
    clf = bb.FullBayes(shrink="ledoit-wolf").fit(X, y)
    for label, m in shares(clf).items():
        rows = X[y == label]
        expected = LedoitWolf().fit((rows - rows.mean(axis=0)) / rows.std(axis=0)).shrinkage_
        assert m / (len(rows) + m) == pytest.approx(expected, rel=1e-12)


def test_ledoit_wolf_is_discriminant_analysis_with_shrinkage():
    X, y = correlated()
    full, pooled = (bb.FullBayes(covariance=c, shrink="ledoit-wolf").fit(X, y) for c in ("full", "pooled"))
    peer = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X, y)
    np.testing.assert_allclose(full.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-12)
    linear = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, y)
    np.testing.assert_allclose(pooled.predict_proba(X), linear.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shrink", ["loo", "ledoit-wolf"])
def test_few_rows_of_many_columns(shrink):
    """scikit-learn's case: 25 independent columns, 100 rows; without shrinking the score is below .6."""
    random = np.random.default_rng(0)
    deviation = np.sqrt(np.stack([random.uniform(2.0, 3.0, 25), random.uniform(0.2, 1.0, 25)]))
    X = random.normal(size=(600, 25)) * np.repeat(deviation, 300, axis=0)
    y = np.repeat([0, 1], 300)

    def score(clf):
        found = []
        for train, test in ShuffleSplit(3, train_size=100, random_state=0).split(X):
            found.append(d2_brier_score(y[test], clf.fit(X[train], y[train]).predict_proba(X[test])))
        return np.mean(found)

    assert score(bb.FullBayes(shrink=shrink)) > 0.95
    assert score(bb.FullBayes()) < 0.6


@pytest.mark.parametrize("covariance", ["full", "pooled"])
@pytest.mark.parametrize("share", [0.1, 0.6, 1.0])
def test_loss_that_loo_compares(covariance, share):
    """The mean log loss of rows left out one by one, each by a refit with the same rows' worth of independence."""
    X, y = correlated(36, 4)
    clf = bb.FullBayes(covariance=covariance).fit(X, y)
    classifier = clf.classifier_
    m = rows_of(share, 12.0)
    columns: Columns = number_columns(classifier.schema, classifier.book, ())[0]
    normals = class_normals(classifier.book.joint, columns, ("a", "b", "c"))
    prior = np.log(np.where(y[:, None] == np.array(["a", "b", "c"]), 11, 12) / 35)
    rows = StandardRows(X, np.searchsorted(["a", "b", "c"], y), np.ones(36), prior)
    expected = []
    for row in range(36):
        others = np.arange(36) != row
        expected.append(-np.log(textbook(X[others], y[others], X[row], m, covariance)[y[row]]))
    found = leave_one_out_loss(normals, rows, m, pooled=covariance == "pooled")
    assert found == pytest.approx(np.mean(expected), rel=1e-10)


def textbook(X, y, x, m, covariance):
    """P(class | x) of normals whose correlations are shrunk, by the definition."""
    joint, matrices, means = {}, {}, {}
    for label in "abc":
        rows = X[y == label]
        means[label] = rows.mean(axis=0)
        matrix = np.cov(rows.T, bias=True)
        off = 0.0 if np.isinf(m) else len(rows) / (len(rows) + m)
        matrices[label] = np.where(np.eye(len(matrix)) > 0, matrix, off * matrix)
    if covariance == "pooled":
        one = sum((y == label).mean() * matrices[label] for label in "abc")
        matrices = dict.fromkeys("abc", one)
    for label in "abc":
        d = x - means[label]
        square = d @ np.linalg.solve(matrices[label], d)
        joint[label] = (y == label).mean() * np.exp(-0.5 * (square + np.linalg.slogdet(matrices[label])[1]))
    return {label: value / sum(joint.values()) for label, value in joint.items()}


def test_loo_takes_the_share_with_the_least_loss():
    X, y = correlated(36, 4)
    m = next(iter(shares(bb.FullBayes(shrink="loo").fit(X, y)).values()), 0.0)
    losses = {}
    for share in SHARES[1:]:
        own = rows_of(share, 12.0)
        answers = [
            textbook(X[np.arange(36) != row], y[np.arange(36) != row], X[row], own, "full")[y[row]] for row in range(36)
        ]
        losses[own] = -np.log(answers).mean()
    best = min(losses, key=losses.__getitem__)
    plain = bb.FullBayes().fit(X, y).leave_one_out(X, y)[np.arange(36), np.searchsorted(["a", "b", "c"], y)]
    assert m == pytest.approx(best if losses[best] < -np.log(plain).mean() else 0.0)


@pytest.mark.parametrize("shrink", ["loo", "ledoit-wolf"])
def test_leave_one_out_keeps_how_far(shrink):
    X, y = correlated(45, 5)
    clf = bb.FullBayes(shrink=shrink).fit(X, y)
    found = clf.leave_one_out(X, y)
    for row in range(0, 45, 6):
        other = bb.FullBayes(shrink=shrink).fit(X, y)
        other.forget(X[row : row + 1], y[row : row + 1])
        np.testing.assert_allclose(found[row], other.predict_proba(X[row : row + 1])[0], rtol=0, atol=1e-12)


def test_gaps_categories_and_weights():
    """Rows with gaps are gone over where they are complete, and weights count like copies."""
    X, y = correlated(60, 3)
    levels = np.where(X[:, 0] > 0, "up", "down")
    gaps = X.copy()
    gaps[::9, 1] = np.nan
    table = {"a": gaps[:, 0], "b": gaps[:, 1], "c": gaps[:, 2], "level": levels}
    for shrink in ("loo", "ledoit-wolf"):
        answers = bb.FullBayes(shrink=shrink).fit(table, y).predict_proba(table)
        assert np.isfinite(answers).all()
    weights = 1.0 + (np.arange(60) % 2)
    copies = np.repeat(np.arange(60), weights.astype(int))
    weighted = bb.FullBayes(shrink="ledoit-wolf").fit(X, y, sample_weight=weights)
    assert shares(weighted) == pytest.approx(shares(bb.FullBayes(shrink="ledoit-wolf").fit(X[copies], y[copies])))


def test_file_update_and_merge(tmp_path):
    X, y = correlated()
    clf = bb.FullBayes(shrink="ledoit-wolf").fit(X, y)
    clf.save(tmp_path / "m.bayes")
    again = bb.load(tmp_path / "m.bayes")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    before = shares(clf)
    assert shares(clf.partial_fit(X[:9], y[:9])) == before  # rows' worth: the share falls as rows come
    with pytest.raises(CannotMerge):
        clf + bb.FullBayes(shrink="ledoit-wolf").fit(X[:45], y[:45])


def test_nothing_to_shrink():
    """One number has no correlation, and a class of one row has nothing to be left out of."""
    one = bb.FullBayes(shrink="loo").fit([[1.0], [2.0], [3.0], [4.5]], ["a", "a", "b", "b"])
    assert shares(one) == {}
    few = bb.FullBayes(shrink="loo").fit([[1.0, 2.0], [2.0, 5.0]], ["a", "b"])
    assert shares(few) == {}
    assert np.isfinite(few.predict_proba([[1.0, 2.0]])).all()
