"""What people ask of a classifier: why a class, what if, what to ask next, which columns matter, what has changed."""
