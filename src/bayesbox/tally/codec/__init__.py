"""Reading and writing tallies in the model file; each tally refers to its module here."""
