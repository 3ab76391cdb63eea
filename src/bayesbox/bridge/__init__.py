"""Conversions: classifiers and hidden Markov models as networks, a node of a network as a classifier."""
