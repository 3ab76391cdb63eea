"""What is served: a model of any kind under a name, the questions it takes, and its answers as JSON."""
