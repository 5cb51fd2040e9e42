"""Partitioners: initial labels, or the modules of a classifier."""
