"""Models in other languages: SQL, ONNX, PMML."""
