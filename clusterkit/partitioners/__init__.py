"""Partitioners: a first division of the samples, as a start of the iteration or as the modules of a classifier.

`random`, `kmeans`, `kmeans_mapped` and `seeds` are one file each; `equal` and `geoclust` share `_equal_parts`.
"""
