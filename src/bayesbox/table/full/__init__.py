"""Full Bayes: all columns together given the class."""
