"""What estimators share besides what they answer."""
