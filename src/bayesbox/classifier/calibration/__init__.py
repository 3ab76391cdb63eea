"""How the calibration of a classifier is chosen and learned, with its first rows or again."""
