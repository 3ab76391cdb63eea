"""What all classifiers share: training, forgetting, predictions, evaluation, calibration, the registry of kinds."""
