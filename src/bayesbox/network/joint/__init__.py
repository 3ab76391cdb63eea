"""Probabilities and independence in a table, without a model."""
