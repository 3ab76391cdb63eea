"""The output of the verbs."""
