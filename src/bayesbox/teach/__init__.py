"""Exercises: a sheet drawn by a seed, its solution as the work of a model, and the check of an answer."""
