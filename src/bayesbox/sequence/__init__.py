"""Hidden Markov models."""

from bayesbox.file.registry import register_codec

register_codec("hidden-markov", "bayesbox.sequence.codec")
