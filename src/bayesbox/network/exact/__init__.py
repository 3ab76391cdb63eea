"""Exact inference: junction trees, variable elimination, the most probable explanation."""
