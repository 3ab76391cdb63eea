"""Shared statistics: folds, metrics, calibration, mutual information, minimisation, tests."""
