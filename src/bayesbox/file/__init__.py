"""The model file as bytes: container, Arrow tables, strict JSON, atomic writing, and the registry of codecs."""
