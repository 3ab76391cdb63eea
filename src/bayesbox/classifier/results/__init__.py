"""What an evaluation gives besides its numbers: groups of rows, rows behind a cell, thresholds, models compared."""
