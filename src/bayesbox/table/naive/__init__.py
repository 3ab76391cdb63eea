"""Naive Bayes: every column by itself given the class."""
