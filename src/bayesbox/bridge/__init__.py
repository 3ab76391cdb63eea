"""What joins two subjects: naive Bayes and chains as networks, a node of a network as a classifier."""
