"""The verbs for questions about a model: ask, importance and drift."""
