"""Approximate inference: sampling, loopy propagation, mean field."""
