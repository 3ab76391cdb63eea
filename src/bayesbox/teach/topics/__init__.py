"""The topics, one per module: each has its kinds of questions, generated from a seed."""
