"""
A benchmark on a folder of data sets
====================================

Recipes are fitted to every labelled set of a folder; the known classes judge the labels afterwards and choose nothing.
The same as ``clusterkit benchmark FOLDER``, the command of the plugin clusterkit-papers.
"""

import gzip
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from clusterkit_papers import benchmarking
from sklearn.datasets import make_blobs, make_circles, make_moons

folder = Path(tempfile.mkdtemp())
moons, rings = make_moons(150, noise=0.05, random_state=0), make_circles(150, factor=0.4, random_state=0)
for name, (X, y) in {"moons": moons, "blobs": make_blobs(150, random_state=0), "rings": rings}.items():
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write("x,y,label\n" + "\n".join(f"{a},{b},{label}" for (a, b), label in zip(X, y, strict=True)))

methods = benchmarking.recipe_methods(["kmeans", "mixture", "spectral", "mass-cut"])
cells = benchmarking.run(benchmarking.read_sets(folder), methods)
benchmarking.rank_diagram(benchmarking.rank(cells, k_known=True))
plt.show()
for cell in cells:
    print(f"{cell.data_set:6} {cell.method:10} adjusted Rand index {cell.adjusted_rand:5.2f}")
