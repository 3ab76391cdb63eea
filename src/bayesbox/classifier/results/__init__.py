"""Details of an evaluation: groups of rows, rows of a cell, thresholds, comparisons of models."""
