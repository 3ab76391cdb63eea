"""From probabilities to decisions: costs and thresholds."""
