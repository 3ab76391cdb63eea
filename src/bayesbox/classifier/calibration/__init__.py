"""How the calibration of a classifier is chosen, learned and refitted."""
