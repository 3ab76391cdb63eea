"""A model or a network as the JSON document that the engine in the page answers from."""
