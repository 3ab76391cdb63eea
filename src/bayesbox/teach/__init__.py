"""Exercises: a sheet generated from a seed, its solution as a calculation, and the check of an answer."""
