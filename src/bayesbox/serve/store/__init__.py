"""The store of the service: events, tallies, certificates, tokens and the audit log."""
