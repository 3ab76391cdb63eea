"""Networks that are changed by hand in the browser: the edits, and how they read as Python and as a command."""
