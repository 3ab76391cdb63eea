"""Joint distributions of several columns."""
