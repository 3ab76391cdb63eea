"""Compact tables: noisy-OR, noisy-AND and noisy-MAX."""
