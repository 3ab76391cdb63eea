"""What estimators share apart from predictions."""
