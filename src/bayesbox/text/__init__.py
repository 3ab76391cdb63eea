"""Classifiers of documents and mail."""
