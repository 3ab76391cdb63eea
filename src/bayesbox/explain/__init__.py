"""Why an answer is what it is: evidence, the work shown, nomograms, pictures."""
