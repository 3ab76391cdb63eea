"""Densities and bins of a number: one family per file."""
