"""The verbs that answer questions about a model: what to ask next, which columns matter, what has changed."""
