"""Full Bayes: the joint distribution of all columns given the class."""
