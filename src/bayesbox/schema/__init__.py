"""The types of columns, their levels and codes, and the words of texts."""
