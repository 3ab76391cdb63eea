"""What a classifier says of itself and of its rows: columns, size, differences, a survey."""
