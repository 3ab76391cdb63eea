"""Verbs that check what was learned and forgotten."""
