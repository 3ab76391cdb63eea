"""Verbs that change a model file, or make one of others."""
