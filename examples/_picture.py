"""Style of the pictures of the examples, and the folder into which they are written."""

import os
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# the colours of Okabe and Ito, which can be distinguished with any colour vision
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
plt.rcParams.update(
    {"figure.facecolor": "white", "axes.titlesize": 11, "axes.edgecolor": "#cccccc", "savefig.dpi": 130}
)


def scatter(axes, points, labels, title):
    """Points of the plane in the colours of their clusters; noise is drawn as grey crosses."""
    noise = labels < 0
    axes.scatter(*points[~noise].T, s=14, c=[COLORS[label % len(COLORS)] for label in labels[~noise]], linewidths=0)
    axes.scatter(*points[noise].T, s=18, c="#888888", marker="x", linewidths=1)
    axes.set(title=title, xticks=[], yticks=[], aspect="equal")


def save(figure):
    """Write into $CLUSTERKIT_EXAMPLE_OUT, or with --save next to the script; otherwise print how to get a picture."""
    script = Path(sys.argv[0])
    folder = os.environ.get("CLUSTERKIT_EXAMPLE_OUT") or (script.parent if "--save" in sys.argv else None)
    if folder is None:
        print("add --save to write a picture")
        return
    path = Path(folder) / f"{script.stem}.png"
    figure.savefig(path, bbox_inches="tight")
    print("picture:", path)
