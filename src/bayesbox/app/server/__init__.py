"""`bayes app`: serves the given files as a page on this machine."""
