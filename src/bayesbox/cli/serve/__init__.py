"""The verbs of the service: it is started, and tokens are made for it."""
