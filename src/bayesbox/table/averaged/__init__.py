"""Naive Bayes averaged over all subsets of the columns."""
