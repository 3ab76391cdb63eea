"""What two subjects share: folds, metrics, calibration, mutual information, minimisation, tests."""
