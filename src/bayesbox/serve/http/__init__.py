"""The service over HTTP: routes, tokens, limits, problems, metrics, logs, and processes."""
