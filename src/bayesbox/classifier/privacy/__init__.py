"""What a model reveals about its training rows, and how to redact it."""
