"""The command `bayes`: one verb a file."""
