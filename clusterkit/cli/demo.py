"""``clusterkit demo``: two small data sets clustered end to end, with a picture."""

from __future__ import annotations

import time
from typing import Any

import click

from clusterkit.cli import console, outputs
from clusterkit.cli.picture import check_name
from clusterkit.files import replacing

__all__ = ["demo"]

DIGITS = (3, 5, 8, 9)
"""The digits that are clustered."""


@click.command(short_help="Cluster two small data sets and draw the result.")
@click.option(
    "-o",
    "--output",
    "path",
    default="clusterkit-demo.png",
    show_default=True,
    metavar="FILE",
    help="File for the picture: .png .pdf .svg.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
def demo(path: str, seed: int) -> None:
    """Cluster two moons and handwritten digits, print how well that works, and draw a picture.

    This takes some seconds. The first run takes a few more, because it compiles the loops of the solvers.
    """
    check_name(path)
    outputs.check({"-o": path})
    import numpy as np
    from sklearn.datasets import load_digits, make_moons

    from clusterkit.estimators.same_place import shown

    moons, moon = make_moons(300, noise=0.06, random_state=seed)
    images, digits = load_digits(return_X_y=True)
    rows = np.isin(digits, DIGITS)
    images, digits = images[rows], digits[rows]
    names = ", ".join(map(str, DIGITS))

    console.heading("Two moons, and the handwritten digits " + names)
    with shown(True):
        fits = [
            _clustered("moons", moons, moon, "kmeans", n_clusters=2, random_state=seed),
            _clustered("moons", moons, moon, "svc", featuremap__gamma=12.0, random_state=seed),
            _clustered(f"digits {names}", images, digits, "kmeans", n_clusters=4, random_state=seed),
            _clustered(f"digits {names}", images, digits, "emmc", n_clusters=4, random_state=seed),
        ]
    console.table(
        ["data", "rows", "recipe", "clusters", "iterations", "accuracy", "time"],
        [
            [*(str(fit[name]) for name in ("data", "rows", "recipe", "clusters", "n_iter", "accuracy", "time"))]
            for fit in fits
        ],
    )
    console.text("Accuracy is measured against the known classes, which the recipes do not see.", dim=True)
    svc, emmc = fits[1], fits[3]
    notes = {
        "svc": f"{svc['rows']} points, {svc['clusters']} clusters found (number not given), {svc['accuracy']} correct",
        "emmc": f"{emmc['rows']} images of {names}: {emmc['accuracy']} correct (k-means {fits[2]['accuracy']})",
    }
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        console.text("No picture: matplotlib is missing. Install clusterkit-toolkit with the extra 'plots'.", err=True)
    else:
        from clusterkit.plots.demo import draw

        with replacing(path) as part:
            draw(str(part), moons, svc["model"], images, emmc["model"], digits, notes)
        console.text(f"Picture: {path}")
    console.text("Next: clusterkit fit YOUR.csv -k 3 -o labels.csv, or clusterkit recipes")


def _clustered(data: str, X: Any, classes: Any, name: str, **parameters: Any) -> dict[str, Any]:
    """Fit a recipe and return the cells of its row, and the model."""
    from clusterkit.contracts.labelings import cluster_sizes
    from clusterkit.estimators.build import recipe
    from clusterkit.metrics import clustering_accuracy

    began = time.perf_counter()
    model = recipe(name, **parameters).fit(X)
    seconds = time.perf_counter() - began
    return {
        "data": data,
        "rows": len(X),
        "recipe": name,
        "clusters": len(cluster_sizes(model.labels_)),
        "n_iter": model.n_iter_,
        "accuracy": f"{100 * clustering_accuracy(classes, model.labels_):.1f} %",
        "time": f"{seconds:.2f} s",
        "model": model,
    }
