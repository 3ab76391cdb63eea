"""scikit-learn's own checks of an estimator, all of them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesbox as bb


@parametrize_with_checks([bb.NaiveBayes(), bb.NaiveBayes(smoothing="m:2", prior_smoothing="laplace", missing="level")])
def test_sklearn(estimator, check):
    check(estimator)
