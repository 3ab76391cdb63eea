"""`evaluate` and `compare`: estimators evaluated on held-out rows."""
