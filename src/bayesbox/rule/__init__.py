"""How a tally becomes probabilities: smoothing, densities, priors."""
