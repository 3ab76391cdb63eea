"""AutoBayes: all models of a table that the budget allows, weighted by their answers to held-out rows."""
