"""Causal inference on a network: interventions, adjustment sets and identification of effects."""
