"""What verbs print and write."""
