"""Experiments with models and rows: robustness, and yardsticks from other libraries."""
