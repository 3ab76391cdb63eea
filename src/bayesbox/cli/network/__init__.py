"""`bayes network` and what `bayes query` asks of networks."""
