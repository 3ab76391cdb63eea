"""`bayes hmm`, one file per group of actions."""
