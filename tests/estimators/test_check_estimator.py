"""scikit-learn's own checks of an estimator, all of them.

Of an estimator that takes texts scikit-learn checks next to nothing: there is no check that makes texts. So a
`TextClassifier` is checked as one of counts, and once more with the rows of scikit-learn's matrices turned into texts.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    estimator_checks_generator,
    parametrize_with_checks,
)

import bayesbox as bb


@parametrize_with_checks(
    [
        bb.AutoBayes(budget=1),
        bb.NaiveBayes(),
        bb.NaiveBayes(smoothing="m:2", prior_smoothing="laplace", missing="level"),
        bb.AveragedNaiveBayes(),
        bb.AODE(),
        bb.KDB(2),
        bb.TAN(score="bic"),
        bb.FullBayes(),
        bb.FullBayes(covariance="pooled", shrink=3, enough=2),
    ]
)
@pytest.mark.filterwarnings("ignore:fold= has been renamed:FutureWarning")  # every parameter is tried, the old name too
@pytest.mark.filterwarnings("ignore:.*correlations shrunk:bayesbox.errors.DataWarning")  # of ten rows and ten columns
def test_sklearn(estimator, check):
    check(estimator)


@pytest.mark.xfail(
    strict=True,
    reason="columns are matched by name: one that is absent is missing in every row, in any order, with a warning",
)
@pytest.mark.filterwarnings("ignore::bayesbox.errors.MissingColumns")
@pytest.mark.parametrize("estimator", [bb.NaiveBayes(), bb.AODE(), bb.TAN(), bb.FullBayes()])
def test_names_of_columns_need_not_be_those_learned(estimator):
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


def test_rows_without_names_warn_as_scikit_learn_does():
    """What that check asks for besides."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(150, 8)), columns=[f"col{place}" for place in range(8)])
    clf = bb.NaiveBayes().fit(frame, np.arange(150) % 2)
    assert list(clf.feature_names_in_) == list(frame.columns)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but NaiveBayes was fitted with feature"):
        clf.predict(frame.to_numpy())


class OfCounts(bb.TextClassifier):
    """A classifier that is given matrices of counts."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = tags.input_tags.positive_only = True
        tags.input_tags.one_d_array = tags.input_tags.string = False
        return tags


@parametrize_with_checks([OfCounts(), OfCounts(occurrence="complement", once=True)])
def test_sklearn_of_documents(estimator, check):
    check(estimator)


class OfDocuments(bb.TextClassifier):
    """A classifier that is given documents: every row of the matrices that scikit-learn makes becomes a text."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(documents(X), y, sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(documents(X), y, classes, sample_weight)

    def _asked(self, X):
        return super()._asked(documents(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.one_d_array = tags.input_tags.string = tags.input_tags.sparse = False
        return tags


def documents(X):
    """A word for each cell, of its column and its value in tenths: equal rows are equal texts."""
    return [" ".join(f"c{place}v{round(10 * value)}" for place, value in enumerate(row)) for row in np.asarray(X)]


NOT_OF_DOCUMENTS = {
    "check_array_api_input": "texts are no arrays of numbers",
    "check_estimator_sparse_tag": "a document is no row of a sparse matrix",
    "check_estimator_sparse_array": "a document is no row of a sparse matrix",
    "check_estimator_sparse_matrix": "a document is no row of a sparse matrix",
    "check_sample_weight_equivalence_on_sparse_data": "a document is no row of a sparse matrix",
    "check_n_features_in_after_fitting": "texts have no number of features",
    "check_n_features_in": "texts have no number of features",
    "check_estimators_partial_fit_n_features": "texts have no number of features",
    "check_complex_data": "the numbers are gone before the classifier sees them",
    "check_dtype_object": "the numbers are gone before the classifier sees them",
    "check_estimators_nan_inf": "the numbers are gone before the classifier sees them",
    "check_estimators_empty_data_messages": "a text may be empty; an empty list is refused, see the tests of documents",
    "check_fit1d": "the rows are texts before the classifier sees them",
    "check_fit2d_predict1d": "the rows are texts before the classifier sees them",
    "check_classifiers_train": "numbers beside each other become words that have nothing in common",
}


@parametrize_with_checks([OfDocuments()], expected_failed_checks=lambda _: NOT_OF_DOCUMENTS)
def test_sklearn_of_texts(estimator, check):
    if check.func.__name__ in NOT_OF_DOCUMENTS:
        pytest.skip(NOT_OF_DOCUMENTS[check.func.__name__])
    check(estimator)


def test_how_many_checks_run_on_texts():
    """The number that the documentation gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [each.func.__name__ for _, each in estimator_checks_generator(OfDocuments())]
    run = [name for name in names if name not in NOT_OF_DOCUMENTS]
    page = (Path(__file__).parents[2] / "docs" / "guarantees.md").read_text(encoding="utf-8")
    assert f"{len(run)} of the checks adapted to texts" in page
