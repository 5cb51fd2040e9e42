"""Draws every recipe on the same generated shapes: ``python docs/images/shapes.py [NAME …]``, all without a name.

``methods.png`` compares ten recipes; ``recipes/NAME.png`` has a recipe on six shapes. Recipes that need the number of
clusters get it. Colours are matched with those of the generated groups; crosses are noise.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs, make_circles, make_moons

from clusterkit import recipe, recipes
from clusterkit.plots.figure import COLORS as OF_CLUSTERS

FOLDER = Path(__file__).parent
COLORS = (*OF_CLUSTERS, "#F0E442", "#000000")
COMPARED = (
    "auto", "kmeans", "mixture", "emmc", "spectral", "genie", "mass-cut", "hdbscan", "svc", "equal-clustering",
)  # fmt: skip
SIZE = 300
"""Rows of a shape: enough to see it, and every recipe takes seconds at most."""


def shapes():
    """Name, rows and groups of each shape; the last one has no groups."""
    blobs, groups = make_blobs(SIZE, centers=3, cluster_std=0.9, random_state=8)
    round_ones, places = make_blobs(SIZE, centers=3, random_state=170)
    rng = np.random.default_rng(0)
    return {
        "rings": make_circles(SIZE, factor=0.5, noise=0.05, random_state=0),
        "moons": make_moons(SIZE, noise=0.06, random_state=0),
        "densities": make_blobs(SIZE, centers=[(0, 0), (6, 0), (3, 7)], cluster_std=[0.5, 1.2, 2.2], random_state=1),
        "stretched": (round_ones @ [[0.6, -0.64], [-0.41, 0.85]], places),
        "blobs": (blobs, groups),
        "uneven sizes": make_blobs([250, 25, 25], centers=[(0, 0), (5, 2), (5, -2)], cluster_std=0.9, random_state=0),
        "no groups": (rng.random((SIZE, 2)), np.arange(SIZE) % 3),
    }


def fitted(name, X, k):
    """Labels of a recipe with its defaults, but for the number of clusters."""
    takes_k = recipes()[name].clusters == "given" and name != "auto"
    settings = {"random_state": 0, **({"n_clusters": k} if takes_k else {})}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that stop at max_iter: the picture shows what they give
        return recipe(name, **settings).fit(X).labels_


def matched(labels, groups):
    """Labels renamed so that each cluster has the number of the group it shares most rows with, where possible."""
    names = np.unique(labels[labels >= 0])
    table = np.array([[np.sum((labels == a) & (groups == b)) for b in np.unique(groups)] for a in names])
    new = dict(zip(*(part.tolist() for part in linear_sum_assignment(-table)), strict=True)) if len(names) else {}
    free = iter(number for number in range(len(names) + len(np.unique(groups))) if number not in new.values())
    numbers = {a: new[i] if i in new else next(free) for i, a in enumerate(names.tolist())}
    return np.array([numbers.get(label, -1) for label in labels.tolist()])


def draw(ax, X, groups, labels):
    """Points in the colours of their clusters, noise as crosses, and the number of clusters."""
    numbers = matched(labels, groups)
    noise = numbers < 0
    ax.scatter(*X[~noise].T, s=5, c=[COLORS[number % len(COLORS)] for number in numbers[~noise]], linewidths=0)
    ax.scatter(*X[noise].T, s=9, c="#999999", marker="x", linewidths=0.7)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#cccccc")
    ax.text(0.97, 0.03, f"k = {labels.max() + 1}", transform=ax.transAxes, ha="right", va="bottom", fontsize=7,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.8})  # fmt: skip


def comparison():
    """Shapes in rows, recipes in columns."""
    figure, axes = plt.subplots(7, len(COMPARED), figsize=(14, 10), layout="constrained")
    for row, (shape, (X, groups)) in zip(axes, shapes().items(), strict=True):
        row[0].set_ylabel(shape)
        for ax, name in zip(row, COMPARED, strict=True):
            draw(ax, X, groups, fitted(name, X, len(np.unique(groups))))
    for ax, name in zip(axes[0], COMPARED, strict=True):
        ax.set_title(name, fontsize=11)
    save(figure, FOLDER / "methods.png", 100)


def strip(name):
    """One recipe on six shapes."""
    figure, axes = plt.subplots(1, 6, figsize=(11, 2), layout="constrained")
    for ax, (shape, (X, groups)) in zip(axes, shapes().items(), strict=False):
        draw(ax, X, groups, fitted(name, X, len(np.unique(groups))))
        ax.set_title(shape, fontsize=10)
    save(figure, FOLDER / "recipes" / f"{name}.png", 80)


def save(figure, path, dpi):
    """A picture of 64 colours, a third of the size of one with all; the rare ones are kept."""
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=dpi)
    plt.close(figure)
    Image.open(path).convert("RGB").quantize(64, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    print(path.name)


if __name__ == "__main__":
    wanted = sys.argv[1:] or [*(path.stem for path in sorted(FOLDER.parent.glob("recipes/*.md"))), "methods"]
    for name in wanted:
        if name == "methods":
            comparison()
        elif name != "index":
            strip(name)
