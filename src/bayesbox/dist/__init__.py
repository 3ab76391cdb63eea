"""P(x | class): one family of distributions a file, which knows all about itself."""
