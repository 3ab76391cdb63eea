"""A model or a network as the JSON document of the engine in the page."""
