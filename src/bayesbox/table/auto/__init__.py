"""AutoBayes: all models that fit the budget, weighted by their held-out predictions."""
