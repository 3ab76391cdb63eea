"""Reports on a classifier and its rows: columns, size, differences, a survey."""
