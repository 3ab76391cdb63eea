"""Explanation, what-if, next question, importance and drift of a classifier."""
