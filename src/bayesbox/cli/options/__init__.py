"""The options that verbs share, and their conversion."""
