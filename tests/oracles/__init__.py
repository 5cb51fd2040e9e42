"""Slow, obviously right versions of what clusterkit computes; tests compare the two."""
