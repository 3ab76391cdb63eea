"""Where scikit-learn has the same model, the same answers to 1e-9."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

import bayesbox as bb

ROWS, COLUMNS, CLASSES = 80, 4, 3
WEIGHTS = {"no weights": None, "weights": np.random.default_rng(9).uniform(0.1, 3, ROWS)}
PRIORS = {"empirical": None, "given": [0.2, 0.5, 0.3]}

each_weight = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
each_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)


@pytest.fixture
def random():
    return np.random.default_rng(1)


@pytest.fixture
def y(random):
    return np.concatenate([np.arange(CLASSES), random.integers(0, CLASSES, ROWS - CLASSES)])


def ours(prior, **parameters):
    given = None if prior is None else dict(enumerate(prior))
    return bb.NaiveBayes(prior=given, **parameters)


def assert_same(mine, theirs, X):
    joint = theirs.predict_joint_log_proba(X)
    np.testing.assert_allclose(mine.joint_log_proba(X), joint, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(mine.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    assert mine.predict(X).tolist() == theirs.predict(X).tolist()
    assert mine.classes_.tolist() == theirs.classes_.tolist()


@each_weight
@each_prior
def test_gaussian(random, y, weights, prior):
    X = random.normal(size=(ROWS, COLUMNS)) + y[:, None] * 0.3
    theirs = GaussianNB(var_smoothing=0, priors=prior).fit(X, y, weights)
    mine = ours(prior, columns=dict.fromkeys(range(COLUMNS), bb.Real(floor=0))).fit(X, y, weights)
    assert_same(mine, theirs, X)
    np.testing.assert_allclose([mine.book_[str(j)].mean for j in range(COLUMNS)], theirs.theta_.T, rtol=1e-12)
    np.testing.assert_allclose([mine.book_[str(j)].variance for j in range(COLUMNS)], theirs.var_.T, rtol=1e-9)


@each_weight
@each_prior
@pytest.mark.parametrize("alpha", [1.0, 0.1, 3.5])
def test_categorical(random, y, weights, prior, alpha):
    """Twelve categories are declared, nine occur, so that some are unseen in every class."""
    X = random.integers(0, 9, size=(ROWS, COLUMNS))
    theirs = CategoricalNB(alpha=alpha, min_categories=12, fit_prior=prior is None, class_prior=prior)
    theirs.fit(X, y, sample_weight=weights)
    kinds = dict.fromkeys(range(COLUMNS), bb.Category(range(12)))
    mine = ours(prior, smoothing=bb.rules.Lidstone(alpha), columns=kinds).fit(X, y, weights)
    assert_same(mine, theirs, random.integers(0, 12, size=(50, COLUMNS)))
    texts = X.astype(str)
    assert mine.book_.digest() == ours(prior, columns=kinds).fit(texts, y, weights).book_.digest()


@each_weight
@each_prior
@pytest.mark.parametrize("dtype", [bool, np.int8, np.float64])
def test_bernoulli(random, y, weights, prior, dtype):
    X = (random.random((ROWS, COLUMNS)) < 0.2 + 0.2 * y[:, None]).astype(dtype)
    theirs = BernoulliNB(alpha=1.0, fit_prior=prior is None, class_prior=prior).fit(X, y, weights)
    mine = ours(prior).fit(X, y, weights)
    assert_same(mine, theirs, X)


@each_weight
@each_prior
@pytest.mark.parametrize("alpha", [1.0, 0.01])
@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_multinomial(random, y, weights, prior, alpha, form):
    width = 30
    dense = random.poisson(0.4, size=(ROWS, width))
    dense[:, 7] = 0  # a word that never occurs
    X = {"dense": np.asarray, "csr": sparse.csr_matrix, "csc": sparse.csc_array}[form](dense)
    theirs = MultinomialNB(alpha=alpha, fit_prior=prior is None, class_prior=prior).fit(X, y, weights)
    kinds = dict.fromkeys(range(width), bb.Count()) if form == "dense" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bb.DataWarning)  # of the word that never occurs
        mine = ours(prior, smoothing=bb.rules.Lidstone(alpha), columns=kinds).fit(X, y, weights)
    assert_same(mine, theirs, X)
    asked = random.poisson(1.0, size=(20, width))
    assert_same(mine, theirs, sparse.csr_matrix(asked) if form != "dense" else asked)


def test_a_hundred_thousand_words(random):
    X = sparse.random(40, 100_000, density=0.01, random_state=0, format="csr", data_rvs=lambda n: np.ones(n) * 3)
    y = np.arange(40) % 2
    theirs, mine = MultinomialNB().fit(X, y), bb.NaiveBayes().fit(X, y)
    joint = mine.joint_log_proba(X)
    assert joint.max() < -10_000
    np.testing.assert_allclose(joint, theirs.predict_joint_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(mine.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    assert np.isfinite(mine.predict_log_proba(X)).all()
