"""scikit-learn's own checks of an estimator, all of them.

Of an estimator that takes texts scikit-learn checks next to nothing: there is no check that makes texts. So a
`TextClassifier` is checked as one of counts.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

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
@pytest.mark.filterwarnings("ignore:fold= is now one_hot=:FutureWarning")  # every parameter is tried, the old name too
@pytest.mark.filterwarnings("ignore:.*correlations shrunk:bayesbox.errors.DataWarning")  # of ten rows and ten columns
def test_sklearn(estimator, check):
    check(estimator)


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
