"""Learning networks from rows: structure by score, by tests or as a tree; tables by counting or by EM."""
