"""Plots like scikit-learn's displays: made from an estimator, drawn as SVG or on matplotlib axes."""
