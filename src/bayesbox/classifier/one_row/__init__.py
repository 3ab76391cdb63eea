"""Rows one at a time: answered by a model that is compiled once, learned and forgotten without a frame."""
