"""Rows passed to an estimator one at a time or in partitions."""
