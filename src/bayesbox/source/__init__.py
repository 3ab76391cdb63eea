"""Sources of rows: batches of named columns, from DataFrames, files, queries and Spark."""
