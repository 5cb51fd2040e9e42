"""Slow, obviously right versions of what clusterkit computes: tests and the campaign compare fast paths with them.

They take and give plain numpy arrays, or lists, straight from the definitions in the papers.
"""
