"""The Bayes optimal classifier: several classifiers, each weighted by its posterior probability."""
