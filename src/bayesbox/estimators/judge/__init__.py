"""`evaluate` and `compare`: estimators judged on rows that they have not seen."""
