"""bayesbox: Bayesian classification that people can run, read and audit."""
