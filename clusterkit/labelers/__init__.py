"""Labelers: outcomes of solvers to labels."""
