"""Naive Bayes averaged over the sets of columns that depend on the class."""
