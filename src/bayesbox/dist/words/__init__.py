"""The families of words: how often, or whether, a document contains each."""
