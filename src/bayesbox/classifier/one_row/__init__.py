"""One row at a time: predicted by a compiled model, learned and forgotten without a DataFrame."""
