"""`bayes network`, and `bayes query` for networks."""
