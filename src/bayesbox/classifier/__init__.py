"""What every classifier shares: learning, forgetting, answers, evaluation, calibration, the registry of kinds."""
