"""Explanations of an answer: weights of evidence, calculations, nomograms, drawings."""
