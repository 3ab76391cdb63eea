"""How results show themselves: one line, a table of text, HTML for notebooks, a frame, a picture."""
