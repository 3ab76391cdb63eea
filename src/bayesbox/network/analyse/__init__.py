"""Analysis of a network and of evidence: what to ask next, conflicts, sensitivity and the strength of arcs."""
