"""The verbs that change a model file or combine several."""
