"""Editing networks in the browser: the edits, and the same as Python and as a command."""
