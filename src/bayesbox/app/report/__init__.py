"""The report in one file: what the data are, how good the model is, and the pictures alive by the engine."""
