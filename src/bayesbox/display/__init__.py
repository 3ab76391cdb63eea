"""Display of results: one line, a text table, HTML for notebooks, a DataFrame, a drawing."""
