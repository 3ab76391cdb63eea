"""P(x | class): one self-contained family of distributions per file."""
