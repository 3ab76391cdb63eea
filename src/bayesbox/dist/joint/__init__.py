"""The families of several columns together."""
