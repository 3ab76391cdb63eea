"""Naive Bayes: columns are independent given the class."""
