"""The model file as bytes: container, Arrow tables, strict JSON,
writing whole or not at all, and the registry of codecs.
"""
