"""The self-contained report: the data, the evaluation of the model, and interactive views."""
