"""The prediction service: models that predict, learn and forget over HTTP, and the durable store behind it."""
