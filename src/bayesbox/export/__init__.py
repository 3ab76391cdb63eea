"""Exporting models to SQL, ONNX and PMML."""
