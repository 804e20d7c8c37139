"""Analyzers that are not ours: spaCy pipelines, parses in files, Hugging Face encoders for the vectors."""
