"""The verbs that audit models: what was learned and forgotten."""
