"""Table classifiers, one folder per kind."""
