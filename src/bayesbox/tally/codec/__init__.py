"""How tallies are written into the model file and read back. Each is reached through its tally."""
