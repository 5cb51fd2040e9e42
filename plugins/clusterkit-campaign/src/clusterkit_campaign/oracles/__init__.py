"""Slow, obviously right versions of what clusterkit computes: tests and the campaign compare fast paths with them.

The oracles take and return plain numpy arrays, or lists, straight from the definitions in the papers.
"""
