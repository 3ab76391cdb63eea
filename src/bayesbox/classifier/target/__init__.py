"""The target of a table: whether it holds classes, and how numbers become classes."""
