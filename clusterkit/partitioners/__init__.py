"""Partitioners: a first division of the samples, as a start of the iteration or as the modules of a classifier.

- `random.py`: balanced random labels;
- `kmeans.py`: k-means on the rows (`KMeans`) and in the feature space (`KMeansMapped`);
- `seeds.py`: the nearest of k samples drawn at random; `_kmeans_parallel.py`: k-means||, for many rows;
- `equal.py`: parts of nearly equal size (`EqualParts`, `GeoClustParts`).
"""
