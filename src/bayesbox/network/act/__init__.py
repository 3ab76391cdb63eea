"""Acting on a network: interventions, adjustment sets, and which effects can be identified."""
