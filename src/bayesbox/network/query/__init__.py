"""Queries of a network: the notation, d-separation, tables of answers."""
