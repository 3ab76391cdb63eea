"""The options that verbs share, and what they are turned into."""
