"""Where rows come from: batches of named columns, from frames, files, queries and Spark."""
