"""`bayes hmm`, a file a group of actions."""
