"""Files of rows and of documents: opened, decompressed, cut into blocks, parsed, checked."""
