"""Editing a network: nodes, arcs, tables and names."""
