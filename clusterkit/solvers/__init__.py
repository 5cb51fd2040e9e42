"""Solvers: spaces to scores, embeddings or domains."""
