"""Probabilities and independence asked of a table, without a model."""
