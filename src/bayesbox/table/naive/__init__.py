"""Naive Bayes: the columns are independent given the class."""
