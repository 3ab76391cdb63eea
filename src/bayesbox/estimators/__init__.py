"""The scikit-learn estimators, and train, load and predict for Python."""
