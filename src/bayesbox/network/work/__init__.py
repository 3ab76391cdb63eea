"""The calculation of an answer of a network: a product, a sum, variable elimination, or the first samples."""
