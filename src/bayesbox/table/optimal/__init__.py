"""The Bayes-optimal answer of several classifiers, each weighted by its probability."""
