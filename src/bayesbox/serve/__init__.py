"""The prediction service: models that answer, learn and forget over HTTP, and the store that makes it last."""
