"""Where the service keeps what it learned: events, tallies, certificates, tokens and the audit log."""
