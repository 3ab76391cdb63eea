"""What to make of a network and of evidence: what to ask next, findings that disagree, how strong the arcs are."""
