"""The target of a table: whether it is categorical, and how numbers are binned into classes."""
