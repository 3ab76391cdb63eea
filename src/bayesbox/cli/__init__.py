"""The command `bayes`: one verb a file."""

HELP_NAMES = ["-h", "--help"]
CONTEXT: dict[str, object] = {"help_option_names": HELP_NAMES, "max_content_width": 100}
"""How every command shows its help."""
