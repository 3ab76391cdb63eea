"""The verbs of the service: serve and token."""
