"""What a column is: its kind, its levels, its codes, the words of a text."""
