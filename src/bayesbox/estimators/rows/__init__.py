"""How rows reach an estimator: one at a time, and in partitions."""
