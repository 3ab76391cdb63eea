"""Classifiers of tables, one folder for each kind."""
