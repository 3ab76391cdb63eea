"""Served models: a model of any kind under a name, with its queries and its answers as JSON."""
