"""What a model reveals of the rows it was learned from, and how to thin it."""
