"""Densities and bins of a number: one family a file."""
