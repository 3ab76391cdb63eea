"""Full Bayes against scikit-learn, exact fractions, enumeration of tuples and a second way to maximise a likelihood."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, SuspiciousData, TooCostly
from bayesbox.limits import BYTES_A_JOINT


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_quadratic_discriminant_analysis(load):
    X, y = load(return_X_y=True)
    clf, peer = bb.FullBayes().fit(X, y), QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-9)
    assert clf.notes_ == ()


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_linear_discriminant_analysis(load):
    X, y = load(return_X_y=True)
    clf, peer = bb.FullBayes(covariance="pooled").fit(X, y), LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_diagonal_is_gaussian_naive_bayes(load):
    X, y = load(return_X_y=True)
    X = X.copy()
    X[::7, 1] = np.nan
    full, naive = bb.FullBayes(covariance="diagonal").fit(X, y), bb.NaiveBayes(numeric="gaussian").fit(X, y)
    np.testing.assert_allclose(full.joint_log_proba(X), naive.joint_log_proba(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e12, 1.0), (0.0, 1e300), (0.0, 1e-300), (-1e12, 1e-3)])
def test_offsets_and_scales(offset, scale):
    """Exact to the last digits against fractions of the very values that were learned."""
    random = np.random.default_rng(4)
    base = random.normal(size=(12, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    X = offset + scale * base
    y = np.array(["a", "b"] * 6)
    clf = bb.FullBayes().fit(X, y)
    found = clf.joint_log_proba(X)
    for place, label in enumerate("ab"):
        rows = [[Fraction(float(value)) for value in row] for row in X[y == label]]
        n = len(rows)
        mean = [sum(row[j] for row in rows) / n for j in range(2)]
        cov = [[sum((row[i] - mean[i]) * (row[j] - mean[j]) for row in rows) / n for j in range(2)] for i in range(2)]
        determinant = cov[0][0] * cov[1][1] - cov[0][1] ** 2
        for row, density in zip(X, found[:, place], strict=True):
            d = [Fraction(float(value)) - m for value, m in zip(row, mean, strict=True)]
            square = (cov[1][1] * d[0] ** 2 - 2 * cov[0][1] * d[0] * d[1] + cov[0][0] * d[1] ** 2) / determinant
            log_determinant = np.log(float(determinant / Fraction(scale) ** 4)) + 4 * np.log(scale)
            expected = np.log(0.5) - 0.5 * (float(square) + log_determinant) - np.log(2 * np.pi)
            assert density == pytest.approx(expected, rel=1e-11, abs=1e-11)


def with_holes(seed, rows=90, share=0.2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 3)) @ np.array([[1, 0.7, 0.2], [0, 1, -0.5], [0, 0, 1]]) + 5
    y = random.integers(0, 2, rows)
    X[y == 1] += [1, -1, 0.5]
    X[random.random(X.shape) < share] = np.nan
    return X, y


def observed_likelihood(X, mean, covariance):
    total = 0.0
    for row in X:
        there = ~np.isnan(row)
        if there.any():
            total += multivariate_normal(mean[there], covariance[np.ix_(there, there)]).logpdf(row[there])
    return total


def test_expectation_maximisation_finds_the_most_likely_normal():
    """No small step in any mean or covariance makes the observed values more likely."""
    X, y = with_holes(0)
    normals = bb.FullBayes().fit(X, y).classifier_.model.normals
    for place in range(2):
        rows = X[y == place]
        mean, covariance = normals.mean[place] + normals.mean_low[place], normals.covariance(place)
        best = observed_likelihood(rows, mean, covariance)
        step = 1e-4
        for i in range(3):
            for sign in (-1, 1):
                moved = mean.copy()
                moved[i] += sign * step
                assert observed_likelihood(rows, moved, covariance) <= best + 1e-9
            for j in range(i, 3):
                for sign in (-1, 1):
                    other = covariance.copy()
                    other[i, j] += sign * step
                    other[j, i] = other[i, j]
                    assert observed_likelihood(rows, mean, other) <= best + 1e-9


def test_missing_numbers_are_integrated_out():
    X, y = with_holes(1)
    clf = bb.FullBayes().fit(X, y)
    normals = clf.classifier_.model.normals
    found = clf.joint_log_proba(X)
    for row, joint in zip(X, found, strict=True):
        there = ~np.isnan(row)
        for place in range(2):
            mean, covariance = normals.mean[place] + normals.mean_low[place], normals.covariance(place)
            density = 0.0
            if there.any():
                density = multivariate_normal(mean[there], covariance[np.ix_(there, there)]).logpdf(row[there])
            assert joint[place] == pytest.approx(clf.class_log_prior_[place] + density, rel=1e-10)


def levels_with_holes(seed, rows=80):
    random = np.random.default_rng(seed)
    a = random.choice(["p", "q"], rows).astype(object)
    b = np.where(random.random(rows) < 0.6, a, random.choice(["p", "q", "r"], rows)).astype(object)
    y = random.choice(["no", "yes"], rows)
    a[random.random(rows) < 0.15] = None
    b[random.random(rows) < 0.15] = None
    return {"a": a.tolist(), "b": b.tolist()}, y


def test_tuples_with_holes_are_shared_out_as_is_most_likely():
    X, y = levels_with_holes(2)
    clf = bb.FullBayes(smoothing="mle").fit(X, y)
    table = clf.classifier_.model.table
    grid = np.exp(table.log_p).reshape(2, 3, 2)

    def likelihood(p, place):
        total = 0.0
        for a, b, label in zip(X["a"], X["b"], y, strict=True):
            if label == clf.classes_[place] and (a, b) != (None, None):
                index = (slice(None) if a is None else "pq".index(a), slice(None) if b is None else "pqr".index(b))
                total += np.log(p[index].sum())
        return total

    for place in range(2):
        p = grid[:, :, place]
        assert p.sum() == pytest.approx(1, abs=1e-12)
        best = likelihood(p, place)
        for one, other in itertools.permutations(itertools.product(range(2), range(3)), 2):
            moved = p.copy()
            step = min(1e-3, moved[one])
            moved[one] -= step
            moved[other] += step
            assert likelihood(moved, place) <= best + 1e-9


def test_missing_levels_are_summed_out():
    X, y = levels_with_holes(3)
    clf = bb.FullBayes().fit(X, y)
    for a in ("p", "q"):
        whole = [clf.joint_log_proba([{"a": a, "b": b}])[0] for b in "pqr"]
        np.testing.assert_allclose(clf.joint_log_proba([{"a": a}])[0], logsumexp(whole, axis=0), rtol=1e-12)
    np.testing.assert_allclose(clf.joint_log_proba([{"a": None, "b": None}])[0], clf.class_log_prior_, rtol=1e-12)


def mixed(seed, rows=240):
    random = np.random.default_rng(seed)
    kind, flag = random.choice(["s", "t", "u"], rows, p=[0.6, 0.35, 0.05]), random.random(rows) < 0.3
    y = random.integers(0, 2, rows)
    height = random.normal(size=rows) + (kind == "t") * (1 + y)
    weight = random.normal(size=rows) + height * np.where(kind == "s", 0.5, -0.5)
    return {"kind": kind, "flag": flag, "height": height, "weight": weight}, y


def test_a_tuple_with_rows_enough_has_a_normal_of_its_own():
    X, y = mixed(5)
    clf = bb.FullBayes(smoothing="mle").fit(X, y)
    model = clf.classifier_.model
    assert 0 < model.own_normals < 12
    numbers = np.column_stack([X["height"], X["weight"]])
    found = clf.joint_log_proba(X)
    for row in range(0, len(y), 5):
        for place in range(2):
            cell = (X["kind"] == X["kind"][row]) & (X["flag"] == X["flag"][row]) & (y == place)
            source = numbers[cell] if cell.sum() >= 15 else numbers[y == place]
            density = multivariate_normal(source.mean(axis=0), np.cov(source.T, ddof=0)).logpdf(numbers[row])
            if cell.any():
                expected = np.log(np.mean(y == place)) + np.log(cell.sum() / (y == place).sum()) + density
                assert found[row, place] == pytest.approx(expected, rel=1e-11)


def test_a_row_with_a_missing_level_is_a_mixture():
    X, y = mixed(6)
    clf = bb.FullBayes().fit(X, y)
    case = {"height": 0.3, "weight": -0.2}
    whole = [
        clf.joint_log_proba([{"kind": kind, "flag": flag, **case}])[0]
        for kind, flag in itertools.product("stu", (False, True))
    ]
    np.testing.assert_allclose(clf.joint_log_proba([case])[0], logsumexp(whole, axis=0), rtol=1e-12)
    half = [clf.joint_log_proba([{"kind": kind, "flag": True, **case}])[0] for kind in "stu"]
    np.testing.assert_allclose(clf.joint_log_proba([{"flag": True, **case}])[0], logsumexp(half, axis=0), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")  # columns are taken away one by one
def test_the_terms_of_an_explanation_are_the_chain_rule():
    X, y = mixed(7)
    clf = bb.FullBayes().fit(X, y)
    explanation = clf.explain(X)
    np.testing.assert_allclose(explanation.joint(), clf.joint_log_proba(X), rtol=1e-10)
    np.testing.assert_allclose(
        explanation.terms[:3, :, 0], clf.joint_log_proba({"kind": X["kind"][:3]}) - clf.class_log_prior_, rtol=1e-10
    )


# -- what cannot be estimated ----------------------------------------------------------------------------------------


def test_a_class_with_fewer_rows_than_columns_is_shrunk_and_said_so():
    random = np.random.default_rng(8)
    X, y = random.normal(size=(30, 5)), np.array([0] * 26 + [1] * 4)
    with warning(SuspiciousData, reason="shrunk", what="`1`"):
        clf = bb.FullBayes().fit(X, y)
    assert len(clf.notes_) == 1
    assert np.isfinite(clf.joint_log_proba(X)).all()
    normals = clf.classifier_.model.normals
    own, within = np.corrcoef(X[y == 1].T), np.zeros((5, 5))
    for label in (0, 1):
        within += np.cov(X[y == label].T, ddof=0) * (y == label).mean()
    root = np.sqrt(np.diag(within))
    np.testing.assert_allclose(normals.correlation[1], (4 * own + 6 * within / np.outer(root, root)) / 10, rtol=1e-10)
    np.testing.assert_allclose(normals.std[1], X[y == 1].std(axis=0), rtol=1e-13)
    with refusal(BadData, what="singular"):
        bb.FullBayes(shrink=0).fit(X, y)


def test_a_column_that_is_there_twice():
    random = np.random.default_rng(9)
    X = random.normal(size=(40, 2))
    X = np.column_stack([X, X[:, 0]])
    y = random.integers(0, 2, 40)
    for covariance in ("full", "pooled"):
        with warning(SuspiciousData, reason="shrunk"):
            clf = bb.FullBayes(covariance=covariance).fit(X, y)
        assert np.isfinite(clf.joint_log_proba(X)).all()


def test_one_row_a_class_and_constants():
    with warning(SuspiciousData, reason="constant", columns=("1",)):
        clf = bb.FullBayes().fit([[1.0, 5.0, 2.0], [2.0, 5.0, 7.0]], ["a", "b"])
    assert clf.predict([[1.1, 5.0, 2.0], [1.9, 5.0, 6.5]]).tolist() == ["a", "b"]
    assert clf.classifier_.model.ignored == {"1": "all its values are equal"}


def test_a_table_that_would_not_fit_is_refused_with_its_cells():
    random = np.random.default_rng(10)
    X, y = random.integers(0, 2, (50, 30)), random.integers(0, 2, 50)
    with refusal(TooCostly, bytes=2.0**31 * BYTES_A_JOINT, limit=2**31):
        bb.FullBayes().fit(X, y)


def test_what_full_bayes_does_not_take():
    X, y = {"n": [1, 2, 3]}, ["a", "b", "a"]
    with refusal(BadOption, what="`n`"):
        bb.FullBayes(columns={"n": bb.Count()}).fit(X, y)
    with refusal(BadOption, found="round"):
        bb.FullBayes(covariance="round").fit(X, y)
    with refusal(BadOption, found=-1):
        bb.FullBayes(shrink=-1).fit(X, y)
    with pytest.raises(BadOption):
        bb.FullBayes(smoothing=bb.rules.PriorCounts({"a": 1})).fit({"p": ["a", "b"], "q": ["a", "b"]}, ["x", "y"])


@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
def test_unseen_levels_and_infinite_values():
    X, y = {"p": ["a", "b", "a", "b"], "q": ["a", "a", "b", "b"]}, ["x", "y", "x", "y"]
    clf = bb.FullBayes(unseen="smooth").fit(X, y)
    new = clf.joint_log_proba([{"p": "z", "q": "a"}])[0]
    np.testing.assert_allclose(new, np.log([0.5 / 6, 0.5 / 6]), rtol=1e-12)  # no row of 2 + 4 cells
    ignored = bb.FullBayes(unseen="ignore").fit(X, y)
    np.testing.assert_allclose(
        ignored.joint_log_proba([{"p": "z", "q": "a"}]), ignored.joint_log_proba([{"q": "a"}]), rtol=1e-12
    )
    with refusal(BadData, column="p", found="z"):
        bb.FullBayes(unseen="error").fit(X, y).predict([{"p": "z", "q": "a"}])
    numbers = bb.FullBayes().fit(np.random.default_rng(0).normal(size=(20, 2)), [0, 1] * 10)
    assert np.isneginf(numbers.joint_log_proba([[np.inf, 0.0]])).all()
